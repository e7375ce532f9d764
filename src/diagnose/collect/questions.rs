//! Questions on DNS ports, kept as `dig` would have printed their answers.

use std::fmt::Write as _;
use std::net::SocketAddr;

use futures_util::future::join_all;

use super::Sink;
use crate::backends::dns::{self, Answer, Data, DnsName, Failure, Query, Rcode, Record, RecordType};
use crate::diagnose::evidence::{Dns, Kind};

/// Questions under way at once.
const WAVE: usize = 16;
/// What dig says when nothing came.
const SILENCE: &str = ";; no servers could be reached";

/// A question.
pub(super) type Question = (DnsName, RecordType);

/// A server.
pub(super) struct Server<'a> {
    /// As findings call it.
    pub(super) name: &'a str,
    /// Where it is asked.
    pub(super) at: SocketAddr,
    /// It asks others.
    pub(super) resolver: bool,
}

/// Asks `questions`, the first one alone: a server that does not answer it is not asked again. A wave that is silent
/// from end to end ends it too. What a resolver fails is asked once more without its checks of signatures.
pub(super) async fn ask(server: &Server<'_>, questions: Vec<Question>, sink: &Sink) {
    let mut failing = Vec::new();
    let mut rest = questions.as_slice();
    let mut size = 1;
    while !rest.is_empty() {
        let (wave, later) = rest.split_at(size.min(rest.len()));
        let codes = join_all(wave.iter().map(|question| one(server, question, false, sink))).await;
        if codes.iter().all(Option::is_none) {
            return;
        }
        let failed = wave.iter().zip(codes).filter(|(_, code)| server.resolver && *code == Some(Rcode::SERVFAIL));
        failing.extend(failed.map(|(question, _)| question));
        (rest, size) = (later, WAVE);
    }
    for wave in failing.chunks(WAVE) {
        join_all(wave.iter().map(|question| one(server, question, true, sink))).await;
    }
}

/// The code of the answer; `None` = none came.
async fn one(server: &Server<'_>, (name, kind): &Question, unchecked: bool, sink: &Sink) -> Option<Rcode> {
    let make = if server.resolver { Query::new } else { Query::of_authority };
    let query = Query { checking_disabled: unchecked, ..make(server.at, name.clone(), *kind) };
    let outcome = dns::ask(&query, &**sink.clock()).await;
    keep(server.name, None, (name, *kind), unchecked, &outcome, sink);
    outcome.ok().map(|answer| answer.rcode)
}

/// Keeps an answer, or the silence in its place. What failed on this host says nothing about the server.
pub(super) fn keep(
    server: &str,
    asked_from: Option<&str>,
    (name, kind): (&DnsName, RecordType),
    unchecked: bool,
    outcome: &Result<Answer, Failure>,
    sink: &Sink,
) {
    let body = match outcome {
        Ok(answer) => dig(answer),
        Err(Failure::Local { .. }) => return,
        Err(why) => format!("{SILENCE}: {}\n", crate::text::clean(&why.to_string())),
    };
    let mark = if unchecked { " +cd" } else { "" };
    let question = format!("{}. {kind}{mark}", name.as_str());
    let slug = format!("dns-{}-{kind}", name.as_str());
    let asked_from = asked_from.map(str::to_owned);
    sink.add(server, &slug, "txt", Kind::Dns(Dns { question, asked_from }), body, String::new());
}

/// As `dig +noquestion` prints it.
fn dig(answer: &Answer) -> String {
    let status = answer.rcode.to_string();
    let status = status.strip_prefix("RCODE").map_or(status.clone(), |number| format!("RESERVED{number}"));
    let flags = answer.flags.map_or_else(String::new, |flags| flags.words());
    let (answers, authority) = (answer.answers.len(), answer.authority.len());
    // Writing to a string cannot fail.
    let mut out = format!(";; ->>HEADER<<- opcode: QUERY, status: {status}, id: 0\n");
    if answer.flags.is_some() {
        let _ = writeln!(out, ";; flags: qr {flags}; QUERY: 1, ANSWER: {answers}, AUTHORITY: {authority}");
    }
    for error in &answer.extended {
        let _ = writeln!(out, "; EDE: {} ({})", error.code, crate::text::clean(&error.text));
    }
    for (title, records) in [("ANSWER", &answer.answers), ("AUTHORITY", &answer.authority)] {
        if !records.is_empty() {
            let _ = writeln!(out, "\n;; {title} SECTION:");
        }
        for record in records {
            let _ = writeln!(out, "{}", line(record));
        }
    }
    out
}

fn line(record: &Record) -> String {
    let data = match &record.data {
        Data::Ptr(name) | Data::Cname(name) | Data::Ns(name) => format!("{name}."),
        Data::Soa(soa) => format!(
            "{}. {}. {} {} {} {} {}",
            soa.mname, soa.rname, soa.serial, soa.refresh, soa.retry, soa.expire, soa.minimum
        ),
        Data::Other(text) if text.trim().is_empty() => "\\# 0".to_owned(),
        other => crate::text::clean(&other.to_string()).into_owned(),
    };
    format!("{}. {} IN {} {data}", record.name, record.ttl, record.kind)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::backends::dns::{ExtendedError, Flags, Soa, Strays, Via};
    use crate::diagnose::facts::Facts;

    fn record(name: &str, kind: RecordType, data: Data) -> Record {
        Record { name: name.into(), ttl: 60, kind, data }
    }

    fn answer(rcode: Rcode, answers: Vec<Record>, authority: Vec<Record>) -> Answer {
        Answer {
            rcode,
            flags: Some(Flags { rd: true, ra: true, ..Flags::default() }),
            answers,
            authority,
            additional: Vec::new(),
            extended: vec![ExtendedError { code: 9, text: "a\nb".into() }],
            bytes: None,
            took: Duration::ZERO,
            via: Via::Udp,
            strays: Strays::default(),
        }
    }

    fn facts(outcome: &Result<Answer, Failure>, unchecked: bool) -> Facts {
        let sink = Sink::new(Arc::new(|| "2026-11-29T11:03:00Z".parse().expect("a time")));
        let name = "app.eds.example".parse().expect("a name");
        keep("192.0.2.1", Some("vrf_eds"), (&name, RecordType::A), unchecked, outcome, &sink);
        Facts::of(&sink.evidence(None))
    }

    #[test]
    fn what_is_kept_is_read_back_as_it_came() {
        let soa = Soa {
            mname: String::new(),
            rname: "nobody.invalid".into(),
            serial: 7,
            refresh: 1,
            retry: 2,
            expire: 3,
            minimum: 4,
        };
        let answers = vec![
            record("app.eds.example", RecordType::CNAME, Data::Cname("b.eds.example".into())),
            record("b.eds.example", RecordType::A, Data::A([10, 20, 130, 10].into())),
        ];
        let authority = vec![record("", RecordType::SOA, Data::Soa(soa))];
        let facts = facts(&Ok(answer(Rcode(17), answers.clone(), authority.clone())), true);
        let [reply] = facts.dns.replies.as_slice() else { panic!("{:?}", facts.unreadable) };
        assert_eq!((reply.server.as_str(), reply.asked_from.as_deref()), ("192.0.2.1", Some("vrf_eds")));
        assert_eq!((&reply.answers, &reply.authority), (&answers, &authority));
        assert!(reply.is(Rcode(17)) && reply.unchecked && !reply.silent && reply.asks(RecordType::A));
        assert_eq!(reply.extended, [9]);
        assert_eq!(reply.flag(|f| f.ra && f.rd && !f.aa), Some(true));
        // A code without a word of its own.
        let odd = self::facts(&Ok(answer(Rcode(3000), Vec::new(), Vec::new())), false);
        assert!(odd.dns.replies.iter().all(|r| r.is(Rcode(3000)) && !r.unchecked), "{:?}", odd.unreadable);
    }

    #[test]
    fn silence_is_kept_and_trouble_of_this_host_is_not() {
        let closed = Failure::Refused { server: "192.0.2.1:53".parse().expect("an address"), via: "udp" };
        assert!(matches!(facts(&Err(closed), false).dns.replies.as_slice(), [reply] if reply.silent));
        let local = Failure::Local { what: "no socket", why: String::new() };
        assert!(facts(&Err(local), false).dns.replies.is_empty());
    }
}
