//! All of a lab that a change may leave behind, in words that are equal for equal sites. What is new every time, a UUID, a
//! serial, a secret, the time, is left out.

use std::collections::BTreeMap;

use deevnet_console::lab::names::Zone;
use deevnet_console::lab::node::files::{Entry, files};
use deevnet_console::lab::sdn::Kind;
use deevnet_console::lab::state::{Guest, World};

pub fn state(world: &World) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut put = |key: String, value: String| {
        assert!(all.insert(key.clone(), value).is_none(), "{key} twice");
    };
    for (view, tree) in [("configured", &world.sdn.configured), ("running", &world.sdn.running)] {
        for (kind, id, object) in tree.all() {
            // Proxmox rolls a MAC for each new zone.
            let kept: BTreeMap<_, _> = object.iter().filter(|(key, _)| *key != "mac").collect();
            put(format!("sdn {view} {kind:?} {id}"), serde_json::to_string(&kept).unwrap());
        }
    }
    put("sdn lock".to_owned(), world.sdn.lock.is_some().to_string());
    for node in &world.nodes {
        let here: Vec<String> = world.loaded(&node.name).all().map(|(kind, id, _)| format!("{kind:?} {id}")).collect();
        put(format!("node {}", node.name), format!("{here:?} {:?}", node.vnet_errors));
    }
    for (vmid, guest) in &world.guests {
        put(format!("guest {vmid}"), guest_text(guest));
    }
    for (name, zone) in &world.names.zones {
        put(format!("zone {name}"), zone_text(zone));
    }
    for (name, key) in &world.names.keys {
        put(format!("key {name}"), key.algorithm.clone());
    }
    let row = |row: &deevnet_console::lab::perimeter::Forward| {
        format!("{} {} {} {} {:?} {}", row.domain, row.server, row.port, row.enabled, row.kind, row.description)
    };
    for (view, rows) in [("saved", world.perimeter.forwards.as_slice()), ("in force", world.perimeter.running())] {
        let mut rows: Vec<String> = rows.iter().map(row).collect();
        rows.sort();
        put(format!("forwards {view}"), rows.join("\n"));
    }
    put("perimeter".to_owned(), format!("{:?} {:?}", world.perimeter.rules, world.perimeter.aliases));
    let now = world.booted;
    let mut on_node = files(world, now);
    for name in ["etc/frr/frr.conf.local", "etc/frr/frr.conf"] {
        match on_node.remove(name) {
            Some(Entry::Text(text)) => put(name.to_owned(), text),
            other => panic!("{name}: {other:?}"),
        }
    }
    for zone in world.exit.vrfs.keys() {
        let vrf = world.exit.vrf(zone);
        // Of a zone that is not there nothing is running, and the file is compared by itself.
        if world.sdn.running.get(Kind::Zone, zone).is_some() {
            put(format!("vrf {zone}"), format!("{vrf:?}"));
        }
    }
    put("registry".to_owned(), format!("{:?}", world.registry.tenants));
    all
}

fn guest_text(guest: &Guest) -> String {
    let fresh = ["vmgenid", "meta", "digest"];
    let mut config: Vec<String> = guest
        .config
        .iter()
        .filter(|(key, _)| !fresh.contains(&key.as_str()))
        .map(|(key, value)| {
            let text = value.to_string();
            let kept = text.trim_matches('"').split(',').filter(|part| !part.starts_with("uuid="));
            format!("{key}={}", kept.collect::<Vec<_>>().join(","))
        })
        .collect();
    config.sort();
    format!(
        "{} {config:?} {:?} {} {:?} {}",
        guest.node,
        guest.pending,
        guest.started.is_some(),
        guest.address,
        guest.template
    )
}

fn zone_text(zone: &Zone) -> String {
    let sets = zone.rrsets.iter().map(|((name, kind), set)| {
        let records = set.records.iter().map(|(content, disabled)| {
            let words: Vec<&str> = content.split(' ').collect();
            let content = if kind == "SOA" { words[..2].join(" ") } else { content.clone() };
            format!("{content} {disabled}")
        });
        let mut records: Vec<String> = records.collect();
        records.sort();
        format!("{name} {kind} {} {records:?}", set.ttl)
    });
    let sets: Vec<String> = sets.collect();
    let account = &zone.account;
    format!("{account} {} {:?} {sets:#?} {:?}", zone.copy, zone.soa_edit_api, zone.metadata)
}

/// What differs, a line each.
pub fn differs(wanted: &BTreeMap<String, String>, got: &BTreeMap<String, String>) -> Vec<String> {
    let keys: std::collections::BTreeSet<&String> = wanted.keys().chain(got.keys()).collect();
    let differing = keys.into_iter().filter(|key| wanted.get(*key) != got.get(*key));
    differing.map(|key| format!("{key}: wanted {:?}, is {:?}", wanted.get(key), got.get(key))).collect()
}

/// Whether a line of [`differs`] is about the very thing that is named as left: a machine by its number, a key by its name, the
/// lock, something of the fabric, a set of records that its zone has besides, a forward that the
/// router has besides. Nothing else is ever left that a change made.
#[allow(dead_code, reason = "not every test that looks at the end compares it")]
pub fn shows(line: &str, left: &str) -> bool {
    let of = |kind: &str, ends: char| Some(left.strip_prefix(kind)?.split(ends).next()?.to_owned());
    let machine = of("VM ", ' ').map(|number| format!("guest {number}:"));
    let key = of("TSIG key ", ':').map(|name| format!("key {name}:"));
    let lock = of("the SDN ", ':').filter(|what| what == "lock").map(|_| "sdn lock:".to_owned());
    let place = machine.or(key).or(lock).is_some_and(|place| line.starts_with(&place));
    place || is_of_fabric(line, left) || is_one_more(line, left) || is_one_row(line, left)
}

/// Whether a line is about that zone, VNet or subnet of the fabric.
fn is_of_fabric(line: &str, left: &str) -> bool {
    let parts = || {
        let (id, _) = line.strip_prefix("sdn ")?.split_once(": wanted ")?;
        let (_, id) = id.split_once(' ')?;
        Some((id, left.split_once(": ")?.0.split(' ').collect::<Vec<_>>()))
    };
    let Some((id, left)) = parts() else { return false };
    match left[..] {
        ["zone", name] => id == format!("Zone {name}"),
        ["VNet", name] => id == format!("Vnet {name}"),
        ["subnet", net, "of", _] => id.starts_with("Subnet ") && id.ends_with(&format!("-{}", net.replace('/', "-"))),
        _ => false,
    }
}

/// Whether the router has one forward besides, which is that one, and all others as wanted.
fn is_one_row(line: &str, left: &str) -> bool {
    let parts = || {
        let domain = left.strip_prefix("forward ")?.split(':').next()?;
        let (wanted, is) = line.strip_prefix("forwards ")?.split_once(": wanted ")?.1.split_once(", is ")?;
        Some((format!("{domain} "), wanted, is))
    };
    parts().is_some_and(|(row, wanted, is)| is_besides(wanted, is, |part| part.starts_with(&row)))
}

/// Whether the one holds all lines of the other and a single one besides, of that kind.
fn is_besides(wanted: &str, is: &str, of: impl Fn(&str) -> bool) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let text = text.strip_prefix("Some(\"").and_then(|text| text.strip_suffix("\")")).unwrap_or(text);
        text.split("\\n").filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let (wanted, mut is) = (lines(wanted), lines(is));
    let Some(at) = is.iter().position(|line| of(line)) else { return false };
    is.remove(at);
    is == wanted
}

#[test]
fn what_is_left_hides_no_other_difference() {
    let left = "forward picow.lab: perhaps";
    let line = |is: &str| format!("forwards saved: wanted {:?}, is {:?}", Some("a.lab 1\nz.lab 1"), Some(is));
    assert!(shows(&line("a.lab 1\npicow.lab 1\nz.lab 1"), left));
    for other in
        ["a.lab 2\npicow.lab 1\nz.lab 1", "a.lab 1\npicow.lab 1", "a.lab 1\nq.lab 1\nz.lab 1", "a.lab 1\nz.lab 1"]
    {
        assert!(!shows(&line(other), left), "{other}");
    }
    let zone = |sets: &[&str]| Some(format!("tenant: {sets:#?}"));
    let line = |is: &[&str]| format!("zone lab.: wanted {:?}, is {:?}", zone(&["a.lab. A 1", "b.lab. A 1"]), zone(is));
    assert!(shows(&line(&["a.lab. A 1", "app.lab. A 1", "b.lab. A 1"]), "app.lab A: perhaps"));
    assert!(!shows(&line(&["a.lab. A 2", "app.lab. A 1", "b.lab. A 1"]), "app.lab A: perhaps"));
}

/// Whether a zone differs by one set of records, which is that one, and has all others as wanted.
fn is_one_more(line: &str, left: &str) -> bool {
    let parts = || {
        let (name, kind) = left.split(':').next()?.split_once(' ')?;
        let (zone, rest) = line.strip_prefix("zone ")?.split_once(".: wanted ")?;
        let (wanted, is) = rest.split_once(", is ")?;
        Some((format!("{name}. {kind} "), name.ends_with(zone), wanted, is))
    };
    parts().is_some_and(|(set, within, wanted, is)| {
        within && is_besides(wanted, is, |part| part.trim_start_matches([' ', '\\', '"']).starts_with(&set))
    })
}
