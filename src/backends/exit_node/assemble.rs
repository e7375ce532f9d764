//! From a frame to a [`Reading`]: each part is parsed by itself, and what failed says why, in the operator's words.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::clean;
use super::frame::{Code, Frame, Part};
use super::model::NEEDS_ROOT;
use super::model::{
    Conntrack, Frr, FrrConfig, Link, Lookup, Lookups, Nat, NatEngine, Reading, Readout, Route, Tracked, Unread,
    UnreadKind,
};
use super::parse::{NotUnderstood, batch, flows, frr, links, lookup, nat, neigh, proc, routes, rules};

/// Commands at the head of the batch, before the lookups; `helper.sh`, `read_command`.
const BATCH: [&str; 4] = ["ip -j -d -s addr", "ip -j rule", "ip -j route show table all", "ip -j neigh"];

/// Code of `timeout` when it had to end the command.
const TIMED_OUT: [i32; 2] = [124, 137];
const NOT_FOUND: i32 = 127;

type Read<T> = Result<T, Unread>;

/// The reading in `frame` of the node that the site file calls `node`. `asked` are the lookups' names in order.
///
/// # Errors
/// When the frame does not say who read it and when: nothing else in it can be trusted then.
pub fn reading(node: &str, frame: &Frame, asked: &[&str]) -> Result<Reading, NotUnderstood> {
    let meta = Meta::parse(frame)?;
    let batch = Batch::parse(frame, asked);
    let links = batch.take(0, links::links);
    let proc_files = text(frame, "proc", "/proc", true).map(proc::parse);
    let from_proc = |what: &str| -> Read<&proc::Proc> {
        proc_files.as_ref().map_err(|unread| Unread { what: what.to_owned(), ..unread.clone() })
    };
    let routes = batch.take(2, routes::routes);
    Ok(Reading {
        node: node.to_owned(),
        at: meta.began,
        helper: frame.version,
        user: meta.user,
        privileged: meta.privileged,
        kernel: readout(from_proc("uname -r").and_then(|p| present(p.kernel.clone(), "uname -r"))),
        hostname: readout(from_proc("hostname").and_then(|p| present(p.hostname.clone(), "hostname"))),
        addresses: readout(batch.take(0, links::addresses)),
        rules: readout(batch.take(1, rules::rules)),
        main_routes: readout(routes.clone().map(|all| of_table(&all, routes::MAIN, &BTreeMap::new()))),
        vrf_routes: vrf_routes(frame, links.as_ref().map_or(&[], Vec::as_slice), &routes),
        links: readout(links),
        neighbours: readout(batch.take(3, neigh::neighbours)),
        forwarding: readout(
            from_proc("/proc/sys/net/ipv4/conf/*/forwarding").and_then(|p| setting(&p.forwarding, p, "forwarding")),
        ),
        rp_filter: readout(
            from_proc("/proc/sys/net/ipv4/conf/*/rp_filter").and_then(|p| setting(&p.rp_filter, p, "rp_filter")),
        ),
        frr: readout(frr_state(frame)),
        frr_conf: readout(frr_config(frame, "frr-conf", "/etc/frr/frr.conf")),
        frr_local: readout(frr_config(frame, "frr-local", "/etc/frr/frr.conf.local")),
        nat: readout(nat_state(frame)),
        conntrack: readout(from_proc("/proc/sys/net/netfilter/nf_conntrack_*").and_then(conntrack)),
        counters: readout(from_proc("/proc/net/snmp").and_then(|p| {
            let found = (!p.counters.is_empty()).then(|| p.counters.clone());
            present(found, "/proc/net/snmp")
        })),
        lookups: readout(batch.lookups(asked)),
        sdn_version: readout(sdn_version(frame)),
        flows: BTreeMap::new(),
    })
}

/// The flows in `frame` of the prefixes that were asked for, in their order.
pub fn flows(frame: &Frame, prefixes: &[Ipv4Net]) -> BTreeMap<Ipv4Net, Readout<Tracked>> {
    let of = |(n, prefix): (usize, &Ipv4Net)| {
        let what = format!("conntrack -L -s {prefix}");
        let parsed = text(frame, &format!("flows{n}"), &what, false);
        (*prefix, readout(parsed.and_then(|text| flows::tracked(text).map_err(unparsable(&what)))))
    };
    prefixes.iter().enumerate().map(of).collect()
}

fn readout<T>(result: Read<T>) -> Readout<T> {
    match result {
        Ok(value) => Readout::Value(value),
        Err(unread) => Readout::Unread(unread),
    }
}

fn unread(what: &str, kind: UnreadKind, why: impl Into<String>) -> Unread {
    Unread { what: what.to_owned(), why: why.into(), kind }
}

fn unparsable(what: &str) -> impl Fn(NotUnderstood) -> Unread + '_ {
    move |why| unread(what, UnreadKind::Unparsable, clean::clean(&why.0))
}

fn present<T>(value: Option<T>, what: &str) -> Read<T> {
    value.ok_or_else(|| unread(what, UnreadKind::Missing, "not there"))
}

/// The stdout of a part that succeeded, or that `tolerates` failing codes when it printed something.
fn text<'a>(frame: &'a Frame, name: &str, what: &str, tolerates: bool) -> Read<&'a str> {
    let part = part(frame, name, what)?;
    let ended_well =
        part.code == Code::Exit(0) || (tolerates && matches!(part.code, Code::Exit(1 | 2)) && !part.out.is_empty());
    if !ended_well {
        return Err(failure(part, what));
    }
    std::str::from_utf8(&part.out).map_err(|_| unread(what, UnreadKind::Unparsable, "it is not text"))
}

fn part<'a>(frame: &'a Frame, name: &str, what: &str) -> Read<&'a Part> {
    frame.parts.get(name).ok_or_else(|| unread(what, UnreadKind::Missing, "the helper did not send it"))
}

/// `FILE: WORDS` without the file where it is `what`, wherever the node keeps it: the reason stands behind its name.
fn without_path(words: String, what: &str) -> String {
    match words.split_once(": ") {
        Some((file, rest)) if what.starts_with('/') && file.ends_with(what) => rest.to_owned(),
        _ => words,
    }
}

/// Why a part failed. Its words decide between a missing right, a missing file and any other failure.
fn failure(part: &Part, what: &str) -> Unread {
    let words = without_path(clean::first_line(&part.err), what);
    let said = |needles: &[&str]| needles.iter().any(|needle| part.err.contains(needle));
    let denied = ["Permission denied", "Operation not permitted", "you must be root", "sudo: "];
    let kind = match part.code {
        Code::Denied => UnreadKind::Denied,
        Code::Missing | Code::Exit(NOT_FOUND) => UnreadKind::Missing,
        Code::Exit(code) if TIMED_OUT.contains(&code) => UnreadKind::TimedOut,
        Code::Exit(_) if said(&denied) => UnreadKind::Denied,
        Code::Exit(_) if said(&["No such file or directory"]) => UnreadKind::Missing,
        Code::Exit(_) => UnreadKind::Failed,
    };
    let why = match (kind, part.code) {
        (UnreadKind::Denied, _) => format!("{NEEDS_ROOT} ({words})"),
        (UnreadKind::TimedOut, _) => "took too long".to_owned(),
        (_, Code::Exit(code)) if words.is_empty() => format!("exit code {code}"),
        _ => words,
    };
    unread(what, kind, why)
}

struct Meta {
    began: Timestamp,
    user: String,
    privileged: bool,
}

impl Meta {
    fn parse(frame: &Frame) -> Result<Self, NotUnderstood> {
        let wrong = |what: &str| NotUnderstood(format!("its part meta has no {what}"));
        let part = frame.parts.get("meta").ok_or_else(|| wrong("text"))?;
        let text = String::from_utf8_lossy(&part.out);
        let fields: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(' ')).collect();
        let field = |name: &str| fields.get(name).copied();
        let began = field("began").and_then(stamp).ok_or_else(|| wrong("time"))?;
        let user = field("user").map(clean::clean).ok_or_else(|| wrong("user"))?;
        // Allowed to use sudo at all does not say for what.
        let by_sudo = || frame.parts.get("nft").is_some_and(|part| part.code == Code::Exit(0));
        let privileged = field("euid") == Some("0") || (field("sudo") == Some("1") && by_sudo());
        Ok(Self { began, user, privileged })
    }
}

/// `date +%s.%N`; busybox leaves `%N` as it is or prints nothing for it.
fn stamp(text: &str) -> Option<Timestamp> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    Timestamp::new(seconds.parse().ok()?, fraction.parse().unwrap_or(0)).ok()
}

struct Batch {
    answers: Read<Vec<Result<Box<RawValue>, String>>>,
}

impl Batch {
    fn parse(frame: &Frame, asked: &[&str]) -> Self {
        let answers = part(frame, "ip", "ip -j -batch").and_then(|part| match part.code {
            // 1 says that some line failed, and stderr says which.
            Code::Exit(0 | 1) => {
                let out = String::from_utf8_lossy(&part.out);
                batch::parse(&out, &part.err, BATCH.len() + asked.len()).map_err(unparsable("ip -j -batch"))
            }
            _ => Err(failure(part, "ip -j -batch")),
        });
        Self { answers }
    }

    fn answer(&self, index: usize, what: &str) -> Read<&Result<Box<RawValue>, String>> {
        let answers = self.answers.as_ref().map_err(|why| Unread { what: what.to_owned(), ..why.clone() })?;
        answers.get(index).ok_or_else(|| unread(what, UnreadKind::Missing, "no answer"))
    }

    /// The rows of a document, taken apart one by one: the links of a large node are 8 MiB as one tree.
    fn take<T>(&self, index: usize, parse: impl Fn(&Value) -> Result<Vec<T>, NotUnderstood>) -> Read<Vec<T>> {
        let what = BATCH.get(index).copied().unwrap_or("ip");
        let document = match self.answer(index, what)? {
            Ok(document) => document,
            Err(words) => return Err(unread(what, UnreadKind::Failed, words.clone())),
        };
        let Ok(rows) = serde_json::from_str::<Vec<&RawValue>>(document.get()) else {
            return tree(document).and_then(|tree| parse(&tree)).map_err(unparsable(what));
        };
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            let one = tree(row).and_then(|row| parse(&Value::Array(vec![row])));
            out.extend(one.map_err(unparsable(what))?);
        }
        Ok(out)
    }

    fn lookups(&self, asked: &[&str]) -> Read<Lookups> {
        self.answers.as_ref().map_err(|why| Unread { what: "ip -j route get".to_owned(), ..why.clone() })?;
        let mut by_name = BTreeMap::new();
        for (index, name) in asked.iter().enumerate() {
            let answer = match self.answer(BATCH.len() + index, "ip -j route get")? {
                Ok(document) => tree(document).map_or_else(|why| Lookup::Error(why.0), |tree| lookup::lookup(&tree)),
                Err(words) => Lookup::Error(words.clone()),
            };
            by_name.insert((*name).to_owned(), answer);
        }
        Ok(Lookups { by_name })
    }
}

/// A document taken apart; as short-lived as it can be.
fn tree(document: &RawValue) -> Result<Value, NotUnderstood> {
    serde_json::from_str(document.get()).map_err(|e| NotUnderstood::new(format!("not JSON: {e}")))
}

fn of_table(all: &[routes::InTable], number: u32, names: &BTreeMap<String, u32>) -> Vec<Route> {
    let inside = all.iter().filter(|(table, _)| routes::table_number(table.as_deref(), names) == Some(number));
    let mut routes: Vec<Route> = inside.map(|(_, route)| route.clone()).collect();
    routes.shrink_to_fit();
    routes
}

/// Routes of each VRF, found by the number of its table: names differ by who made them.
fn vrf_routes(
    frame: &Frame,
    links: &[Link],
    all: &Read<Vec<routes::InTable>>,
) -> BTreeMap<String, Readout<Vec<Route>>> {
    let mut names = text(frame, "tables", "rt_tables", true).map(routes::table_names).unwrap_or_default();
    let vrfs: Vec<(&str, u32)> = links.iter().filter_map(|link| Some((link.name.as_str(), link.vrf_table?))).collect();
    // A VRF may also give its name to its table without an entry in any file.
    for (name, table) in &vrfs {
        names.entry((*name).to_owned()).or_insert(*table);
    }
    let routes_of = |(name, table): (&str, u32)| {
        let what = format!("ip -j route show vrf {name}");
        let routes = all.as_ref().map(|all| of_table(all, table, &names));
        (name.to_owned(), readout(routes.map_err(|why| Unread { what, ..why.clone() })))
    };
    vrfs.into_iter().map(routes_of).collect()
}

fn setting<T: Clone>(values: &BTreeMap<String, T>, proc: &proc::Proc, name: &str) -> Read<BTreeMap<String, T>> {
    let what = format!("/proc/sys/net/ipv4/conf/*/{name}");
    match &proc.odd {
        Some(path) if path.ends_with(name) => Err(unread(path, UnreadKind::Unparsable, "not a number")),
        _ if values.is_empty() => Err(unread(&what, UnreadKind::Missing, "not there")),
        _ => Ok(values.clone()),
    }
}

fn conntrack(proc: &proc::Proc) -> Read<Conntrack> {
    let (Some(count), Some(max), Some(acct)) = (proc.conntrack_count, proc.conntrack_max, proc.conntrack_acct) else {
        let why = "connection tracking is not loaded, or its settings cannot be seen";
        return Err(unread("/proc/sys/net/netfilter/nf_conntrack_*", UnreadKind::Missing, why));
    };
    let stat = |column: &str| proc.conntrack_stat.get(column).copied();
    Ok(Conntrack { count, max, acct, drop: stat("drop"), early_drop: stat("early_drop") })
}

fn frr_state(frame: &Frame) -> Read<Frr> {
    let what = "systemctl is-active frr";
    let unit_part = part(frame, "unit", what)?;
    let unit = clean::first_line(&String::from_utf8_lossy(&unit_part.out));
    let (version, daemons_answer, vtysh_unread) = vtysh(frame)?;
    // Any code goes with a word: inactive, failed, activating.
    let unit = match (unit.is_empty() || unit.contains(' '), daemons_answer) {
        (false, _) => unit,
        (true, Some(_)) => "unknown".to_owned(),
        (true, None) => return Err(failure(unit_part, what)),
    };
    Ok(Frr { unit, version, daemons_answer, vtysh_unread })
}

/// Version, whether the daemons answer, and why that cannot be told.
fn vtysh(frame: &Frame) -> Read<(Option<String>, Option<bool>, Option<Unread>)> {
    let what = "vtysh -c 'show version'";
    let vtysh = part(frame, "vtysh", what)?;
    let said = String::from_utf8_lossy(&vtysh.out);
    let version = frr::version(&said).filter(|_| vtysh.code == Code::Exit(0));
    let silent = [said.as_ref(), &vtysh.err].iter().any(|text| text.contains("failed to connect to any daemons"));
    Ok(match version {
        Some(version) => (Some(version), Some(true), None),
        None if silent => (None, Some(false), None),
        None if vtysh.code == Code::Exit(0) => {
            (None, None, Some(unread(what, UnreadKind::Unparsable, "no version in its answer")))
        }
        None => (None, None, Some(vtysh_failure(vtysh, what))),
    })
}

/// vtysh needs a group rather than root.
fn vtysh_failure(part: &Part, what: &str) -> Unread {
    let mut why = failure(part, what);
    if why.kind == UnreadKind::Denied || part.err.contains("vtysh.conf") {
        why.kind = UnreadKind::Denied;
        why.why = format!("needs group frrvty or root on the node ({})", clean::first_line(&part.err));
    }
    why
}

fn frr_config(frame: &Frame, name: &str, path: &str) -> Read<FrrConfig> {
    text(frame, name, path, false).map(frr::config)
}

fn nat_state(frame: &Frame) -> Read<Nat> {
    let what = "iptables-save -c";
    let save = nat::parse(text(frame, "nft", what, false)?).map_err(unparsable(what))?;
    let warned = part(frame, "nft", what)?.err.contains("iptables-legacy tables present");
    // Without iptables-nft-save, iptables-save is whichever engine the node has chosen.
    let engine = if save.nft == Some(false) { NatEngine::Legacy } else { NatEngine::Nft };
    let mut state = Nat {
        snat: save.snat(engine),
        forward_policy: save.forward_policy().map(str::to_owned),
        forward_rules: save.forward_rules().map(str::to_owned).collect(),
        legacy_in_use: warned || (engine == NatEngine::Legacy && save.has_rules()),
        legacy_read: engine == NatEngine::Legacy,
        legacy_unread: None,
    };
    if engine == NatEngine::Nft {
        add_legacy(frame, &mut state);
    }
    Ok(state)
}

fn add_legacy(frame: &Frame, state: &mut Nat) {
    let what = "iptables-legacy-save -c";
    let legacy = text(frame, "legacy", what, false).and_then(|text| nat::parse(text).map_err(unparsable(what)));
    match legacy {
        Ok(save) => {
            state.legacy_read = true;
            state.legacy_in_use |= save.has_rules();
            state.snat.extend(save.snat(NatEngine::Legacy));
            state.forward_rules.extend(save.forward_rules().map(str::to_owned));
            // A packet passes both engines: either one's DROP drops it.
            if let Some(policy) =
                save.forward_policy().filter(|policy| state.forward_policy.is_none() || *policy != "ACCEPT")
            {
                state.forward_policy = Some(policy.to_owned());
            }
        }
        Err(why) => state.legacy_unread = Some(why),
    }
}

fn sdn_version(frame: &Frame) -> Read<u64> {
    let what = "/etc/network/interfaces.d/sdn";
    let line = text(frame, "sdn", what, false)?.lines().next().unwrap_or_default();
    let version = line.strip_prefix("#version:").and_then(|v| v.trim().parse().ok());
    version.ok_or_else(|| unread(what, UnreadKind::Unparsable, "its first line is not #version:N"))
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
