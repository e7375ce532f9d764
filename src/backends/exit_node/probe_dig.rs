//! What `dig` prints (9.18 of Debian 12, 9.20 of Debian 13) as an answer of [`crate::backends::dns`].

use std::net::SocketAddr;
use std::time::Duration;

use super::probe::VrfQuestion;
use crate::backends::dns::{Answer, Data, ExtendedError, Failure, Flags, Rcode, Record, RecordType, Soa, Strays, Via};
use crate::text;

/// How long the helper lets each try wait.
const EACH: Duration = Duration::from_secs(2);
/// Longest text kept, in characters.
const LONGEST: usize = 512;
/// More records than an answer of 64 KiB holds.
const MOST_RECORDS: usize = 6000;

/// Why the output holds no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// dig asked in vain.
    Failed(Failure),
    /// It said nothing.
    Silent,
    /// It said something else.
    NotUnderstood(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Question,
    Answer,
    Authority,
    Additional,
}

/// What is known after some lines.
struct Reader {
    server: SocketAddr,
    section: Section,
    answer: Option<Answer>,
    asked: Option<String>,
    truncated: bool,
    strays: Strays,
    timeouts: u32,
    failure: Option<Failure>,
    damage: Option<String>,
}

/// The answer to `question` in `out`.
///
/// # Errors
/// [`NoAnswer`].
pub(super) fn parse(out: &str, question: &VrfQuestion) -> Result<Answer, NoAnswer> {
    let mut reader = Reader::new(question.server());
    for line in out.lines() {
        reader.line(line.trim_end());
    }
    reader.end(question)
}

impl Reader {
    const fn new(server: SocketAddr) -> Self {
        Self {
            server,
            section: Section::None,
            answer: None,
            asked: None,
            truncated: false,
            strays: Strays { wrong_id: 0, wrong_question: 0, wrong_source: 0, no_header: 0 },
            timeouts: 0,
            failure: None,
            damage: None,
        }
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            self.section = Section::None;
        } else if let Some(said) = line.strip_prefix(";; ") {
            self.said(said);
        } else if let Some(option) = line.strip_prefix("; EDE: ") {
            if let (Some(answer), Some(error)) = (self.answer.as_mut(), extended(option)) {
                answer.extended.push(error);
            }
        } else if let (Section::Question, Some(asked)) = (self.section, line.strip_prefix(';')) {
            self.asked = Some(asked.to_owned());
        } else if !line.starts_with(';') {
            self.record(line);
        }
    }

    fn said(&mut self, said: &str) {
        let words: Vec<&str> = said.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["Got", "answer:"] => self.answer = Some(nothing()),
            ["->>HEADER<<-", ..] => self.header(said),
            ["flags:", ..] => self.flags(said),
            ["QUESTION", "SECTION:"] => self.section = Section::Question,
            ["ANSWER", "SECTION:"] => self.section = Section::Answer,
            ["AUTHORITY", "SECTION:"] => self.section = Section::Authority,
            ["ADDITIONAL", "SECTION:"] => self.section = Section::Additional,
            ["Query", "time:", number, unit] => self.took(number, unit),
            ["MSG", "SIZE", "rcvd:", number] => {
                if let Some(answer) = &mut self.answer {
                    answer.bytes = number.parse().ok();
                }
            }
            ["SERVER:", .., how] => self.via(how),
            _ => self.trouble(said),
        }
    }

    fn header(&mut self, said: &str) {
        let status = said.split("status: ").nth(1).and_then(|rest| rest.split(',').next()).and_then(Rcode::of_word);
        match (self.answer.as_mut(), status) {
            (Some(answer), Some(code)) => answer.rcode = code,
            _ => self.damage = Some(format!("its status, in {}", cut(said))),
        }
    }

    fn flags(&mut self, said: &str) {
        let Some(answer) = &mut self.answer else { return };
        let words = said.strip_prefix("flags:").and_then(|rest| rest.split(';').next()).unwrap_or_default();
        let has = |flag: &str| words.split_ascii_whitespace().any(|word| word == flag);
        answer.flags =
            Some(Flags { aa: has("aa"), tc: has("tc"), rd: has("rd"), ra: has("ra"), ad: has("ad"), cd: has("cd") });
    }

    fn took(&mut self, number: &str, unit: &str) {
        let (Some(answer), Ok(number)) = (self.answer.as_mut(), number.parse::<u32>()) else { return };
        let number = u64::from(number);
        answer.took = if unit == "usec" { Duration::from_micros(number) } else { Duration::from_millis(number) };
    }

    fn via(&mut self, how: &str) {
        let Some(answer) = &mut self.answer else { return };
        answer.via = match how {
            "(TCP)" if self.truncated => Via::TcpAfterUdp,
            "(TCP)" => Via::Tcp,
            _ if self.truncated => Via::TcpAfterUdp,
            _ => Via::Udp,
        };
    }

    /// Everything that dig says when it does not go well.
    fn trouble(&mut self, said: &str) {
        let server = self.server;
        let via = if self.truncated { "tcp" } else { "udp" };
        if said.starts_with("Truncated, retrying in TCP mode") {
            self.truncated = true;
        } else if said.contains("ID mismatch") {
            self.strays.wrong_id = self.strays.wrong_id.saturating_add(1);
        } else if said.contains("Question section mismatch") {
            self.strays.wrong_question = self.strays.wrong_question.saturating_add(1);
        } else if let Some(rest) = said.split("reply from unexpected source: ").nth(1) {
            self.strays.wrong_source = self.strays.wrong_source.saturating_add(1);
            let from = rest.split(',').next().and_then(socket);
            self.failure = self.failure.take().or_else(|| from.map(|from| Failure::WrongSource { server, from }));
        } else if let Some(why) = said.split("Got bad packet: ").nth(1) {
            self.failure = Some(Failure::Malformed { server, why: cut(why) });
        } else if said.contains("timed out") {
            self.timeouts = self.timeouts.saturating_add(1);
        } else if said.contains("connection refused") {
            self.failure = Some(Failure::Refused { server, via });
        } else if said.contains("end of file") || said.contains("connection reset") {
            self.failure = Some(Failure::Closed { server });
        } else if said.contains("unreachable") || said.contains("permission denied") {
            let why = said.rsplit(": ").next().unwrap_or(said);
            self.failure = Some(Failure::Unreachable { server, why: cut(why.trim_end_matches('.')) });
        }
    }

    fn record(&mut self, line: &str) {
        let section = self.section;
        let Some(answer) = &mut self.answer else { return };
        let records = match section {
            Section::Answer => &mut answer.answers,
            Section::Authority => &mut answer.authority,
            Section::Additional => &mut answer.additional,
            Section::Question | Section::None => return,
        };
        match record(line) {
            Some(record) if records.len() < MOST_RECORDS => records.push(record),
            _ => self.damage = Some(format!("the record {}", cut(line))),
        }
    }

    fn end(self, question: &VrfQuestion) -> Result<Answer, NoAnswer> {
        if let Some(damage) = self.damage {
            return Err(NoAnswer::NotUnderstood(damage));
        }
        if let Some(answer) = self.answer {
            if answer.flags.is_none() {
                return Err(NoAnswer::NotUnderstood("an answer without its flags".to_owned()));
            }
            return match &self.asked {
                Some(asked) if !is_question(asked, question) => {
                    Err(NoAnswer::NotUnderstood(format!("an answer to another question, {}", cut(asked))))
                }
                _ => Ok(Answer { strays: self.strays, ..answer }),
            };
        }
        let silence = Failure::TimedOut { server: self.server, tries: self.timeouts, each: EACH, strays: self.strays };
        match self.failure.or((self.timeouts > 0).then_some(silence)) {
            Some(failure) if self.truncated => Err(NoAnswer::Failed(Failure::TcpAfterTruncation(Box::new(failure)))),
            Some(failure) => Err(NoAnswer::Failed(failure)),
            None => Err(NoAnswer::Silent),
        }
    }
}

const fn nothing() -> Answer {
    Answer {
        rcode: Rcode::NOERROR,
        flags: None,
        answers: Vec::new(),
        authority: Vec::new(),
        additional: Vec::new(),
        extended: Vec::new(),
        bytes: None,
        took: Duration::ZERO,
        via: Via::Udp,
        strays: Strays { wrong_id: 0, wrong_question: 0, wrong_source: 0, no_header: 0 },
    }
}

/// `NAME. CLASS TYPE`.
fn is_question(asked: &str, question: &VrfQuestion) -> bool {
    match asked.split_ascii_whitespace().collect::<Vec<_>>().as_slice() {
        [asked, _, kind] => name(asked) == question.name().as_str() && kind.parse() == Ok(question.kind()),
        _ => false,
    }
}

/// `ADDRESS#PORT`.
fn socket(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.trim().split_once('#')?;
    Some(SocketAddr::new(address.parse().ok()?, port.parse().ok()?))
}

/// `CODE`, `CODE (MEANING)`, `CODE (MEANING): (TEXT)`.
fn extended(option: &str) -> Option<ExtendedError> {
    let digits: String = option.chars().take_while(char::is_ascii_digit).collect();
    let words = option.split_once(": (").map(|(_, words)| words.strip_suffix(')').unwrap_or(words)).unwrap_or_default();
    Some(ExtendedError { code: digits.parse().ok()?, text: text::clean(words).chars().take(240).collect() })
}

/// `NAME. TTL CLASS TYPE DATA`.
fn record(line: &str) -> Option<Record> {
    let mut rest = line;
    let mut word = || {
        let trimmed = rest.trim_start();
        let end = trimmed.find(|c: char| c.is_ascii_whitespace()).unwrap_or(trimmed.len());
        let (word, tail) = trimmed.split_at_checked(end)?;
        rest = tail;
        (!word.is_empty()).then_some(word)
    };
    let (owner, ttl, _class, kind) = (word()?, word()?.parse().ok()?, word()?, word()?);
    let number = kind.parse::<RecordType>().ok();
    // Types that dig knows by name and we do not are kept by their text.
    let kind = number.unwrap_or(RecordType(0));
    Some(Record { name: name(owner), ttl, kind, data: data(kind, rest.trim())? })
}

fn data(kind: RecordType, text: &str) -> Option<Data> {
    Some(match kind {
        RecordType::A => Data::A(text.parse().ok()?),
        RecordType::AAAA => Data::Aaaa(text.parse().ok()?),
        RecordType::PTR => Data::Ptr(name(text)),
        RecordType::CNAME => Data::Cname(name(text)),
        RecordType::NS => Data::Ns(name(text)),
        RecordType::SOA => Data::Soa(soa(text)?),
        RecordType::TXT => Data::Txt(strings(text)?),
        _ => Data::Other(cut(text)),
    })
}

fn soa(text: &str) -> Option<Soa> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [mname, rname, serial, refresh, retry, expire, minimum] = words.as_slice() else { return None };
    Some(Soa {
        mname: name(mname),
        rname: name(rname),
        serial: serial.parse().ok()?,
        refresh: refresh.parse().ok()?,
        retry: retry.parse().ok()?,
        expire: expire.parse().ok()?,
        minimum: minimum.parse().ok()?,
    })
}

/// `"one" "two"`, each kept in presentation form.
fn strings(text: &str) -> Option<Vec<String>> {
    let mut strings = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.find(|c| !c.is_ascii_whitespace()) {
        if c != '"' {
            return None;
        }
        let mut string = String::new();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => string.extend(['\\', chars.next()?]),
                other => string.push(other),
            }
        }
        strings.push(text::clean(&string).into_owned());
    }
    Some(strings)
}

/// A name without trailing dot, in lower case, clean.
fn name(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let kept = if lower == "." { lower } else { lower.strip_suffix('.').map(str::to_owned).unwrap_or(lower) };
    text::clean(&kept).into_owned()
}

fn cut(text: &str) -> String {
    text::clean(text).chars().take(LONGEST).collect()
}

#[cfg(test)]
#[path = "probe_dig_tests.rs"]
mod probe_dig_tests;
