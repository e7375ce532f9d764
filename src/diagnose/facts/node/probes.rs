//! Probes that were sent: what was asked, from where, what came back.

use std::net::{IpAddr, Ipv4Addr};

use super::super::{Sourced, Taken};
use super::{Line, Node, failed};
use crate::diagnose::evidence::Item;

/// Echo requests, or SYNs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ping {
    /// Destination.
    pub dst: Ipv4Addr,
    /// Source address or interface that was asked for.
    pub source: Option<String>,
    /// VRF in which it ran.
    pub vrf: Option<String>,
    /// Bytes of the whole IPv4 packet.
    pub size: u32,
    /// Fragmenting was forbidden.
    pub whole: bool,
    /// Sent.
    pub sent: u32,
    /// Answered.
    pub received: u32,
    /// Somebody said that it is too large.
    pub too_large: bool,
}

/// Hops of a path; `None` for a silent one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Destination.
    pub dst: Ipv4Addr,
    /// Hops in order.
    pub hops: Vec<Option<Ipv4Addr>>,
}

/// Options of ping that take a value.
const PING_VALUES: [&str; 12] = ["-c", "-i", "-I", "-M", "-s", "-W", "-w", "-t", "-Q", "-p", "-l", "-m"];
/// Headers of IPv4 and ICMP.
const HEADERS: u32 = 28;
/// What ping sends where no size is given.
const USUAL: u32 = 56;

/// `N packets transmitted, M received` (iputils), `M packets received` (hping, busybox).
pub(in crate::diagnose::facts) fn counts(text: &str) -> Option<(u32, u32)> {
    let line = text.lines().find(|line| line.contains("packets transmitted"))?;
    let number = |part: &str| part.split_whitespace().next()?.parse().ok();
    let mut parts = line.split(',');
    let sent = number(parts.next()?)?;
    let received = parts.find(|part| part.contains("received")).and_then(number)?;
    Some((sent, received))
}

/// Answers without a summary: `N bytes from …`. None at all says nothing.
fn answers(text: &str, asked: Option<&str>) -> Option<(u32, u32)> {
    let received = u32::try_from(text.lines().filter(|line| line.contains(" bytes from ")).count()).ok()?;
    let sent = asked.and_then(|n| n.parse().ok()).unwrap_or(received);
    (received > 0).then_some((sent.max(received), received))
}

pub(super) fn ping(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let Some(dst) = line.plain(&PING_VALUES).first().and_then(|dst| dst.parse().ok()) else { return Taken::NotMine };
    let attached = |key: &str| line.args.iter().find_map(|arg| arg.strip_prefix(key).filter(|rest| !rest.is_empty()));
    let option = |key: &str| line.option(key).or_else(|| attached(key));
    // Refused at connect or not at all started: no packet was sent. Cut off before its summary: answers are counted.
    let Some((sent, received)) = counts(&item.body).or_else(|| answers(&item.body, option("-c"))) else {
        return failed(item, exit, node);
    };
    let payload = option("-s").map_or(Some(USUAL), |size| size.parse().ok());
    let Some(payload) = payload else { return Taken::Unreadable("a size that is no number".to_owned()) };
    let too_large =
        [&item.body, &item.stderr].iter().any(|t| t.contains("message too long") || t.contains("Frag needed"));
    let ping = Ping {
        dst,
        source: option("-I").map(str::to_owned),
        vrf: line.vrf.clone(),
        size: payload.saturating_add(HEADERS),
        whole: option("-M") == Some("do"),
        sent,
        received,
        too_large,
    };
    node.pings.push(Sourced::new(ping, item));
    Taken::Read
}

/// `hping3 -S -p PORT -c N DST`: the smallest packet there is.
pub(super) fn hping(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let values = ["-p", "-c", "-i", "-d", "-a", "-s", "-t", "-I"];
    let Some(dst) = line.plain(&values).first().and_then(|dst| dst.parse().ok()) else { return Taken::NotMine };
    let Some((sent, received)) = counts(&item.body) else { return failed(item, exit, node) };
    let data = line.option("-d").and_then(|d| d.parse::<u32>().ok()).unwrap_or(0);
    let size = data.saturating_add(40);
    let ping = Ping { dst, source: None, vrf: line.vrf.clone(), size, whole: true, sent, received, too_large: false };
    node.pings.push(Sourced::new(ping, item));
    Taken::Read
}

/// `Received N response(s)` (iputils, busybox) or `N packets transmitted, M packets received` (the other arping).
fn arp_answers(text: &str) -> Option<u32> {
    let received = text.lines().find_map(|l| l.trim().strip_prefix("Received ")?.split_whitespace().next());
    received.and_then(|n| n.parse().ok()).or_else(|| counts(text).map(|(_, received)| received))
}

/// `arping -c1 -w1 -I DEV ADDR`: 1 = no answer.
pub(super) fn arping(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let values = ["-c", "-w", "-W", "-I", "-i", "-s", "-S", "-t", "-T"];
    let Some(ip) = line.plain(&values).first().and_then(|ip| ip.parse().ok()) else { return Taken::NotMine };
    let dev = line.option("-I").or_else(|| line.option("-i")).unwrap_or_default().to_owned();
    match arp_answers(&item.body) {
        Some(n) => {
            node.arpings.push(Sourced::new((dev, ip, n > 0), item));
            Taken::Read
        }
        None => failed(item, exit, node),
    }
}

pub(super) fn traceroute(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let values = ["-m", "-q", "-w", "-s", "-i", "-f", "-p"];
    let Some(dst) = line.plain(&values).first().and_then(|dst| dst.parse().ok()) else { return Taken::NotMine };
    if exit != Some(0) {
        return failed(item, exit, node);
    }
    let hop = |line: &str| {
        let mut words = line.split_whitespace();
        words.next()?.parse::<u8>().ok()?;
        Some(words.find_map(|word| word.trim_matches(['(', ')']).parse().ok()))
    };
    let hops = item.body.lines().filter_map(hop).collect();
    node.traces.push(Sourced::new(Trace { dst, hops }, item));
    Taken::Read
}

/// Only whether the server answered at all; what it answered is for the readers of DNS.
pub(super) fn dig(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let server = line.args.iter().find_map(|arg| arg.strip_prefix('@')?.parse::<IpAddr>().ok());
    let silent = exit == Some(9) || item.body.contains("no servers could be reached");
    match server {
        Some(server) if silent && line.vrf.is_none() => {
            node.silent_servers.push(Sourced::new(server, item));
            Taken::Read
        }
        _ => Taken::NotMine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_both_dialects() {
        assert_eq!(counts("3 packets transmitted, 0 packets received, 100% packet loss"), Some((3, 0)));
        assert_eq!(counts("1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 1ms"), Some((1, 0)));
        assert_eq!(counts("PING 192.0.2.1"), None);
    }

    #[test]
    fn address_probes_of_both_programs() {
        assert_eq!(arp_answers("Sent 1 probes (1 broadcast(s))\nReceived 1 response(s)\n"), Some(1));
        let other = |n| {
            format!(
                "--- 10.9.0.1 statistics ---\n1 packets transmitted, {n} packets received, 100% unanswered (0 extra)"
            )
        };
        assert_eq!(arp_answers(&other(0)), Some(0));
        assert_eq!(arp_answers(&other(1)), Some(1));
        assert_eq!(arp_answers("arping: socket: Operation not permitted"), None);
    }
}
