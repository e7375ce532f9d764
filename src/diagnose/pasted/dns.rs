//! Output of dig, host and nslookup.

use std::net::Ipv4Addr;

use super::blocks::Block;
use super::{Reading, Refusal, Said, Tried};

/// Options of dig and host that take a value.
const VALUES: [&str; 6] = ["-t", "-c", "-p", "-b", "-W", "-R"];
/// Words of a command line that are types and classes.
const TYPES: [&str; 9] = ["A", "AAAA", "PTR", "SOA", "NS", "TXT", "MX", "ANY", "IN"];

fn name(text: &str) -> String {
    text.trim().trim_matches(['\'', '"']).trim_end_matches('.').to_ascii_lowercase()
}

/// `10.0.0.1#53`, `10.0.0.1`, `10.0.0.1#53(10.0.0.1)`.
fn address(text: &str) -> Option<Ipv4Addr> {
    text.trim().split(['#', ' ', '(']).next()?.trim_end_matches([':', ',']).parse().ok()
}

/// The server asked: as the output says, else as the command line does.
fn server(block: &Block) -> Option<Ipv4Addr> {
    let shown = block.find(|line| {
        let line = line.trim();
        let rest = line
            .strip_prefix(";; SERVER:")
            .or_else(|| line.strip_prefix("Server:"))
            .or_else(|| line.split_once("communications error to ").map(|(_, rest)| rest));
        rest.and_then(address)
    });
    // host: `Using domain server:`, then `Address: …#53`.
    let of_host =
        || block.find(|line| line.trim().strip_prefix("Address:").filter(|l| l.contains('#')).and_then(address));
    let typed = || {
        let command = block.command.as_ref()?;
        let at = command.args.iter().find_map(|arg| arg.strip_prefix('@')?.parse().ok());
        let last = || command.plain(&VALUES).filter_map(|arg| arg.parse().ok()).last();
        at.or_else(|| if command.program == "dig" { None } else { last() })
    };
    shown.or_else(of_host).map(|(ip, _)| ip).or_else(typed)
}

/// The name asked for.
fn question(block: &Block) -> Option<String> {
    // dig: `;app.example. IN A`.
    let section = block.lines.iter().find_map(|line| {
        let rest = line.strip_prefix(';').filter(|rest| !rest.starts_with([';', ' ']))?;
        let mut words = rest.split_whitespace();
        let asked = words.next()?;
        (words.next()? == "IN").then(|| name(asked))
    });
    let typed = || {
        let command = block.command.as_ref()?;
        let mut words = command
            .plain(&VALUES)
            .filter(|arg| !arg.starts_with(['@', '+']) && !TYPES.contains(&arg.to_ascii_uppercase().as_str()));
        words.next().map(name)
    };
    let told = || {
        block.find(|line| {
            let line = line.trim();
            let has = line.split_once(" has address ").or_else(|| line.split_once(" domain name pointer "));
            let not = line.strip_prefix("Host ").and_then(|rest| rest.split_once(" not found"));
            let cannot = line.split_once("can't find ").and_then(|(_, rest)| rest.rsplit_once(':'));
            let named = line.strip_prefix("Name:").map(str::trim).filter(|n| n.parse::<Ipv4Addr>().is_err());
            let named = named.map(|rest| (rest, ""));
            has.or(not).or(cannot).or(named).map(|(asked, _)| name(asked))
        })
    };
    section.or_else(typed).or_else(|| told().map(|(asked, _)| asked))
}

/// The code of an answer.
fn code(block: &Block) -> Option<(String, String)> {
    let word = |text: &str| -> Option<String> {
        let word: String = text.trim().chars().take_while(char::is_ascii_alphanumeric).collect();
        (word.len() > 4).then(|| word.to_ascii_uppercase())
    };
    block.find(|line| {
        if let Some((_, rest)) = line.split_once("status: ") {
            return word(rest);
        }
        if let Some((_, rest)) = line.split_once(" not found: ") {
            return word(rest.split_once('(')?.1);
        }
        line.split_once("can't find ").and_then(|(_, rest)| word(rest.rsplit_once(':')?.1))
    })
}

/// How many records came.
fn records(block: &Block) -> usize {
    let counted = block.lines.iter().find_map(|line| {
        let rest = line.split_once("ANSWER: ")?.1;
        rest.split(',').next()?.trim().parse().ok()
    });
    let shown = || {
        let of_host = |line: &&String| line.contains(" has address ") || line.contains(" domain name pointer ");
        let hosts = block.lines.iter().filter(of_host).count();
        let named = block.lines.iter().skip_while(|line| !line.trim().starts_with("Name:")).skip(1);
        let addresses = named.filter(|line| line.trim().starts_with("Address") && !line.contains('#')).count();
        let short = |line: &&String| line.trim().parse::<Ipv4Addr>().is_ok();
        hosts + addresses + block.lines.iter().filter(short).count()
    };
    counted.unwrap_or_else(shown)
}

/// The result in `block`; `None` where it is no output of theirs.
pub(super) fn read(block: &Block) -> Result<Option<Reading>, Refusal> {
    let own = block.command.as_ref().is_some_and(|c| matches!(c.program.as_str(), "dig" | "host" | "nslookup"));
    let marks = ["->>HEADER<<-", "; <<>> DiG", " has address ", "Using domain server", "** server can't find"];
    let silent = ["no servers could be reached", "connection timed out; no servers"];
    let found = marks.iter().chain(&silent).find_map(|mark| block.says(mark));
    if !own && found.is_none() {
        return Ok(None);
    }
    let (said, line) = if let Some((code, line)) = code(block) {
        (Said::Resolved { code, answers: records(block) }, line)
    } else if let Some(line) = block.says("connection refused").filter(|_| block.says("no servers could").is_some()) {
        (Said::Refused, line.to_owned())
    } else if let Some(line) = silent.iter().find_map(|mark| block.says(mark)) {
        (Said::Timeout, line.to_owned())
    } else if records(block) > 0 {
        let line = block.lines.iter().find(|line| !line.trim().is_empty()).cloned().unwrap_or_default();
        (Said::Resolved { code: "NOERROR".to_owned(), answers: records(block) }, line)
    } else {
        return Err(Refusal::CutOff("the question".to_owned()));
    };
    match (server(block), question(block)) {
        (Some(server), Some(asked)) => Ok(Some(Reading::new(Tried::Dns(server, asked), said, &line))),
        _ => Err(Refusal::NoAddress(line.trim().to_owned())),
    }
}
