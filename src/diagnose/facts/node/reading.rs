//! The exit-node helper's own answer: one frame with everything, read as the console reads it.
//!
//! The command line names the questions: `deevnet-exit-node read NAME/DST/SRC/IIF …`, `-` for what is left out.

use std::net::Ipv4Addr;

use super::super::{Sourced, Taken};
use super::frr::LOCAL;
use super::{Asked, Conntrack, Forward, Line, Link, MAIN, Node, Unread, failed};
use crate::backends::exit_node::frame::Frame;
use crate::backends::exit_node::model::{self, Frr, FrrVrfs, Nat, NatEngine, Reading, Readout, UnreadKind};
use crate::backends::exit_node::{helper, reading};
use crate::diagnose::evidence::Item;

/// Exit status of ssh where it did not come through.
const SSH_FAILED: i32 = 255;

struct Question<'a> {
    name: &'a str,
    dst: Ipv4Addr,
    from: Option<Ipv4Addr>,
    iif: Option<&'a str>,
}

impl<'a> Question<'a> {
    fn parse(argument: &'a str) -> Option<Self> {
        let mut parts = argument.split('/');
        let (name, dst) = (parts.next()?, parts.next()?.parse().ok()?);
        let given = |part: Option<&'a str>| part.filter(|part| *part != "-");
        let (from, iif) = (given(parts.next()), given(parts.next()));
        Some(Self { name, dst, from: from.and_then(|f| f.parse().ok()), iif })
    }
}

pub(super) fn helper(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    match line.args.first().map(String::as_str) {
        Some("read") => {}
        // A round of probes that came to nothing; the node itself was read, or says why not.
        Some("probe") if item.body.is_empty() => return failed(item, exit, node),
        _ => return Taken::NotMine,
    }
    if item.body.is_empty() {
        if exit.is_none_or(|code| code == SSH_FAILED) {
            let why = item.stderr.lines().next().unwrap_or("no answer");
            node.unreachable = Some(Sourced::new(crate::text::clean(why).into_owned(), item));
            return Taken::Read;
        }
        return failed(item, exit, node);
    }
    let questions: Vec<Question<'_>> = line.args.iter().skip(1).filter_map(|arg| Question::parse(arg)).collect();
    let names: Vec<&str> = questions.iter().map(|q| q.name).collect();
    let versions = std::iter::once(helper::VERSION).chain(helper::OLDER);
    let frame = match versions.map(|version| Frame::parse(item.body.as_bytes(), version)).find_map(Result::ok) {
        Some(frame) => frame,
        None => return Taken::Unreadable("no whole frame of this version of the helper".to_owned()),
    };
    match reading(&item.from, &frame, &names) {
        Ok(reading) => {
            put(&reading, &questions, item, node);
            Taken::Read
        }
        Err(why) => Taken::Unreadable(why.to_string()),
    }
}

fn put(reading: &Reading, questions: &[Question<'_>], item: &Item, node: &mut Node) {
    if let Some(links) = reading.links.value() {
        node.links = Some(Sourced::new(links.iter().cloned().map(Link::from).collect(), item));
        node.links_whole = true;
    }
    if let Some(addresses) = reading.addresses.value() {
        node.addresses = Some(Sourced::new(addresses.clone(), item));
    }
    let tables = reading.vrf_routes.iter().map(|(vrf, routes)| (vrf.as_str(), routes));
    for (table, routes) in tables.chain([(MAIN, &reading.main_routes)]) {
        if let Some(routes) = routes.value() {
            node.tables.insert(table.to_owned(), Sourced::new(routes.clone(), item));
        }
    }
    for one in reading.neighbours.value().into_iter().flatten() {
        let states = Sourced::new(one.states.clone(), item);
        node.neighbours.entry((one.dev.clone(), one.ip)).or_default().push(states);
    }
    if let Some(set) = reading.forwarding.value() {
        node.forwarding = Some(Sourced::new(set.clone(), item));
    }
    if let Some(set) = reading.rp_filter.value() {
        node.rp_filter = Some(Sourced::new(set.clone(), item));
    }
    if let Some(counters) = reading.counters.value() {
        node.counters.push(Sourced::new(counters.clone(), item));
    }
    if let Some(conntrack) = reading.conntrack.value() {
        node.conntrack = Some(Sourced::new(Conntrack { count: conntrack.count, max: conntrack.max }, item));
        node.conntrack_drops.extend(conntrack.drop.map(|drop| Sourced::new(drop, item)));
    }
    put_frr(reading, item, node);
    if let Some(nat) = reading.nat.value() {
        put_nat(nat, item, node);
    }
    let answers = reading.lookups.value().map(|all| &all.by_name);
    for question in questions {
        let Some(answer) = answers.and_then(|all| all.get(question.name)) else { continue };
        let asked = Asked {
            dst: question.dst,
            from: question.from,
            iif: question.iif.map(str::to_owned),
            vrf: None,
            answer: answer.clone(),
        };
        node.lookups.push(Sourced::new(asked, item));
    }
    for unread in reading.unread().into_iter().filter(|unread| !no_local_file(unread)) {
        let unread = Unread { what: unread.what.clone(), why: unread.why.clone() };
        node.unread.push(Sourced::new(unread, item));
    }
}

fn put_frr(reading: &Reading, item: &Item, node: &mut Node) {
    if let Some(Frr { unit, daemons_answer, .. }) = reading.frr.value() {
        node.frr_unit = Some(Sourced::new(unit.clone(), item));
        if let Some(answer) = daemons_answer {
            node.frr_answers = Some(Sourced::new(*answer, item));
        }
    }
    for (name, config) in [("frr.conf", &reading.frr_conf), (LOCAL, &reading.frr_local)] {
        if let Readout::Value(config) = config {
            node.set_config(name, &config.text, config.vrfs.clone(), item);
        }
    }
    if reading.frr_local.unread().is_some_and(no_local_file) {
        node.set_config(LOCAL, "", FrrVrfs::default(), item);
    }
}

/// Whether it says that there is no `frr.conf.local`: few nodes have one, and what is not there holds nothing.
fn no_local_file(unread: &model::Unread) -> bool {
    unread.kind == UnreadKind::Missing && super::frr::is_absent_local(&unread.what, &unread.why)
}

fn put_nat(nat: &Nat, item: &Item, node: &mut Node) {
    for engine in [NatEngine::Nft, NatEngine::Legacy] {
        let rules: Vec<_> = nat.snat.iter().filter(|rule| rule.engine == engine).cloned().collect();
        if engine == NatEngine::Nft || nat.legacy_read {
            node.snat.insert(engine, Sourced::new(rules, item));
        }
    }
    node.legacy_hidden = nat.legacy_in_use && !nat.legacy_read;
    let forward = Forward { policy: nat.forward_policy.clone(), rules: nat.forward_rules.clone() };
    node.forward.insert(NatEngine::Nft, Sourced::new(forward, item));
}
