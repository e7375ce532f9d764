//! `conntrack -L -s PREFIX`, as the helper cuts it: `total N`, `unreplied N`, then some of the lines.

use std::net::Ipv4Addr;

use super::NotUnderstood;
use crate::backends::exit_node::model::{Tracked, TrackedFlow};

/// Reads the part. A line of another form (IPv6, another protocol) counts and is not listed.
///
/// # Errors
/// When the counts do not stand first.
pub fn tracked(text: &str) -> Result<Tracked, NotUnderstood> {
    let mut lines = text.lines();
    let mut count = |word: &str| {
        let number = lines.next().and_then(|line| line.strip_prefix(word)?.trim().parse().ok());
        number.ok_or_else(|| NotUnderstood::new(format!("no count called {word}")))
    };
    let (total, unreplied) = (count("total")?, count("unreplied")?);
    Ok(Tracked { total, unreplied, listed: lines.filter_map(flow).collect() })
}

fn flow(line: &str) -> Option<TrackedFlow> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let addresses =
        |key: &str| words.iter().filter_map(|w| w.strip_prefix(key)?.parse().ok()).collect::<Vec<Ipv4Addr>>();
    let port = |key: &str| words.iter().find_map(|w| w.strip_prefix(key)?.parse().ok());
    let (src, dst) = (addresses("src="), addresses("dst="));
    let protocol = words.iter().position(|w| ["tcp", "udp", "icmp", "sctp", "gre"].contains(w))?;
    // PROTOCOL NUMBER SECONDS STATE, the state where there is one.
    let state =
        words.get(protocol + 3).filter(|w| w.bytes().all(|b| b.is_ascii_uppercase() || b"_0123456789".contains(&b)));
    Some(TrackedFlow {
        protocol: (*words.get(protocol)?).to_owned(),
        state: state.map(|state| (*state).to_owned()),
        src: *src.first()?,
        sport: port("sport="),
        dst: *dst.first()?,
        dport: port("dport="),
        reply_dst: *dst.get(1)?,
        unreplied: words.contains(&"[UNREPLIED]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_flows() {
        let text = "total 3\nunreplied 1\n\
            tcp      6 431999 ESTABLISHED src=10.20.129.10 dst=192.0.2.80 sport=50410 dport=443 src=192.0.2.80 dst=10.20.50.22 \
            sport=443 dport=50410 [ASSURED] mark=0 use=1\n\
            ipv4     2 udp      17 29 src=10.20.129.10 dst=10.20.50.1 sport=40000 dport=53 [UNREPLIED] src=10.20.50.1 \
            dst=10.20.50.22 sport=53 dport=40000 mark=0 use=1\n\
            unknown  2 500 src=10.20.129.10 dst=224.0.0.1 src=224.0.0.1 dst=10.20.129.10 use=1\n";
        let tracked = tracked(text).unwrap();
        assert_eq!((tracked.total, tracked.unreplied, tracked.listed.len()), (3, 1, 2));
        let [tcp, udp] = tracked.listed.as_slice() else { panic!("two") };
        assert_eq!((tcp.state.as_deref(), tcp.dport, tcp.unreplied), (Some("ESTABLISHED"), Some(443), false));
        assert_eq!((udp.state.as_deref(), udp.sport, udp.unreplied), (None, Some(40000), true));
        assert_eq!(udp.reply_dst, Ipv4Addr::new(10, 20, 50, 22));
        assert!(super::tracked("tcp 6 1 ESTABLISHED\n").is_err(), "no count stands first");
    }
}
