//! What `ip` prints for people.

use std::net::{IpAddr, Ipv4Addr};

use super::{Link, prefix};
use crate::backends::exit_node::model::{Address, Lookup, Route, RouteKind};

fn value<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == key)?;
    words.get(at + 1).copied()
}

/// `ip route show`. Lines of IPv6 and of local addresses are left out.
pub fn routes(text: &str) -> Result<Vec<Route>, String> {
    let mut found: Vec<Route> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"nexthop") {
            let last = found.last_mut().ok_or("a next hop without its route")?;
            last.nexthops = last.nexthops.saturating_add(1);
            if last.dev.is_none() {
                last.dev = value(&words, "dev").map(str::to_owned);
                last.gateway = value(&words, "via").and_then(|v| v.parse().ok());
            }
            continue;
        }
        if words.first().is_some_and(|word| ["local", "broadcast", "multicast", "anycast"].contains(word)) {
            continue;
        }
        found.extend(route(&words, line)?);
    }
    Ok(found)
}

fn route(words: &[&str], line: &str) -> Result<Option<Route>, String> {
    let (kind, rest) = match words {
        ["blackhole", rest @ ..] => (RouteKind::Blackhole, rest),
        ["unreachable", rest @ ..] => (RouteKind::Unreachable, rest),
        [other @ ("prohibit" | "throw"), rest @ ..] => (RouteKind::Other((*other).to_owned()), rest),
        ["unicast", rest @ ..] | rest => (RouteKind::Unicast, rest),
    };
    let Some(dst) = rest.first() else { return Ok(None) };
    if dst.contains(':') {
        return Ok(None);
    }
    let dst = prefix(dst).ok_or_else(|| format!("no route: {line}"))?;
    let flags = ["onlink", "linkdown", "dead"].iter().filter(|flag| rest.contains(flag));
    Ok(Some(Route {
        dst,
        kind,
        gateway: value(rest, "via").and_then(|v| v.parse().ok()),
        dev: value(rest, "dev").map(str::to_owned),
        protocol: value(rest, "proto").map(str::to_owned),
        metric: value(rest, "metric").and_then(|v| v.parse().ok()),
        flags: flags.map(|flag| (*flag).to_owned()).collect(),
        nexthops: 1,
    }))
}

/// The first line of `ip route get`.
pub fn lookup(text: &str) -> Option<Lookup> {
    let words: Vec<&str> = text.lines().next()?.split_whitespace().collect();
    Some(Lookup::Route {
        dev: value(&words, "dev")?.to_owned(),
        gateway: value(&words, "via").and_then(|v| v.parse().ok()),
        prefsrc: value(&words, "src").and_then(|v| v.parse().ok()),
        table: value(&words, "table").filter(|table| *table != "main").map(str::to_owned),
    })
}

/// Name without its peer: `xvrf_a@xvrfp_a`, `eth0@if3`.
fn bare(name: &str) -> String {
    name.trim_end_matches(':').split('@').next().unwrap_or(name).to_owned()
}

fn flags(words: &[&str]) -> Vec<String> {
    let list = words.iter().find_map(|word| word.strip_prefix('<')?.strip_suffix('>'));
    list.into_iter().flat_map(|list| list.split(',')).map(str::to_owned).collect()
}

/// `ip -br link`: name, state, address, flags. `ip -br addr`: name, state, addresses.
pub fn brief(text: &str) -> (Vec<Link>, Vec<Address>) {
    let mut links = Vec::new();
    let mut addresses = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, state, rest @ ..] = words.as_slice() else { continue };
        let name = bare(name);
        addresses.extend(rest.iter().filter_map(|word| address(&name, word)));
        links.push(Link { name, state: Some((*state).to_owned()), flags: flags(rest), ..Link::default() });
    }
    (links, addresses)
}

fn address(dev: &str, word: &str) -> Option<Address> {
    let (ip, len) = word.split_once('/')?;
    let ip: IpAddr = ip.parse().ok()?;
    Some(Address { dev: dev.to_owned(), ip, prefix_len: len.parse().ok()? })
}

/// `ip link`, `ip -o link`: `2: eth0: <FLAGS> mtu 1500 … state UP …`.
pub fn long(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [index, name, rest @ ..] = words.as_slice() else { continue };
        if index.trim_end_matches(':').parse::<u32>().is_err() || !index.ends_with(':') {
            continue;
        }
        links.push(Link {
            name: bare(name),
            state: value(rest, "state").map(str::to_owned),
            mtu: value(rest, "mtu").and_then(|mtu| mtu.parse().ok()),
            master: value(rest, "master").map(str::to_owned),
            flags: flags(rest),
        });
    }
    links
}

/// `NAME: MTU` lines, as `ip -o link | awk '{print $2,$5}'` prints them.
pub fn mtus(text: &str) -> Vec<Link> {
    let link = |line: &str| {
        let (name, mtu) = line.trim().split_once(char::is_whitespace)?;
        Some(Link { name: bare(name), mtu: Some(mtu.trim().parse().ok()?), ..Link::default() })
    };
    text.lines().filter_map(link).collect()
}

/// Words of an error of `ip route get`: the kernel's, without what `ip` puts in front.
pub fn error_words(stderr: &str) -> String {
    crate::backends::exit_node::parse::batch::error_words(stderr.lines().next().unwrap_or_default())
}

/// An IPv4 address.
pub fn v4(text: &str) -> Option<Ipv4Addr> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_for_people() {
        let text = "default via 192.0.2.1 dev vmbr0 proto kernel onlink \n\
            unreachable default metric 4278198272 \nblackhole 10.9.0.0/24 nhid 61 proto static metric 20\n\
            10.9.1.7 nhid 41 via 192.0.2.13 dev vrfbr_a proto bgp metric 20 onlink\nlocal 10.9.1.1 dev a\n\
            10.9.2.0/24 proto bgp metric 20 \n\tnexthop via 192.0.2.8 dev x weight 1 \n\tnexthop via 192.0.2.9 dev y weight 1\n";
        let routes = routes(text).unwrap();
        assert_eq!(routes.len(), 5);
        assert_eq!((routes[0].dst.prefix_len(), routes[0].gateway), (0, v4("192.0.2.1")));
        assert_eq!((&routes[1].kind, routes[1].metric), (&RouteKind::Unreachable, Some(4_278_198_272)));
        assert_eq!((&routes[2].kind, routes[2].protocol.as_deref()), (&RouteKind::Blackhole, Some("static")));
        assert_eq!(routes[3].dst.to_string(), "10.9.1.7/32");
        assert_eq!((routes[4].dev.as_deref(), routes[4].gateway), (Some("x"), v4("192.0.2.8")));
        assert!(super::routes("nonsense here").is_err());
    }

    #[test]
    fn links_and_addresses_for_people() {
        let (links, addresses) =
            brief("a@b UP 192.0.2.1/24 2001:db8::1/64\nc UNKNOWN 02:00:00:00:00:01 <UP,LOWER_UP>\n");
        assert_eq!((links[0].name.as_str(), addresses.len()), ("a", 2));
        assert_eq!(links[1].flags, ["UP", "LOWER_UP"]);
        let links = long("2: eth0@if3: <UP> mtu 1500 qdisc x master br state UP mode\\    link/ether 02:00\n");
        assert_eq!((links[0].name.as_str(), links[0].mtu, links[0].state.as_deref()), ("eth0", Some(1500), Some("UP")));
        assert_eq!(mtus("fwpr1p0@fwln1i0: 1500\n")[0].mtu, Some(1500));
    }
}
