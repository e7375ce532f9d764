//! Settings and counters of the kernel.

use std::collections::BTreeMap;

use super::super::{Sourced, Taken};
use super::{Conntrack, Line, Node, failed, json};
use crate::backends::exit_node::parse::proc;
use crate::diagnose::evidence::Item;

/// Adds to a map that an earlier command may have begun: each names the interfaces it asked for.
fn add<T: Clone>(to: &mut Option<Sourced<BTreeMap<String, T>>>, found: BTreeMap<String, T>, item: &Item) {
    if found.is_empty() {
        return;
    }
    let mut all = to.take().map(|before| before.value).unwrap_or_default();
    all.extend(found);
    *to = Some(Sourced::new(all, item));
}

/// `sysctl a b`, `sysctl -a -r …`, `sysctl -a --pattern …`: lines `NAME = VALUE`.
pub(super) fn sysctl(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    if line.has("-w") || line.args.iter().any(|arg| arg.contains('=')) {
        return Taken::NotMine;
    }
    if item.body.trim().is_empty() && exit != Some(0) {
        return failed(item, exit, node);
    }
    let (mut rp_filter, mut forwarding, mut other) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (name, value) in item.body.lines().filter_map(|line| line.split_once('=')) {
        let Ok(value) = value.trim().parse::<u64>() else { continue };
        let name = name.trim();
        match name.strip_prefix("net.ipv4.conf.").and_then(|rest| rest.rsplit_once('.')) {
            // A dot in an interface's name is written as a slash (`facts/exit-node.md` §7).
            Some((interface, "rp_filter")) => {
                rp_filter.insert(interface.replace('/', "."), u8::try_from(value).unwrap_or(u8::MAX));
            }
            Some((interface, "forwarding")) => {
                forwarding.insert(interface.replace('/', "."), value != 0);
            }
            _ => {
                other.insert(name, value);
            }
        }
    }
    add(&mut node.rp_filter, rp_filter, item);
    add(&mut node.forwarding, forwarding, item);
    let of = |name: &str| other.get(name).copied();
    if let (Some(count), Some(max)) = (of("net.netfilter.nf_conntrack_count"), of("net.netfilter.nf_conntrack_max")) {
        node.conntrack = Some(Sourced::new(Conntrack { count, max }, item));
    }
    Taken::Read
}

/// `grep -H . /proc/sys/net/ipv4/conf/*/…`.
pub(super) fn proc_files(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    if !line.args.iter().any(|arg| arg.starts_with("/proc/")) {
        return Taken::NotMine;
    }
    if item.body.trim().is_empty() {
        return failed(item, exit, node);
    }
    let found = proc::parse(&item.body);
    if let Some(odd) = found.odd {
        return Taken::Unreadable(format!("{odd} is no number"));
    }
    add(&mut node.rp_filter, found.rp_filter, item);
    add(&mut node.forwarding, found.forwarding, item);
    if let (Some(count), Some(max)) = (found.conntrack_count, found.conntrack_max) {
        node.conntrack = Some(Sourced::new(Conntrack { count, max }, item));
    }
    if !found.counters.is_empty() {
        node.counters.push(Sourced::new(found.counters, item));
    }
    Taken::Read
}

/// `nstat -az …` (`NAME VALUE RATE` below `#kernel`), or with `-j` an object.
pub(super) fn nstat(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    if exit != Some(0) {
        return failed(item, exit, node);
    }
    // Without -a it prints how far counters rose since it was last run by anybody.
    let absolute = line.args.iter().any(|arg| arg == "--ignore" || (arg.starts_with('-') && arg.contains('a')));
    if !absolute {
        return Taken::NotMine;
    }
    let counters: BTreeMap<String, u64> = if item.body.trim_start().starts_with('{') {
        let value = match json(item) {
            Ok(value) => value,
            Err(taken) => return taken,
        };
        let kernel = value.get("kernel").and_then(serde_json::Value::as_object);
        let number = |(name, value): (&String, &serde_json::Value)| Some((name.clone(), value.as_u64()?));
        kernel.into_iter().flatten().filter_map(number).collect()
    } else {
        let row = |line: &str| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        };
        item.body.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect()
    };
    if counters.is_empty() {
        return Taken::Unreadable("no counter".to_owned());
    }
    node.counters.push(Sourced::new(counters, item));
    Taken::Read
}
