//! FRR: its unit, its shell, its files.

use serde_json::Value;

use super::super::{Facts, Sourced, Taken};
use super::{Line, Node, failed};
use crate::backends::exit_node::model::FrrVrfs;
use crate::backends::exit_node::parse::frr as parse;
use crate::diagnose::evidence::{Item, Kind};

/// A configuration text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// Text, passwords masked.
    pub text: String,
    /// Its `vrf` blocks.
    pub vrfs: FrrVrfs,
}

/// A file of a directory listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Name.
    pub name: String,
    /// Day of its last change.
    pub day: jiff::civil::Date,
}

/// A VNI of `show evpn vni`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvpnVni {
    /// VNI.
    pub vni: u32,
    /// It is a layer-3 VNI.
    pub l3: bool,
    /// VRF it is bound to.
    pub vrf: Option<String>,
}

/// Counts of `show bgp l2vpn evpn vni`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vnis {
    /// Layer 2.
    pub l2: u32,
    /// Layer 3.
    pub l3: u32,
}

/// The file that the platform merges into `frr.conf` and never writes.
pub(super) const LOCAL: &str = "frr.conf.local";
/// Directory of FRR's files.
const DIR: &str = "/etc/frr";

/// `systemctl is-active frr`: any word is an answer, whatever the exit status.
pub(super) fn systemctl(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let frr = line.args.iter().any(|arg| arg == "frr" || arg == "frr.service");
    if !frr || line.args.first().map(String::as_str) != Some("is-active") {
        return Taken::NotMine;
    }
    match item.body.trim() {
        word if !word.is_empty() && !word.contains(char::is_whitespace) => {
            node.frr_unit = Some(Sourced::new(word.to_owned(), item));
            Taken::Read
        }
        _ => failed(item, exit, node),
    }
}

pub(super) fn vtysh(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let silent = [&item.body, &item.stderr].iter().any(|text| text.contains("failed to connect to any daemons"));
    if silent {
        node.frr_answers = Some(Sourced::new(false, item));
        return Taken::Read;
    }
    if exit != Some(0) {
        return failed(item, exit, node);
    }
    let shown: Vec<&str> = line.args.iter().filter(|arg| *arg != "-c").map(String::as_str).collect();
    let [shown] = shown.as_slice() else { return Taken::NotMine };
    node.frr_answers = Some(Sourced::new(true, item));
    match shown.trim() {
        "show running-config" | "show run" => config("running", item, node),
        "show evpn vni" => match evpn_text(&item.body) {
            Some(vnis) => put_vnis(vnis, item, node),
            None => Taken::Unreadable("no table of VNIs".to_owned()),
        },
        "show evpn vni json" => match super::json(item) {
            Ok(value) => put_vnis(evpn_json(&value), item, node),
            Err(taken) => taken,
        },
        "show bgp l2vpn evpn vni" => bgp(item, node),
        _ => Taken::Read,
    }
}

fn put_vnis(vnis: Vec<EvpnVni>, item: &Item, node: &mut Node) -> Taken {
    node.evpn_vnis = Some(Sourced::new(vnis, item));
    Taken::Read
}

/// Columns `VNI Type VxLAN-IF … Tenant-VRF`.
fn evpn_text(text: &str) -> Option<Vec<EvpnVni>> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (vni, kind) = (words.first()?.parse().ok()?, *words.get(1)?);
        let vrf = words.get(6).map(|vrf| (*vrf).to_owned());
        ["L2", "L3"].contains(&kind).then_some(EvpnVni { vni, l3: kind == "L3", vrf })
    };
    let mut lines = text.lines();
    lines.find(|line| line.starts_with("VNI"))?;
    Some(lines.filter_map(row).collect())
}

fn evpn_json(value: &Value) -> Vec<EvpnVni> {
    let row = |row: &Value| {
        Some(EvpnVni {
            vni: u32::try_from(row.get("vni")?.as_u64()?).ok()?,
            l3: row.get("type")?.as_str()? == "L3",
            vrf: row.get("tenantVrf").and_then(Value::as_str).map(str::to_owned),
        })
    };
    value.as_object().into_iter().flat_map(serde_json::Map::values).filter_map(row).collect()
}

fn bgp(item: &Item, node: &mut Node) -> Taken {
    let count = |name: &str| item.body.lines().find_map(|l| l.trim().strip_prefix(name)?.trim().parse().ok());
    match (count("Number of L2 VNIs:"), count("Number of L3 VNIs:")) {
        (Some(l2), Some(l3)) => {
            node.bgp_vnis = Some(Sourced::new(Vnis { l2, l3 }, item));
            Taken::Read
        }
        _ => Taken::Unreadable("no counts of VNIs".to_owned()),
    }
}

fn config(name: &str, item: &Item, node: &mut Node) -> Taken {
    let config = parse::config(&item.body);
    node.set_config(name, &config.text, config.vrfs, item);
    Taken::Read
}

fn file_of(path: &str) -> Option<&str> {
    path.strip_prefix(DIR)?.strip_prefix('/').filter(|name| !name.contains('/'))
}

/// Whether `said` of the file `what` means that there is no `frr.conf.local`.
pub(super) fn is_absent_local(what: &str, said: &str) -> bool {
    what.ends_with(LOCAL) && said.contains("No such file or directory")
}

/// `cat /etc/frr/FILE`.
pub(super) fn cat(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let [path] = line.args.as_slice() else { return Taken::NotMine };
    let Some(name) = file_of(path) else { return Taken::NotMine };
    if exit != Some(0) {
        if is_absent_local(name, &item.stderr) {
            node.set_config(LOCAL, "", FrrVrfs::default(), item);
            return Taken::Read;
        }
        return failed(item, exit, node);
    }
    config(name, item, node)
}

/// A file that was handed over as it is; its place begins the description.
pub(super) fn material(item: &Item, facts: &mut Facts) -> Taken {
    let Kind::Material(what) = &item.kind else { return Taken::NotMine };
    let Some(name) = what.split_whitespace().next().and_then(file_of) else { return Taken::NotMine };
    config(name, item, facts.nodes.entry(item))
}

/// `ls -l --time-style=long-iso /etc/frr`.
pub(super) fn ls(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let iso = line.args.iter().any(|arg| arg.contains("long-iso") || arg.contains("full-iso"));
    if !iso || !line.args.iter().any(|arg| arg.trim_end_matches('/') == DIR) {
        return Taken::NotMine;
    }
    if exit != Some(0) {
        return failed(item, exit, node);
    }
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let day = words.iter().position(|word| word.parse::<jiff::civil::Date>().is_ok())?;
        Some(Listed { name: (*words.last()?).to_owned(), day: words.get(day)?.parse().ok()? })
    };
    let files: Vec<Listed> = item.body.lines().filter_map(row).collect();
    node.frr_files = Some(Sourced::new(files, item));
    Taken::Read
}
