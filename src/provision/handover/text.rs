//! The sheet as Markdown.

use std::fmt::Write as _;

use super::{Machine, Names, Network, Part, Rule, Sheet, UpdateKey, ZoneState};

pub(super) fn of(sheet: &Sheet) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line(&format!("# Tenant {} on site {}", sheet.tenant, sheet.site));
    line("");
    line(&format!("As read {}. What could not be read says unknown, and why.", sheet.at.strftime("%Y-%m-%d %H:%MZ")));
    for late in &sheet.late {
        let read = late.read.map_or_else(
            || "was not read".to_owned(),
            |at| format!("is told as it was {}", at.strftime("%Y-%m-%d %H:%MZ")),
        );
        line(&format!("- {} {read}, and does not answer: {}", late.source, late.why));
    }
    line("");
    for state in &sheet.state {
        let words = if state.words.is_empty() || state.words == state.state {
            String::new()
        } else {
            format!(", {}", state.words)
        };
        line(&format!("- {}: {}{words}", state.part, state.state));
    }
    line("");
    network(&mut line, &sheet.network);
    names(&mut line, sheet);
    machines(&mut line, &sheet.workloads);
    perimeter(&mut line, sheet.perimeter.as_ref());
    out
}

/// Text of others in a table: no bar ends the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn part<T>(part: &Part<T>, known: impl FnOnce(&T) -> String) -> String {
    match part {
        Part::Known(value) => known(value),
        Part::Unknown { unknown } => format!("unknown: {unknown}"),
    }
}

fn network(line: &mut impl FnMut(&str), network: &Network) {
    line("## Network");
    line("");
    line(&format!("- index: {}", network.index));
    line(&format!("- VRF: {}, VNI {}", network.vrf, network.vrf_vni));
    line(&format!("- VNet: {}, tag {}", network.vnet, network.vnet_vni));
    line(&format!("- subnet: {}", network.subnet));
    line(&format!("- gateway: {}", network.gateway));
    if let (Some(first), Some(last)) = (network.first, network.last) {
        line(&format!("- addresses of workloads: {first} to {last}, ordinals 0 to {}", network.last_ordinal));
    }
    match network.resolver {
        Some(resolver) => line(&format!("- resolver of workloads: {resolver}")),
        None => line("- resolver of workloads: not named by the site file"),
    }
    line("");
}

fn zone(zone: &ZoneState) -> String {
    match &zone.served {
        Part::Known(true) => {
            let servers = part(&zone.nameservers, |servers| servers.join(", "));
            format!("{} (name servers: {servers})", zone.zone)
        }
        Part::Known(false) => format!("{} (absent)", zone.zone),
        Part::Unknown { unknown } => format!("{} (whether it is served is unknown: {unknown})", zone.zone),
    }
}

fn names(line: &mut impl FnMut(&str), sheet: &Sheet) {
    let names = &sheet.names;
    line("## Names");
    line("");
    line(&format!("- zone of names: {}", zone(&names.forward)));
    line(&format!("- zone of addresses: {}", zone(&names.reverse)));
    let Some(server) = &names.server else {
        line("- updates: the site file has no [powerdns]");
        line("");
        return;
    };
    let port = names.port.filter(|port| *port != 53).map_or_else(String::new, |port| format!(", port {port}"));
    line(&format!("- name server for updates: {server}{port}, over TCP"));
    match &names.key {
        Part::Unknown { unknown } => line(&format!("- update key: unknown: {unknown}")),
        Part::Known(key) => of_key(line, key),
    }
    line("");
    example(line, sheet, names, server);
}

fn of_key(line: &mut impl FnMut(&str), key: &UpdateKey) {
    line(&format!("- update key: {}, {}; its secret is handed over apart from this sheet", key.name, key.algorithm));
    if !key.also.is_empty() {
        line(&format!("- taken still, until the rotation ends: {}", key.also.join(", ")));
    }
    if !key.not_for.is_empty() {
        line(&format!("- NOT taken for: {}", key.not_for.join(", ")));
    }
    // The server's own list adds to the zone's (facts/dns.md §5), and is not read.
    match key.networks.as_slice() {
        [] => line("- updates may come from: the zone lists none; the server's own list counts besides"),
        all => line(&format!("- updates may come from: {}; and what the server's own list adds", all.join(", "))),
    }
}

/// How a record is made, with the key in a file: nothing of the secret is in it.
fn example(line: &mut impl FnMut(&str), sheet: &Sheet, names: &Names, server: &str) {
    let Part::Known(key) = &names.key else { return };
    let address = sheet.network.first.map_or_else(|| "ADDRESS".to_owned(), |address| address.to_string());
    let port = names.port.filter(|port| *port != 53).map_or_else(String::new, |port| format!(" {port}"));
    line(&format!("With the key in the file {}.key, mode 0600:", key.name));
    line("");
    let mut text = String::new();
    let forward = &names.forward.zone;
    // Writing into a text cannot fail.
    let _ = write!(
        text,
        "    nsupdate -v -k {}.key <<'EOF'\n    server {server}{port}\n    zone {forward}.\n    update delete www.{forward}. A\n    \
         update add www.{forward}. 300 A {address}\n    send\n    EOF",
        key.name
    );
    line(&text);
    line("");
}

fn machines(line: &mut impl FnMut(&str), machines: &Part<Vec<Machine>>) {
    line("## Workloads");
    line("");
    match machines {
        Part::Unknown { unknown } => line(&format!("unknown: {unknown}")),
        Part::Known(rows) if rows.is_empty() => line("None yet."),
        Part::Known(rows) => {
            line("| name | address | VM | state |");
            line("|---|---|---|---|");
            for row in rows {
                let address = part(&row.address, |address| {
                    address.map_or_else(|| "none configured".to_owned(), |address| address.to_string())
                });
                line(&format!("| {} | {} | {} | {} |", row.fqdn, cell(&address), row.vmid, cell(&row.status)));
            }
        }
    }
    line("");
}

fn perimeter(line: &mut impl FnMut(&str), rules: Option<&Part<Vec<Rule>>>) {
    line("## At the perimeter");
    line("");
    match rules {
        None => line("The site file names no perimeter."),
        Some(Part::Unknown { unknown }) => line(&format!("unknown: {unknown}")),
        Some(Part::Known(rows)) if rows.is_empty() => line("No rule meets this tenant's traffic."),
        Some(Part::Known(rows)) => {
            line("Rules that meet this tenant's traffic, the router's own aside; the first that matches decides.");
            line("");
            for (n, row) in rows.iter().enumerate() {
                let (from, to) = (&row.source, &row.destination);
                let purpose = if row.purpose.contains(" → ") { String::new() } else { format!(" ({})", row.purpose) };
                line(&format!("{}. {}: {from} to {to}, {}{purpose}", n + 1, row.action, row.service));
            }
        }
    }
}
