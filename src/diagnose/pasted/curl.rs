//! Output of curl: `-v`, `-w`, and its errors.

use std::net::Ipv4Addr;

use super::blocks::{Block, Command};
use super::connect::reason;
use super::{Reading, Refusal, Said, Tried};

/// Options that take a value.
const VALUES: [&str; 14] = [
    "-o",
    "-m",
    "-w",
    "-H",
    "-X",
    "-u",
    "-d",
    "-A",
    "-x",
    "--connect-timeout",
    "--max-time",
    "--cacert",
    "--noproxy",
    "--resolve",
];

type Place = (Ipv4Addr, u16);

/// Address and port of a URL, or of an address with a port.
fn url(text: &str) -> Option<Place> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let host = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (host, None),
    };
    let usual = match scheme {
        "https" => 443,
        "telnet" => 23,
        _ => 80,
    };
    Some((host.parse().ok()?, port.unwrap_or(usual)))
}

fn number(text: &str) -> Option<u16> {
    let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|n| *n > 0)
}

/// `Trying 192.0.2.1:443...`, of older versions without the port.
fn trying(line: &str) -> Option<(Ipv4Addr, Option<u16>)> {
    let rest = line.split_once("Trying ")?.1.trim_end_matches('.').trim();
    let (ip, port) = rest.split_once(':').map_or((rest, None), |(ip, port)| (ip, number(port)));
    Some((ip.trim_end_matches('.').parse().ok()?, port))
}

/// `Connected to host (192.0.2.1) port 443`.
fn connected(line: &str) -> Option<Place> {
    let rest = line.split_once("Connected to ")?.1;
    let ip = rest.split_once('(')?.1.split_once(')')?.0.parse().ok()?;
    Some((ip, number(rest.split_once(") port ")?.1)?))
}

/// `connect to 192.0.2.1 port 443 … failed: …`, `Failed to connect to 192.0.2.1 port 443 …: …`.
fn failed(line: &str) -> Option<(String, u16, Option<Said>)> {
    let rest = line.split_once("ailed to connect to ").or_else(|| line.split_once("connect to "))?.1;
    let (host, rest) = rest.split_once(" port ")?;
    Some((host.trim().to_owned(), number(rest)?, reason(rest)))
}

/// `curl: (28) …`.
fn ended(line: &str) -> Option<(u16, String)> {
    let (code, words) = line.trim().strip_prefix("curl: (")?.split_once(')')?;
    Some((code.parse().ok()?, words.trim().to_owned()))
}

/// `< HTTP/1.1 401 Unauthorized`, or `HTTP/2 401` of `-I`.
fn status(line: &str) -> Option<u16> {
    let rest = line.trim().trim_start_matches("< ").strip_prefix("HTTP/")?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|code| (100..600).contains(code))
}

/// `-w '%{json}'`: one object in a line.
fn json(line: &str) -> Option<serde_json::Value> {
    let text = line.trim().get(line.trim().find('{')?..)?;
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    value.get("exitcode").is_some().then_some(value)
}

/// Places that the output or the command line names.
fn places(block: &Block) -> Vec<Place> {
    let typed = block.command.as_ref().and_then(|c: &Command| c.plain(&VALUES).find_map(url));
    let mut all: Vec<Place> = typed.into_iter().collect();
    for line in &block.lines {
        if let Some((ip, Some(port))) = trying(line) {
            all.push((ip, port));
        }
        all.extend(connected(line));
        all.extend(failed(line).and_then(|(host, port, _)| Some((host.parse().ok()?, port))));
        if let Some(value) = json(line) {
            let text = |key: &str| value.get(key).and_then(|v| v.as_str()).unwrap_or_default();
            let port = value.get("remote_port").and_then(serde_json::Value::as_u64).and_then(|p| u16::try_from(p).ok());
            let remote = text("remote_ip").parse().ok().zip(port.filter(|port| *port > 0));
            all.extend(remote.or_else(|| url(text("url_effective"))));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The source of `… from 192.0.2.1 port 40000 …`.
fn source(line: &str) -> Option<Ipv4Addr> {
    failed(line)?;
    line.split_once(" from ")?.1.split_whitespace().next()?.parse().ok()
}

/// How far it came, and the line that says so.
fn said(block: &Block) -> Option<(Said, String)> {
    let of = |said: Said, line: &str| Some((said, line.to_owned()));
    if let Some((code, line)) = block.lines.iter().find_map(|line| Some((status(line)?, line))) {
        return of(Said::Http(code), line);
    }
    if let Some(line) = block.says("SSL connection using") {
        return of(Said::Tls, line);
    }
    if let Some((value, line)) = block.lines.iter().find_map(|line| Some((json(line)?, line))) {
        let code = value.get("http_code").and_then(serde_json::Value::as_u64).and_then(|c| u16::try_from(c).ok());
        if let Some(code) = code.filter(|code| *code > 0) {
            return of(Said::Http(code), line);
        }
        let words = value.get("errormsg").and_then(|v| v.as_str()).unwrap_or_default();
        let connect = value.get("time_connect").and_then(serde_json::Value::as_f64).unwrap_or_default();
        let how = if connect > 0.0 { Said::Connected } else { reason(words).unwrap_or(Said::NotConnected) };
        return of(how, line);
    }
    if let Some(line) = block.lines.iter().find(|line| connected(line).is_some()) {
        return of(Said::Connected, line);
    }
    if let Some((Some(how), line)) = block.lines.iter().find_map(|line| Some((failed(line)?.2, line))) {
        return of(how, line);
    }
    if let Some(((code, words), line)) = block.find(ended) {
        let how = match code {
            6 => Said::NotResolved,
            7 => reason(&words).unwrap_or(Said::NotConnected),
            28 => Said::Timeout,
            // Something answered, and not as curl wanted it.
            8 | 35 | 51 | 52 | 56 | 58 | 60 | 77 => Said::Connected,
            _ => Said::NotRun(words),
        };
        return Some((how, line));
    }
    written(block)
}

/// `-w '%{http_code}'` prints the code alone: a line of three digits, and the command line says that it is one.
fn written(block: &Block) -> Option<(Said, String)> {
    let command = block.command.as_ref().filter(|c| c.args.iter().any(|arg| arg.contains("http_code")))?;
    let code = |line: &str| line.trim().parse::<u16>().ok().filter(|_| line.trim().len() == 3);
    let (code, line) = block.lines.iter().rev().find_map(|line| Some((code(line)?, line)))?;
    let _ = command;
    let how = if code == 0 { Said::NotConnected } else { Said::Http(code) };
    Some((how, line.clone()))
}

/// The result in `block`; `None` where it is no output of curl.
pub(super) fn read(block: &Block) -> Result<Option<Reading>, Refusal> {
    let own = block.command.as_ref().is_some_and(|c| c.program == "curl");
    let looks = |line: &String| {
        ended(line).is_some() || trying(line).is_some() || connected(line).is_some() || json(line).is_some()
    };
    if !own && !block.lines.iter().any(looks) {
        return Ok(None);
    }
    let proxied = |line: &String| line.contains("proxy env variable") || line.contains("Establish HTTP proxy tunnel");
    if block.lines.iter().any(proxied) {
        return Err(Refusal::Proxy);
    }
    let places = places(block);
    let Some((said, line)) = said(block) else {
        let place = places.first().map_or_else(|| "curl".to_owned(), |(ip, port)| format!("tcp {ip}:{port}"));
        return Err(Refusal::CutOff(place));
    };
    if let Said::NotRun(why) = said {
        return Err(Refusal::NotRun(why));
    }
    match places.as_slice() {
        [] => Err(Refusal::NoAddress(line.trim().to_owned())),
        [(ip, port)] => {
            let mut reading = Reading::new(Tried::Tcp(*ip, *port), said, &line);
            reading.source = block.find(source).map(|(ip, _)| ip);
            Ok(Some(reading))
        }
        [one, two, ..] => Err(Refusal::Disagrees(format!("it names {}:{} and {}:{}", one.0, one.1, two.0, two.1))),
    }
}
