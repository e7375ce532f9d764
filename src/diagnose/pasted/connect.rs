//! Output of nc in its kinds: OpenBSD, traditional, ncat, busybox.

use std::net::Ipv4Addr;

use super::blocks::Block;
use super::{Reading, Refusal, Said, Tried};

/// Options that take a value.
const VALUES: [&str; 8] = ["-w", "-s", "-p", "-i", "-q", "-e", "-X", "-x"];

/// A kernel's word for why a connection was not made.
pub(super) fn reason(text: &str) -> Option<Said> {
    let lower = text.to_ascii_lowercase();
    let has = |words: &str| lower.contains(words);
    let said = match () {
        () if has("connection refused") => Said::Refused,
        () if has("timed out") || has("timeout") || has("operation now in progress") => Said::Timeout,
        () if has("network is unreachable") || has("network unreachable") => Said::NoRoute,
        () if has("no route to host") || has("host is unreachable") || has("host is down") => {
            Said::Unreachable { by: None }
        }
        () if has("prohibited") || has("permission denied") || has("not permitted") => Said::Prohibited { by: None },
        () if has("name or service") || has("could not resolve") || has("name resolution") || has("bad address") => {
            Said::NotResolved
        }
        () => return None,
    };
    Some(said)
}

/// `tcp 192.0.2.1:22 exit 1`, which the commands shown here print at their end.
pub(super) fn trailer(line: &str) -> Option<(Ipv4Addr, u16, i32)> {
    let (place, exit) = line.trim().strip_prefix("tcp ")?.split_once(" exit ")?;
    let (ip, port) = place.split_once(':')?;
    Some((ip.parse().ok()?, port.parse().ok()?, exit.trim().parse().ok()?))
}

/// Whether a line is a result of nc by itself.
pub(super) fn whole(text: &str) -> bool {
    line(text).is_some() || trailer(text).is_some()
}

/// Address and port of the command line, or of the trailer.
fn asked(block: &Block) -> Option<(Ipv4Addr, u16)> {
    let ended = block.lines.iter().find_map(|line| trailer(line)).map(|(ip, port, _)| (ip, port));
    let typed = block.command.as_ref().and_then(|command| {
        let mut plain = command.plain(&VALUES);
        let ip = plain.find_map(|arg| arg.parse::<Ipv4Addr>().ok())?;
        Some((ip, plain.next()?.parse().ok()?))
    });
    ended.or(typed)
}

/// The first IPv4 address in `text`: bare, in parentheses or in brackets.
fn address(text: &str) -> Option<Ipv4Addr> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_matches(['(', ')', '[', ']', ',', ':', ';']);
        word.split_once(':').map_or(word, |(ip, _)| ip).parse().ok()
    })
}

/// The port in `text`: behind `port`, behind a colon of the address, or as a word of its own.
fn port(text: &str) -> Option<u16> {
    let number = |word: &str| word.trim_matches(['(', ')', ',', ':', '.', ';']).parse::<u16>().ok().filter(|p| *p > 0);
    let words: Vec<&str> = text.split_whitespace().collect();
    let behind = words.windows(2).find_map(|pair| match pair {
        [word, next] if *word == "port" => number(next),
        _ => None,
    });
    let joined = || {
        words.iter().find_map(|word| {
            let (ip, port) = word.trim_matches(['(', ')', '[', ']', ',', '.', ';', ':']).rsplit_once(':')?;
            ip.parse::<Ipv4Addr>().ok()?;
            number(port)
        })
    };
    behind.or_else(joined).or_else(|| words.iter().find_map(|word| number(word)))
}

/// A result in one line, and where it was, as far as the line says.
fn line(text: &str) -> Option<(Said, Option<Ipv4Addr>, Option<u16>)> {
    let said = text.trim();
    if said.starts_with("Connection to ") && said.contains("succeeded!") {
        return Some((Said::Connected, address(said), port(said)));
    }
    if let Some(rest) = said.strip_prefix("Ncat: Connected to ") {
        return Some((Said::Connected, address(rest), port(rest)));
    }
    let listed = said.contains('[') || said.contains('(');
    if listed && said.ends_with(" open") && address(said).is_some() {
        return Some((Said::Connected, address(said), port(said)));
    }
    let own = ["nc: ", "Ncat: ", "ncat: ", "netcat: "].iter().any(|start| said.starts_with(start));
    let traditional = said.contains("] ") && said.contains(" : ");
    if (own && !said.starts_with("Ncat: Version")) || traditional {
        return Some((reason(said)?, address(said), port_of_error(said)));
    }
    None
}

/// An error of busybox or ncat has numbers that are no port.
fn port_of_error(text: &str) -> Option<u16> {
    let named = text.contains("port ") || text.contains(':') && text.contains('(') || text.contains("] ");
    if named { port(text) } else { None }
}

/// The results in `block`: nothing where it is no output of nc.
pub(super) fn read(block: &Block) -> Result<Vec<Reading>, Refusal> {
    let asked = asked(block);
    let mut found: Vec<Reading> = Vec::new();
    let mut seen: Vec<(Said, Option<Ipv4Addr>, Option<u16>, String)> = block
        .lines
        .iter()
        .filter_map(|text| line(text).map(|(said, ip, port)| (said, ip, port, text.clone())))
        .collect();
    if seen.is_empty() {
        seen.extend(block.find(line).map(|((said, ip, port), text)| (said, ip, port, text)));
    }
    for (said, ip, port, text) in seen {
        let place = match (ip, port, asked) {
            (Some(ip), Some(port), _) => (ip, port),
            (Some(ip), None, Some((also, port))) if ip == also => (ip, port),
            (None, _, Some(asked)) => asked,
            _ => return Err(Refusal::NoAddress(text.trim().to_owned())),
        };
        if let Some(asked) = asked.filter(|asked| *asked != place) {
            let what = format!("it names {}:{} and {}:{}", place.0, place.1, asked.0, asked.1);
            return Err(Refusal::Disagrees(what));
        }
        found.push(Reading::new(Tried::Tcp(place.0, place.1), said, &text));
    }
    if found.is_empty() {
        found.extend(by_exit(block)?);
    }
    agreed(found)
}

/// Without a line of its own the exit status still says whether it was connected, and nothing else.
fn by_exit(block: &Block) -> Result<Option<Reading>, Refusal> {
    let ended = block.lines.iter().find_map(|text| Some((trailer(text)?, text)));
    Ok(match ended {
        Some(((ip, port, 0), text)) => Some(Reading::new(Tried::Tcp(ip, port), Said::Connected, text)),
        Some(((.., 126 | 127), text)) => return Err(Refusal::NotRun(text.clone())),
        Some(((ip, port, _), text)) => Some(Reading::new(Tried::Tcp(ip, port), Said::NotConnected, text)),
        None if block.command.as_ref().is_some_and(|c| matches!(c.program.as_str(), "nc" | "ncat" | "netcat")) => {
            return Err(Refusal::CutOff("nc".to_owned()));
        }
        None => None,
    })
}

/// One result a place; two that differ in one run cannot both be.
fn agreed(found: Vec<Reading>) -> Result<Vec<Reading>, Refusal> {
    let mut kept: Vec<Reading> = Vec::new();
    for reading in found {
        match kept.iter().find(|have| have.tried == reading.tried) {
            Some(have) if have.said != reading.said => {
                let what = format!("{} is {} and {}", have.tried.words(), have.said.words(), reading.said.words());
                return Err(Refusal::Disagrees(what));
            }
            Some(_) => {}
            None => kept.push(reading),
        }
    }
    Ok(kept)
}
