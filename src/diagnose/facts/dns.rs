//! Answers on DNS ports, as `dig` prints them: with or without header, flags, sections and extended errors.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use super::{Facts, Reader, Taken};
use crate::backends::dns::{Data, DnsName, Flags, Rcode, Record, RecordType, Soa};
use crate::diagnose::evidence::{Item, Kind};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[reply];

/// More records than an answer of 64 KiB holds.
const MOST_RECORDS: usize = 6000;

/// One question and what came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Server that was asked: an address, or the name of a place.
    pub server: String,
    /// Address or place it was asked from, where that is not the console's own host.
    pub asked_from: Option<String>,
    /// Name.
    pub name: DnsName,
    /// Types asked for in one go; usually one.
    pub kinds: Vec<RecordType>,
    /// Asked with checking disabled.
    pub unchecked: bool,
    /// Nothing came within the limit, or the port is closed.
    pub silent: bool,
    /// Response code; `None` where the text has no header.
    pub rcode: Option<Rcode>,
    /// Header bits; `None` where the text has none.
    pub flags: Option<Flags>,
    /// Answer section.
    pub answers: Vec<Record>,
    /// Authority section.
    pub authority: Vec<Record>,
    /// Codes of extended errors.
    pub extended: Vec<u16>,
    /// File.
    pub file: Arc<str>,
}

impl Reply {
    /// Whether `kind` was asked for.
    #[must_use]
    pub fn asks(&self, kind: RecordType) -> bool {
        self.kinds.contains(&kind)
    }

    /// Answered with code `rcode`.
    #[must_use]
    pub fn is(&self, rcode: Rcode) -> bool {
        self.rcode == Some(rcode)
    }

    /// Has a header with the bit `bit` set; `None` where the text shows no header.
    pub fn flag(&self, bit: impl Fn(&Flags) -> bool) -> Option<bool> {
        self.flags.as_ref().map(bit)
    }

    /// Values of the type asked for, at whatever end of a chain of aliases.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        let mut values: Vec<String> = self
            .answers
            .iter()
            .filter(|r| self.kinds.contains(&r.kind) && r.kind != RecordType::SOA)
            .map(|r| r.data.to_string())
            .collect();
        values.sort();
        values.dedup();
        values
    }

    /// Addresses among the answers.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.answers.iter().filter_map(|r| match r.data {
            Data::A(v4) => Some(IpAddr::V4(v4)),
            Data::Aaaa(v6) => Some(IpAddr::V6(v6)),
            _ => None,
        })
    }

    /// The start of authority with its record, wherever it stands.
    #[must_use]
    pub fn soa(&self) -> Option<(&Record, &Soa)> {
        self.authority.iter().chain(&self.answers).find_map(|record| match &record.data {
            Data::Soa(soa) => Some((record, soa)),
            _ => None,
        })
    }

    /// Answered with data of the type asked for.
    #[must_use]
    pub fn has_data(&self) -> bool {
        !self.silent && self.rcode.is_none_or(|r| r == Rcode::NOERROR) && !self.values().is_empty()
    }
}

/// All answers.
#[derive(Debug, Default)]
pub struct Dns {
    /// In the order in which they were asked for.
    pub replies: Vec<Reply>,
}

impl Dns {
    /// Servers that offer recursion, by the bit in their answers.
    #[must_use]
    pub fn resolvers(&self) -> BTreeSet<&str> {
        self.by_flag(|flags| flags.ra)
    }

    /// Servers that speak with authority and offer no recursion.
    #[must_use]
    pub fn authorities(&self) -> BTreeSet<&str> {
        let resolvers = self.resolvers();
        self.by_flag(|flags| flags.aa && !flags.ra).into_iter().filter(|s| !resolvers.contains(s)).collect()
    }

    fn by_flag(&self, bit: impl Fn(&Flags) -> bool) -> BTreeSet<&str> {
        let with = self.replies.iter().filter(|r| r.flag(&bit) == Some(true));
        with.map(|r| r.server.as_str()).collect()
    }

    /// Answers of resolvers, asked in the ordinary way.
    pub fn resolved(&self) -> impl Iterator<Item = &Reply> {
        let resolvers = self.resolvers();
        self.replies.iter().filter(move |r| !r.unchecked && resolvers.contains(r.server.as_str()))
    }

    /// What an authority says to the question of `reply`.
    #[must_use]
    pub fn at_source(&self, reply: &Reply) -> Option<&Reply> {
        let authorities = self.authorities();
        let same = |r: &&Reply| r.name == reply.name && r.kinds.iter().any(|k| reply.asks(*k));
        self.replies.iter().filter(same).find(|r| r.server != reply.server && authorities.contains(r.server.as_str()))
    }
}

/// A question as `dig` takes it.
struct Question {
    server: Option<String>,
    from: Option<String>,
    name: DnsName,
    kinds: Vec<RecordType>,
    unchecked: bool,
}

fn question(text: &str) -> Option<Question> {
    let mut words = text.split_ascii_whitespace();
    let (mut server, mut from, mut name, mut kinds) = (None, None, None, Vec::new());
    let mut unchecked = false;
    while let Some(word) = words.next() {
        if let Some(at) = word.strip_prefix('@') {
            server = Some(at.to_owned());
        } else if let Some(option) = word.strip_prefix('+') {
            unchecked |= matches!(option.to_ascii_lowercase().as_str(), "cd" | "cdflag" | "checkingdisabled");
        } else if word == "-x" {
            name = Some(DnsName::reverse(words.next()?.parse().ok()?));
            kinds.push(RecordType::PTR);
        } else if word == "-b" {
            from = words.next().map(|at| at.split('#').next().unwrap_or(at).to_owned());
        } else if word == "-p" || word == "-q" || word == "-t" {
            let value = words.next()?;
            match word {
                "-q" => name = Some(value.parse().ok()?),
                "-t" => kinds.push(value.parse().ok()?),
                _ => {}
            }
        } else if word == "/" || word.starts_with('-') || word == "IN" {
            // A mark between two types, a switch, the class.
        } else if name.is_none() {
            name = Some(word.parse().ok()?);
        } else {
            kinds.push(word.parse().ok()?);
        }
    }
    if kinds.is_empty() {
        kinds.push(RecordType::A);
    }
    Some(Question { server, from, name: name?, kinds, unchecked })
}

fn reply(item: &Item, facts: &mut Facts) -> Taken {
    let (asked, server, from) = match &item.kind {
        Kind::Dns(dns) => (dns.question.as_str(), Some(item.from.clone()), dns.asked_from.clone()),
        Kind::Command { line, .. } => {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let Some(at) = words.iter().position(|w| *w == "dig" || w.ends_with("/dig")) else { return Taken::NotMine };
            let rest = line.split_once("dig").map_or("", |(_, rest)| rest);
            // Inside a VRF the place is the VRF, not the node.
            let from = words.iter().take(at).find(|w| w.starts_with("vrf")).map_or(item.from.as_str(), |_| {
                words.iter().take(at).rev().find(|w| w.starts_with("vrf_")).copied().unwrap_or(item.from.as_str())
            });
            (rest, None, Some(from.to_owned()))
        }
        _ => return Taken::NotMine,
    };
    // Bare values: whether they are the whole answer, and of which type, is not told.
    if asked.split_ascii_whitespace().any(|word| word == "+short") {
        return Taken::NotMine;
    }
    let Some(question) = question(asked) else {
        return Taken::Unreadable("its question is none that is understood".to_owned());
    };
    let Some(server) = question.server.or(server) else {
        return Taken::Unreadable("it does not say which server was asked".to_owned());
    };
    let mut reply = Reply {
        server,
        asked_from: question.from.or(from),
        name: question.name,
        kinds: question.kinds,
        unchecked: question.unchecked,
        silent: item.empty || is_silence(&item.body),
        rcode: None,
        flags: None,
        answers: Vec::new(),
        authority: Vec::new(),
        extended: Vec::new(),
        file: Arc::from(item.file.as_str()),
    };
    if !reply.silent
        && let Err(why) = fill(&mut reply, &item.body)
    {
        return Taken::Unreadable(why);
    }
    facts.dns.replies.push(reply);
    Taken::Read
}

/// What dig says when nothing came.
fn is_silence(body: &str) -> bool {
    let trouble = ["no servers could be reached", "connection refused", "timed out", "network unreachable"];
    let header = body.contains("->>HEADER<<-");
    !header && body.lines().any(|l| l.starts_with(";; ") && trouble.iter().any(|t| l.contains(t)))
}

fn fill(reply: &mut Reply, body: &str) -> Result<(), String> {
    // Without section headings the counts of the header tell where the answers end.
    let (mut section, mut left) = ("ANSWER", None);
    for line in body.lines().map(str::trim_end) {
        if let Some(said) = line.strip_prefix(";; ") {
            if said.starts_with("->>HEADER<<-") {
                let status = said.split("status: ").nth(1).and_then(|rest| rest.split(',').next());
                reply.rcode = Some(status.and_then(Rcode::of_word).ok_or("its status is not understood")?);
            } else if let Some(rest) = said.strip_prefix("flags:") {
                reply.flags = Some(flags(rest.split(';').next().unwrap_or_default()));
                left = rest.split("ANSWER: ").nth(1).and_then(|c| c.split([',', ' ']).next()?.trim().parse().ok());
            } else if let Some(name) = said.strip_suffix(" SECTION:") {
                section = if matches!(name, "ANSWER" | "AUTHORITY" | "ADDITIONAL") { name } else { "" };
                left = None;
            }
        } else if let Some(error) = line.strip_prefix("; EDE: ") {
            reply.extended.extend(error.split([' ', ':']).next().and_then(|code| code.parse::<u16>().ok()));
        } else if !line.is_empty() && !line.starts_with(';') {
            let record = record(line).ok_or_else(|| "a line that is no record".to_owned())?;
            if left == Some(0_usize) {
                section = "AUTHORITY";
            }
            left = left.map(|n| n.saturating_sub(1));
            let into = match section {
                "ANSWER" => &mut reply.answers,
                "AUTHORITY" => &mut reply.authority,
                _ => continue,
            };
            if into.len() < MOST_RECORDS {
                into.push(record);
            }
        }
    }
    Ok(())
}

fn flags(words: &str) -> Flags {
    let has = |flag: &str| words.split_ascii_whitespace().any(|word| word == flag);
    Flags { aa: has("aa"), tc: has("tc"), rd: has("rd"), ra: has("ra"), ad: has("ad"), cd: has("cd") }
}

fn record(line: &str) -> Option<Record> {
    let mut words = line.split_ascii_whitespace();
    let name = plain(words.next()?);
    let ttl = words.next()?.parse().ok()?;
    let mut kind = words.next()?;
    if kind == "IN" {
        kind = words.next()?;
    }
    let kind: RecordType = kind.parse().ok()?;
    let rest: Vec<&str> = words.collect();
    let first = rest.first().copied()?;
    let data = match kind {
        RecordType::A => Data::A(first.parse().ok()?),
        RecordType::AAAA => Data::Aaaa(first.parse().ok()?),
        RecordType::PTR => Data::Ptr(plain(first)),
        RecordType::CNAME => Data::Cname(plain(first)),
        RecordType::NS => Data::Ns(plain(first)),
        RecordType::SOA => Data::Soa(soa(&rest)?),
        _ => Data::Other(rest.join(" ")),
    };
    Some(Record { name, ttl, kind, data })
}

fn soa(words: &[&str]) -> Option<Soa> {
    let number = |n: usize| words.get(n)?.parse().ok();
    Some(Soa {
        mname: plain(words.first()?),
        rname: plain(words.get(1)?),
        serial: number(2)?,
        refresh: number(3)?,
        retry: number(4)?,
        expire: number(5)?,
        minimum: number(6)?,
    })
}

/// A name in lower case without its final dot.
fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}
