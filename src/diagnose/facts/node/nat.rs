//! iptables in the forms people list it in; all are turned into what `iptables-save -c` prints and read by its parser.

use super::super::{Sourced, Taken};
use super::{CtZone, Forward, Line, Node, failed};
use crate::backends::exit_node::model::NatEngine;
use crate::backends::exit_node::parse::nat::{Save, parse};
use crate::diagnose::evidence::Item;

/// `iptables-save [-c] [-t TABLE]`.
pub(super) fn save(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    if exit != Some(0) {
        return failed(item, exit, node);
    }
    let table = line.option("-t").or_else(|| line.option("--table"));
    put(item, line, &item.body, table, None, node)
}

/// `iptables [-t TABLE] -S|-L [CHAIN]`.
pub(super) fn iptables(item: &Item, line: &Line, exit: Option<i32>, node: &mut Node) -> Taken {
    let option = |arg: &str, letter: char| arg.starts_with('-') && !arg.starts_with("--") && arg.contains(letter);
    let listing = line.args.iter().find(|arg| option(arg, 'S') || option(arg, 'L'));
    let Some(listing) = listing else { return Taken::NotMine };
    if exit != Some(0) {
        return failed(item, exit, node);
    }
    let table = line.option("-t").or_else(|| line.option("--table")).unwrap_or("filter");
    let chain = line.option(listing).filter(|chain| !chain.starts_with('-'));
    let body = if listing.contains('S') { from_spec(&item.body) } else { from_list(&item.body) };
    put(item, line, &format!("*{table}\n{body}COMMIT\n"), Some(table), chain, node)
}

fn put(item: &Item, line: &Line, text: &str, table: Option<&str>, chain: Option<&str>, node: &mut Node) -> Taken {
    let save = match parse(text) {
        Ok(save) => save,
        Err(why) => return Taken::Unreadable(why.to_string()),
    };
    let legacy = line.program.contains("legacy") || save.nft == Some(false);
    let engine = if legacy { NatEngine::Legacy } else { NatEngine::Nft };
    if item.stderr.contains("iptables-legacy tables present") {
        node.legacy_hidden = true;
    }
    let shows = |name: &str, of: &str| table.is_none_or(|t| t == name) && chain.is_none_or(|c| c == of);
    if shows("nat", "POSTROUTING") {
        node.snat.insert(engine, Sourced::new(save.snat(engine), item));
    }
    if shows("filter", "FORWARD") {
        let forward = Forward {
            policy: save.forward_policy().map(str::to_owned),
            rules: save.forward_rules().map(str::to_owned).collect(),
        };
        node.forward.insert(engine, Sourced::new(forward, item));
    }
    if shows("raw", "PREROUTING") && engine == NatEngine::Nft {
        node.ct_zones = Some(Sourced::new(ct_zones(&save), item));
    }
    if engine == NatEngine::Legacy && table.is_none_or(|t| t == "nat") {
        node.legacy_hidden = false;
    }
    Taken::Read
}

fn ct_zones(save: &Save) -> Vec<CtZone> {
    let zone = |(packets, text): (u64, &str)| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let after = |key: &str| words.iter().position(|w| *w == key).and_then(|at| words.get(at + 1)).copied();
        (after("-j") == Some("CT") && after("--zone").is_some())
            .then(|| CtZone { interface: after("-i").unwrap_or("+").to_owned(), packets: Some(packets) })
    };
    save.chain_rules("raw", "PREROUTING").filter_map(zone).collect()
}

/// `-S`: policies as `-P CHAIN POLICY`, own chains as `-N CHAIN`, rules as they are.
fn from_spec(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        out += &match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["-P", chain, policy, ..] => format!(":{chain} {policy} [0:0]"),
            ["-N", chain, ..] => format!(":{chain} - [0:0]"),
            _ => line.to_owned(),
        };
        out.push('\n');
    }
    out
}

/// `-nvL`: a heading and a line of column names for each chain, then rules in columns.
fn from_list(text: &str) -> String {
    let mut out = String::new();
    let mut chain = String::new();
    let mut numbered = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["Chain", name, rest @ ..] => {
                chain = (*name).to_owned();
                let policy = rest.iter().position(|w| *w == "(policy").and_then(|at| rest.get(at + 1));
                let policy = policy.map_or("-", |p| p.trim_end_matches(')'));
                out += &format!(":{chain} {policy} [0:0]\n");
            }
            ["num", ..] => numbered = true,
            ["pkts", ..] => numbered = false,
            row => {
                let row = row.get(usize::from(numbered)..).unwrap_or_default();
                out += &listed(&chain, row).unwrap_or_else(|| line.to_owned());
                out.push('\n');
            }
        }
    }
    out
}

/// A row of `-nvL` as a rule. Its matches behind the columns stay as they are, behind a mark that narrows the rule.
fn listed(chain: &str, row: &[&str]) -> Option<String> {
    let [pkts, bytes, target, prot, _opt, inside, outside, source, destination, extra @ ..] = row else { return None };
    let mut rule = format!("[{}:{}] -A {chain}", count(pkts)?, count(bytes)?);
    let mut add = |key: &str, value: &str, any: &[&str]| {
        if !any.contains(&value) {
            match value.strip_prefix('!') {
                Some(value) => rule += &format!(" ! {key} {value}"),
                None => rule += &format!(" {key} {value}"),
            }
        }
    };
    add("-s", source, &["0.0.0.0/0"]);
    add("-d", destination, &["0.0.0.0/0"]);
    add("-i", inside, &["*"]);
    add("-o", outside, &["*"]);
    add("-p", prot, &["all", "0"]);
    let to = extra.iter().find_map(|word| word.strip_prefix("to:"));
    let zone = extra.iter().position(|w| *w == "zone").and_then(|at| extra.get(at + 1));
    let matches = extra.iter().any(|w| !w.starts_with("to:") && !["CT", "zone"].contains(w) && Some(w) != zone);
    if matches {
        rule += " -m listed";
    }
    rule += &format!(" -j {target}");
    match (*target, to, zone) {
        ("SNAT", Some(to), _) => rule += &format!(" --to-source {to}"),
        ("CT", _, Some(zone)) => rule += &format!(" --zone {zone}"),
        _ => {}
    }
    Some(rule)
}

/// `81K`, `9021M`: without `-x` counts are rounded.
fn count(text: &str) -> Option<u64> {
    let (digits, by) = match text.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(digits) if text.ends_with('K') => (digits, 1_000),
        Some(digits) if text.ends_with('M') => (digits, 1_000_000),
        Some(digits) if text.ends_with('G') => (digits, 1_000_000_000),
        Some(digits) => (digits, 1_000_000_000_000),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_columns_is_a_save() {
        let text = "Chain POSTROUTING (policy ACCEPT 3 packets, 9 bytes)\n\
             num   pkts bytes target     prot opt in     out     source               destination\n\
             1      97K  5820 SNAT       all  --  *      vmbr1   10.9.0.0/24          0.0.0.0/0            to:192.0.2.1\n\
             2        1    60 SNAT       tcp  --  *      vmbr1   10.9.1.0/24          0.0.0.0/0            tcp dpt:80 to:192.0.2.1\n";
        let save = parse(&format!("*nat\n{}COMMIT\n", from_list(text))).unwrap();
        let rules = save.snat(NatEngine::Nft);
        assert_eq!((rules[0].new_connections, rules[0].is_narrowed(), rules[1].is_narrowed()), (97_000, false, true));
        assert_eq!(rules[0].to_source, "192.0.2.1".parse().ok());
    }

    #[test]
    fn zones_of_tracking_and_specs() {
        let list = "Chain PREROUTING (policy ACCEPT 81K packets, 9021K bytes)\n pkts bytes target prot opt in out source destination\n\
                    0 0 CT all -- fwbr+ * 0.0.0.0/0 0.0.0.0/0 CT zone 1\n";
        let save = parse(&format!("*raw\n{}COMMIT\n", from_list(list))).unwrap();
        assert_eq!(ct_zones(&save), [CtZone { interface: "fwbr+".into(), packets: Some(0) }]);
        let spec = from_spec("-P FORWARD DROP\n-N X\n-A FORWARD -j X\n");
        assert_eq!(parse(&format!("*filter\n{spec}COMMIT\n")).unwrap().forward_policy(), Some("DROP"));
    }
}
