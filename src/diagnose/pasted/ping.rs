//! Output of ping: iputils, busybox.

use std::net::Ipv4Addr;

use super::blocks::Block;
use super::{Reading, Refusal, Said, Tried};

/// Options that take a value.
const VALUES: [&str; 12] = ["-c", "-i", "-I", "-M", "-s", "-W", "-w", "-t", "-Q", "-p", "-l", "-m"];

/// What ping says where it could not begin.
const FAILED: [(&str, Said); 9] = [
    ("Network is unreachable", Said::NoRoute),
    ("No route to host", Said::NoRoute),
    ("Invalid argument", Said::NoRoute),
    ("Name or service not known", Said::NotResolved),
    ("name resolution", Said::NotResolved),
    ("unknown host", Said::NotResolved),
    ("bad address", Said::NotResolved),
    ("not associated with hostname", Said::NotResolved),
    ("No address associated", Said::NotResolved),
];

/// The address in parentheses of `PING name (192.0.2.1) …`.
fn header(line: &str) -> Option<Ipv4Addr> {
    let rest = line.trim_start().strip_prefix("PING ")?;
    let inside = rest.split_once('(')?.1.split_once(')')?.0;
    inside.parse().ok()
}

/// The source of `PING … from 192.0.2.1 dev: …`.
fn source(line: &str) -> Option<Ipv4Addr> {
    header(line)?;
    line.split_once(" from ")?.1.split_whitespace().next()?.trim_end_matches(':').parse().ok()
}

/// `--- 192.0.2.1 ping statistics ---`.
fn statistics(line: &str) -> Option<Ipv4Addr> {
    line.trim().strip_prefix("--- ")?.split_once(" ping statistics")?.0.trim().parse().ok()
}

/// `3 packets transmitted, 0 received, …`; busybox and BSD say `0 packets received`.
fn counts(line: &str) -> Option<(u32, u32)> {
    let (before, after) = line.split_once("packets transmitted,")?;
    let sent = before.split_whitespace().last()?.parse().ok()?;
    let part = after.split(',').find(|part| part.contains("received"))?;
    let received = part.split_whitespace().next()?.parse().ok()?;
    Some((sent, received))
}

/// Whether a line is an answer.
fn answer(line: &str) -> bool {
    line.contains(" bytes from ") && (line.contains("seq=") || line.contains("ttl="))
}

/// `From 192.0.2.1 icmp_seq=1 Destination Host Unreachable`.
fn error(line: &str) -> Option<Said> {
    let line = line.trim_start();
    let from = line.strip_prefix("From ").or_else(|| line.strip_prefix("from "));
    let address = |word: &str| word.trim_matches(['(', ')', ':', ',']).parse().ok();
    let by = from.and_then(|rest| rest.split_whitespace().find_map(address));
    let kind = if line.contains("rohibited") || line.contains("Packet filtered") {
        Said::Prohibited { by }
    } else if line.contains("Time to live exceeded") || line.contains("Time exceeded") {
        Said::Loop
    } else if line.contains("Unreachable") {
        Said::Unreachable { by }
    } else {
        return None;
    };
    (from.is_some() || line.contains("bytes from")).then_some(kind)
}

/// What could not begin: `ping: connect: Network is unreachable`.
fn failed(line: &str) -> Option<Said> {
    let said = line.trim_start();
    let own = said.starts_with("ping: ") || said.starts_with("connect: ") || said.starts_with("ping6: ");
    if !own {
        return None;
    }
    let known = FAILED.iter().find(|(words, _)| said.contains(words)).map(|(_, said)| said.clone());
    Some(known.unwrap_or_else(|| Said::NotRun(said.chars().take(80).collect())))
}

/// The address it was about; the places that name one have to agree.
fn address(block: &Block) -> Result<Option<Ipv4Addr>, Refusal> {
    let typed = block.command.as_ref().and_then(|c| c.plain(&VALUES).find_map(|arg| arg.parse().ok()));
    let places =
        [block.find(header).map(|(ip, _)| ip), block.find(statistics).map(|(ip, _)| ip), typed].into_iter().flatten();
    let mut all: Vec<Ipv4Addr> = places.collect();
    all.dedup();
    match all.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        [one, two, ..] => Err(Refusal::Disagrees(format!("it names {one} and {two}"))),
    }
}

/// The result in `block`; `None` where it is no output of ping.
pub(super) fn read(block: &Block) -> Result<Option<Reading>, Refusal> {
    let own = block.command.as_ref().is_some_and(|c| c.program == "ping");
    let looks =
        own || block.lines.iter().any(|l| {
            header(l).is_some() || l.contains("ping statistics") || l.trim_start().starts_with("ping: ") || answer(l)
        }) || block.find(counts).is_some();
    if !looks {
        return Ok(None);
    }
    let address = address(block)?;
    let first = block.lines.iter().find(|line| !line.trim().is_empty()).cloned().unwrap_or_default();
    let answers = block.lines.iter().filter(|line| answer(line)).count();
    let mut summaries = block.lines.iter().filter(|line| counts(line).is_some());
    if let (Some(_), Some(_)) = (summaries.next(), summaries.next()) {
        return Err(Refusal::Disagrees("it has two summaries".to_owned()));
    }
    let (said, line) = if let Some(((sent, received), line)) = block.find(counts) {
        (ended(block, (sent, received), answers)?, line)
    } else if let Some((said, line)) = block.find(failed) {
        (said, line)
    } else {
        let what = address.map_or_else(|| "ping".to_owned(), |ip| format!("ping {ip}"));
        return Err(Refusal::CutOff(what));
    };
    if let Said::NotRun(why) = said {
        return Err(Refusal::NotRun(why));
    }
    let Some(address) = address else { return Err(Refusal::NoAddress(first)) };
    let mut reading = Reading::new(Tried::Ping(address), said, &line);
    reading.source = block.find(source).map(|(ip, _)| ip);
    Ok(Some(reading))
}

fn ended(block: &Block, (sent, received): (u32, u32), answers: usize) -> Result<Said, Refusal> {
    if sent == 0 {
        return Err(Refusal::NotRun("no packet was sent".to_owned()));
    }
    if received > sent.saturating_mul(2) || (received == 0 && answers > 0) {
        let what = format!("{received} of {sent} received, and {answers} answers shown");
        return Err(Refusal::Disagrees(what));
    }
    if received > 0 {
        return Ok(Said::Answered { sent, received: received.min(sent) });
    }
    let errors: Vec<Said> = block.lines.iter().filter_map(|line| error(line)).collect();
    Ok(errors.into_iter().next().unwrap_or(Said::Timeout))
}
