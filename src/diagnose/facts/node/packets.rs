//! Packets and flows that were seen: tcpdump, conntrack.

use std::net::Ipv4Addr;

use super::super::{Sourced, Taken};
use super::{Line, Node, failed};
use crate::diagnose::evidence::Item;

/// One packet of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Device and whether it came in, where the capture shows it (`-i any`).
    pub place: Option<(String, bool)>,
    /// Source.
    pub src: Ipv4Addr,
    /// Source port.
    pub sport: Option<u16>,
    /// Destination.
    pub dst: Ipv4Addr,
    /// Destination port.
    pub dport: Option<u16>,
    /// TCP flags as tcpdump writes them: `S`, `S.`, `R`.
    pub flags: Option<String>,
}

/// One run of tcpdump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Interface it listened on; `any` for all.
    pub interface: String,
    /// IPv4 packets in order.
    pub packets: Vec<Packet>,
}

/// A tracked flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// `tcp`, `udp`, `icmp`.
    pub protocol: String,
    /// Source as sent.
    pub src: Ipv4Addr,
    /// Destination as sent.
    pub dst: Ipv4Addr,
    /// Where an answer is expected: the source after translation.
    pub reply_dst: Ipv4Addr,
    /// No answer came.
    pub unreplied: bool,
}

pub(super) fn tcpdump(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    // 124: its time ran out before the count was reached (`facts/exit-node.md` §7).
    let ran = matches!(exit, Some(0 | 124)) && (!item.body.trim().is_empty() || item.stderr.contains("listening on"));
    if !ran {
        return failed(item, exit, node);
    }
    let interface =
        line.args.iter().position(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('i'));
    let interface = interface.and_then(|at| line.args.get(at + 1)).cloned().unwrap_or_default();
    let packets = item.body.lines().filter_map(packet).collect();
    node.captures.push(Sourced::new(Capture { interface, packets }, item));
    Taken::Read
}

/// `[TIME] [DEV In|Out|P] IP SRC[.PORT] > DST[.PORT]: …`.
fn packet(line: &str) -> Option<Packet> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ip = words.iter().position(|word| *word == "IP")?;
    let place = match words.get(..ip)? {
        [.., dev, "In"] => Some(((*dev).to_owned(), true)),
        [.., dev, "Out"] => Some(((*dev).to_owned(), false)),
        _ => None,
    };
    let [src, ">", dst, rest @ ..] = words.get(ip + 1..)? else { return None };
    let ((src, sport), (dst, dport)) = (end(src)?, end(dst.trim_end_matches(':'))?);
    let flags = rest.iter().find_map(|word| word.strip_prefix('[')?.trim_end_matches(',').strip_suffix(']'));
    let tcp = rest.first() == Some(&"Flags");
    Some(Packet { place, src, sport, dst, dport, flags: flags.filter(|_| tcp).map(str::to_owned) })
}

/// `192.0.2.1.443` or `192.0.2.1`.
fn end(text: &str) -> Option<(Ipv4Addr, Option<u16>)> {
    if let Ok(ip) = text.parse() {
        return Some((ip, None));
    }
    let (ip, port) = text.rsplit_once('.')?;
    Some((ip.parse().ok()?, port.parse().ok()))
}

/// `conntrack -L …`, `conntrack -S`.
pub(super) fn conntrack(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    if exit != Some(0) {
        return failed(item, exit, node);
    }
    if line.has("-S") {
        let of_cpu = |line: &str| {
            line.split_whitespace().find_map(|word| word.strip_prefix("drop=")).and_then(|n| n.parse::<u64>().ok())
        };
        let drops: Vec<u64> = item.body.lines().filter_map(of_cpu).collect();
        if drops.is_empty() {
            return Taken::Unreadable("no counter of drops".to_owned());
        }
        node.conntrack_drops.push(Sourced::new(drops.iter().sum(), item));
        return Taken::Read;
    }
    if !line.has("-L") || line.args.iter().any(|arg| arg.contains("xml")) {
        return Taken::NotMine;
    }
    node.flows.extend(item.body.lines().filter_map(Flow::parse).map(|flow| Sourced::new(flow, item)));
    Taken::Read
}

impl Flow {
    /// A line of `conntrack -L`; `None` for another one.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let all = |key: &str| words.iter().filter_map(|w| w.strip_prefix(key)?.parse().ok()).collect::<Vec<Ipv4Addr>>();
        let (src, dst) = (all("src="), all("dst="));
        let protocol = words.iter().find(|w| ["tcp", "udp", "icmp", "sctp", "gre"].contains(w))?;
        Some(Self {
            protocol: (*protocol).to_owned(),
            src: *src.first()?,
            dst: *dst.first()?,
            reply_dst: *dst.get(1)?,
            unreplied: words.contains(&"[UNREPLIED]"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tcpdump() {
        let tcp = packet("10:31:02.121 IP 10.9.0.21.50410 > 192.0.2.80.443: Flags [R.], length 0").unwrap();
        assert_eq!((tcp.sport, tcp.dport, tcp.flags.as_deref()), (Some(50410), Some(443), Some("R.")));
        let any = packet("eth1 Out IP 10.9.8.53.53 > 192.0.2.1.40551: 4021* 1/0/0 A 10.9.0.21 (56)").unwrap();
        assert_eq!((any.place, any.flags), (Some(("eth1".to_owned(), false)), None));
        let icmp = packet("12:00:00.1 tap1i0 P   IP 10.9.0.10 > 192.0.2.10: ICMP echo request").unwrap();
        assert_eq!((icmp.place, icmp.sport), (None, None));
        assert!(packet("12:00:00.1 ARP, Request who-has 10.9.0.1").is_none());
    }

    #[test]
    fn flows() {
        let line = "ipv4 2 tcp 6 37 SYN_SENT src=10.9.0.10 dst=192.0.2.95 sport=1 dport=80 [UNREPLIED] src=192.0.2.95 dst=192.0.2.22 sport=80 dport=1 mark=0";
        let flow = Flow::parse(line).unwrap();
        assert_eq!((flow.unreplied, flow.reply_dst.to_string().as_str()), (true, "192.0.2.22"));
    }
}
