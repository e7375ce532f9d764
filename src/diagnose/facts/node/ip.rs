//! `ip` of iproute2: links, addresses, routes, lookups, neighbours; JSON and text.

use std::net::IpAddr;

use serde_json::Value;

use super::super::{Sourced, Taken};
use super::{Asked, Line, Link, MAIN, Node, failed, json, text};
use crate::backends::exit_node::model::{self, Lookup};
use crate::backends::exit_node::parse::{links, lookup, neigh, routes};
use crate::diagnose::evidence::Item;

/// The options in front of the object, then the object and its arguments.
struct Ip<'a> {
    options: Vec<&'a str>,
    object: &'a str,
    args: Vec<&'a str>,
}

impl<'a> Ip<'a> {
    fn parse(line: &'a Line) -> Option<Self> {
        let args = || line.args.iter().map(String::as_str);
        let options: Vec<&str> = args().take_while(|arg| arg.starts_with('-')).collect();
        let mut rest = args().skip(options.len());
        let object = rest.next()?;
        Some(Self { options, object, args: rest.collect() })
    }

    fn any(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.contains(option))
    }

    fn json(&self) -> bool {
        self.any(&["-j", "-json", "--json"])
    }

    /// Arguments without `show` and its like.
    fn shown(&self) -> &[&'a str] {
        match self.args.as_slice() {
            ["show" | "list" | "ls" | "sh", rest @ ..] => rest,
            all => all,
        }
    }
}

pub(super) fn ip(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let Some(ip) = Ip::parse(line) else { return Taken::NotMine };
    if ip.any(&["-6", "-n", "-netns", "-b", "-batch"]) {
        return Taken::NotMine;
    }
    let ended_well = exit == Some(0);
    match ip.object {
        "route" | "ro" | "r" if ip.args.first() == Some(&"get") => get(item, &ip, exit, node),
        "route" | "ro" | "r" | "addr" | "address" | "a" | "link" | "l" | "neigh" | "neighbour" | "n" if !ended_well => {
            failed(item, exit, node)
        }
        "route" | "ro" | "r" => table(item, &ip, node),
        "addr" | "address" | "a" | "link" | "l" => devices(item, line, &ip, node),
        "neigh" | "neighbour" | "n" => neighbours(item, &ip, node),
        _ => Taken::NotMine,
    }
}

fn unreadable(why: impl ToString) -> Taken {
    Taken::Unreadable(why.to_string())
}

fn table(item: &Item, ip: &Ip<'_>, node: &mut Node) -> Taken {
    let table = match ip.shown() {
        [] | ["table", "main" | "254"] => MAIN,
        ["vrf" | "table", name] => name,
        _ => return Taken::NotMine,
    };
    let routes = if ip.json() {
        match json(item) {
            Ok(value) => routes::routes(&value).map_err(|e| e.to_string()),
            Err(taken) => return taken,
        }
        .map(|all| all.into_iter().map(|(_, route)| route).collect())
    } else {
        text::routes(&item.body)
    };
    match routes {
        Ok(routes) => {
            node.tables.insert(table.to_owned(), Sourced::new(routes, item));
            Taken::Read
        }
        Err(why) => unreadable(why),
    }
}

fn get(item: &Item, ip: &Ip<'_>, exit: Option<i32>, node: &mut Node) -> Taken {
    let args = ip.args.get(1..).unwrap_or_default();
    let option = |key: &str| args.iter().position(|a| *a == key).and_then(|at| args.get(at + 1)).copied();
    if args.iter().any(|a| ["fibmatch", "oif", "mark"].contains(a)) {
        return Taken::NotMine;
    }
    let Some(dst) = args.first().and_then(|dst| text::v4(dst)) else { return Taken::NotMine };
    let answer = match exit {
        Some(0) if ip.json() => match json(item) {
            Ok(value) => lookup::lookup(&value),
            Err(taken) => return taken,
        },
        Some(0) => match text::lookup(&item.body) {
            Some(answer) => answer,
            None => return unreadable("an answer without a device"),
        },
        // The kernel's own refusals are answers (`facts/exit-node.md` §2); anything else is a failure.
        Some(2) if !item.stderr.trim().is_empty() => Lookup::Error(text::error_words(&item.stderr)),
        _ => return failed(item, exit, node),
    };
    let asked = Asked {
        dst,
        from: option("from").and_then(text::v4),
        iif: option("iif").map(str::to_owned),
        vrf: option("vrf").map(str::to_owned),
        answer,
    };
    node.lookups.push(Sourced::new(asked, item));
    Taken::Read
}

fn devices(item: &Item, line: &Line, ip: &Ip<'_>, node: &mut Node) -> Taken {
    let filtered = !matches!(ip.shown(), [] | ["up"]);
    let is_addr = ip.object.starts_with('a');
    if filtered && !is_addr {
        return Taken::NotMine;
    }
    if ip.json() {
        return devices_json(item, is_addr, filtered, node);
    }
    let (links, addresses) = match line.piped.as_slice() {
        [] if ip.any(&["-br", "-brief"]) => text::brief(&item.body),
        [] if !is_addr => (text::long(&item.body), Vec::new()),
        [awk] if !is_addr && awk.iter().any(|w| w.replace(' ', "") == "{print$2,$5}") => {
            (text::mtus(&item.body), Vec::new())
        }
        _ => return Taken::NotMine,
    };
    if links.is_empty() && !item.body.trim().is_empty() {
        return unreadable("a list of links without a link");
    }
    put_links(links, filtered, is_addr, item, node);
    if is_addr {
        node.addresses = Some(Sourced::new(addresses, item));
    }
    Taken::Read
}

fn devices_json(item: &Item, is_addr: bool, filtered: bool, node: &mut Node) -> Taken {
    let value = match json(item) {
        Ok(value) => value,
        Err(taken) => return taken,
    };
    if is_addr {
        match links::addresses(&value) {
            Ok(addresses) => node.addresses = Some(Sourced::new(addresses, item)),
            Err(why) => return unreadable(why),
        }
    }
    match links::links(&value) {
        Ok(found) => put_links(found.into_iter().map(Link::from).collect(), filtered, is_addr, item, node),
        Err(why) if !is_addr => return unreadable(why),
        Err(_) => {}
    }
    Taken::Read
}

impl From<model::Link> for Link {
    fn from(link: model::Link) -> Self {
        Self {
            name: link.name,
            state: Some(link.operstate),
            mtu: Some(link.mtu),
            master: link.master,
            flags: link.flags,
        }
    }
}

/// A fuller list fills in what an earlier one did not show; one of a single device says nothing about the others, and one
/// of addresses nothing about links that it leaves out.
fn put_links(links: Vec<Link>, filtered: bool, is_addr: bool, item: &Item, node: &mut Node) {
    if filtered {
        return;
    }
    node.links_whole |= !is_addr;
    let Some(before) = node.links.take() else {
        node.links = Some(Sourced::new(links, item));
        return;
    };
    let merge = |link: Link| {
        let old = before.iter().find(|old| old.name == link.name).cloned().unwrap_or_default();
        Link {
            state: link.state.or(old.state),
            mtu: link.mtu.or(old.mtu),
            master: link.master.or(old.master),
            flags: if link.flags.is_empty() { old.flags } else { link.flags },
            name: link.name,
        }
    };
    let mut merged: Vec<Link> = links.into_iter().map(merge).collect();
    if is_addr {
        let left_out = before.iter().filter(|old| !merged.iter().any(|link| link.name == old.name));
        let left_out: Vec<Link> = left_out.cloned().collect();
        merged.extend(left_out);
    }
    node.links = Some(Sourced::new(merged, item));
}

fn neighbours(item: &Item, ip: &Ip<'_>, node: &mut Node) -> Taken {
    let dev = match ip.shown() {
        ["dev", dev] => Some(*dev),
        [] | ["vrf", _] => None,
        _ => return Taken::NotMine,
    };
    if !ip.json() {
        return neighbours_text(item, dev, node);
    }
    let mut value = match json(item) {
        Ok(value) => value,
        Err(taken) => return taken,
    };
    // Asked for one device, its name is left out of the rows.
    for row in value.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if let (Some(dev), false) = (dev, row.contains_key("dev") || row.is_empty()) {
            row.insert("dev".to_owned(), Value::from(dev));
        }
    }
    match neigh::neighbours(&value) {
        Ok(found) => {
            for one in found {
                node.neighbours.entry((one.dev, one.ip)).or_default().push(Sourced::new(one.states, item));
            }
            Taken::Read
        }
        Err(why) => unreadable(why),
    }
}

/// `192.0.2.1 dev eth0 lladdr 02:… REACHABLE`.
fn neighbours_text(item: &Item, dev: Option<&str>, node: &mut Node) -> Taken {
    for line in item.body.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(ip) = words.first().and_then(|word| word.parse::<IpAddr>().ok()) else { continue };
        let named = words.iter().position(|w| *w == "dev").and_then(|at| words.get(at + 1)).copied();
        let (Some(dev), Some(state)) = (named.or(dev), words.last()) else { continue };
        let states = Sourced::new(vec![(*state).to_owned()], item);
        node.neighbours.entry((dev.to_owned(), ip)).or_default().push(states);
    }
    Taken::Read
}
