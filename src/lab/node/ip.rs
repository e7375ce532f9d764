//! `ip`: objects, options and batch mode of iproute2 as far as reading goes.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::links::{self, Detail};
use super::routes::{Found, Route, Tables};
use super::{Output, vrfs};
use crate::lab::state::World;
use crate::lab::{insert, object};

/// Options before the object.
#[derive(Default, Clone, Copy)]
struct Options {
    json: bool,
    details: bool,
    stats: bool,
    batch: bool,
}

/// A command's failure: what goes to standard error, and the exit code.
struct Failure(String, u8);

impl Failure {
    fn kernel(words: &str) -> Self {
        Self(format!("RTNETLINK answers: {words}"), 2)
    }

    fn usage(text: &str) -> Self {
        Self(text.to_owned(), 255)
    }
}

pub(super) fn run(world: &World, now: i64, args: &[&str], input: &str) -> Output {
    let mut options = Options::default();
    let mut rest = args.iter().copied();
    let mut command: Vec<&str> = Vec::new();
    let mut file = "-";
    while let Some(arg) = rest.next() {
        match arg {
            "-j" | "-json" => options.json = true,
            "-d" | "-details" => options.details = true,
            "-s" | "-stats" => options.stats = true,
            "-4" | "-force" | "-N" => {}
            "-V" => return Output::ok("ip utility, iproute2-6.15.0, libbpf 1.5.0\n".to_owned()),
            "-b" | "-batch" => {
                options.batch = true;
                file = rest.next().unwrap_or("-");
            }
            word => {
                command = std::iter::once(word).chain(rest.by_ref()).collect();
            }
        }
    }
    if !options.json {
        return Output::fail(1, "ip: only JSON output (-j) is available on this node");
    }
    let tables = Tables::of(world);
    if !options.batch {
        return match one(world, now, &tables, options, &command) {
            Ok(rows) => Output::ok(format!("{}\n", Value::Array(rows))),
            Err(Failure(text, code)) => Output::fail(code, &text),
        };
    }
    let mut output = Output::default();
    for (line, number) in input.lines().zip(1..) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() || words.first().is_some_and(|word| word.starts_with('#')) {
            continue;
        }
        match one(world, now, &tables, options, &words) {
            Ok(rows) => output.stdout += &format!("{}\n", Value::Array(rows)),
            Err(Failure(text, _)) => {
                output.stderr += &format!("{text}\nCommand failed {file}:{number}\n");
                output.code = 1;
            }
        }
    }
    output
}

/// Whether `word` abbreviates `full`, as iproute2 allows.
fn is(word: &str, full: &str) -> bool {
    !word.is_empty() && full.starts_with(word)
}

fn one(world: &World, now: i64, tables: &Tables, options: Options, command: &[&str]) -> Result<Vec<Value>, Failure> {
    let (what, args) = command.split_first().unwrap_or((&"", &[]));
    let verb = args.first().copied().unwrap_or("show");
    let tail = args.get(1..).unwrap_or_default();
    if is(what, "route") && is(verb, "get") {
        return get(tables, tail);
    }
    if !(is(verb, "show") || verb == "list" || verb == "ls") {
        return Err(Failure::usage(&format!("Command \"{verb}\" is unknown, try \"ip {what} help\".")));
    }
    match *what {
        what if is(what, "address") || is(what, "link") => {
            let detail = Detail { addresses: is(what, "address"), info: options.details, stats: options.stats };
            link_rows(world, now, detail, tail)
        }
        what if is(what, "route") => route_rows(world, tables, options, tail),
        what if is(what, "rule") => Ok(links::rules(world)),
        what if is(what, "neighbour") || is(what, "neighbor") => {
            let dev = option(tail, "dev");
            let keep = |row: &Value| dev.is_none_or(|dev| row.get("dev").is_some_and(|d| d == dev));
            Ok(links::neighbours(world).into_iter().filter(keep).collect())
        }
        _ => Err(Failure(format!("Object \"{what}\" is unknown, try \"ip help\"."), 1)),
    }
}

/// The word after `name`.
fn option<'a>(args: &[&'a str], name: &str) -> Option<&'a str> {
    args.iter().position(|arg| *arg == name).and_then(|at| args.get(at + 1)).copied()
}

fn link_rows(world: &World, now: i64, detail: Detail, args: &[&str]) -> Result<Vec<Value>, Failure> {
    let kind = option(args, "type");
    let bare = args.first().copied().filter(|word| !["type", "dev", "master"].contains(word));
    let dev = option(args, "dev").or(bare);
    let rows = links::rows(world, now, detail, |name, its| {
        dev.is_none_or(|dev| dev == name) && kind.is_none_or(|kind| kind == its)
    });
    match dev {
        Some(dev) if rows.is_empty() => Err(Failure(format!("Device \"{dev}\" does not exist."), 1)),
        _ => Ok(rows),
    }
}

fn route_rows(world: &World, tables: &Tables, options: Options, args: &[&str]) -> Result<Vec<Value>, Failure> {
    let local = |route: &&Route| matches!(route.kind, "local" | "broadcast");
    let mut out = Vec::new();
    let print = |route: &Route, table: Option<&str>| route_row(route, options.details, table);
    let named = option(args, "vrf").map(str::to_owned);
    match (option(args, "table"), named) {
        (Some("all"), _) => {
            for vrf in vrfs(world) {
                let name = format!("vrf_{}", vrf.zone);
                out.extend(tables.vrf(&vrf.zone).iter().map(|route| print(route, Some(&name))));
            }
            let main = options.details.then_some("main");
            out.extend(tables.main.iter().map(|route| print(route, main)));
            out.extend(tables.management.iter().map(|route| print(route, Some("100"))));
            out.extend(local_rows(world).iter().map(|route| print(route, Some("local"))));
        }
        (None | Some("main"), None) => out.extend(tables.main.iter().map(|route| print(route, None))),
        (Some("100"), None) => out.extend(tables.management.iter().map(|route| print(route, None))),
        (Some("local"), None) => out.extend(local_rows(world).iter().map(|route| print(route, None))),
        (table, vrf) => {
            let wanted = vrf.as_deref().or(table).unwrap_or_default();
            let found = vrfs(world)
                .into_iter()
                .find(|vrf| format!("vrf_{}", vrf.zone) == wanted || vrf.table.to_string() == wanted);
            let Some(found) = found else { return Err(Failure::usage("Invalid VRF")) };
            let by_vrf = vrf.is_some();
            let routes = tables.vrf(&found.zone).iter().filter(|route| !by_vrf || !local(route));
            out.extend(routes.map(|route| print(route, None)));
        }
    }
    Ok(out)
}

/// The local table: one entry for each address outside VRFs.
fn local_rows(world: &World) -> Vec<Route> {
    let exit = &world.exit;
    let management = world.node(&exit.node).map_or(Ipv4Addr::UNSPECIFIED, |node| node.ip);
    let row = |address: Ipv4Addr, dev: &str| Route {
        dst: address.into(),
        kind: "local",
        gateway: None,
        dev: dev.to_owned(),
        protocol: "kernel",
        metric: None,
        prefsrc: Some(address),
    };
    vec![
        row(exit.transit_address, &exit.transit_dev),
        row(management, "vmbr0"),
        row(exit.vtep, "dummy_tfab"),
        row(Ipv4Addr::LOCALHOST, "lo"),
    ]
}

fn route_row(route: &Route, details: bool, table: Option<&str>) -> Value {
    let mut row = object(json!({}));
    if details || !route.is_unicast() {
        insert(&mut row, "type", json!(route.kind));
    }
    let dst = match route.dst.prefix_len() {
        0 => "default".to_owned(),
        32 => route.dst.addr().to_string(),
        _ => route.dst.to_string(),
    };
    insert(&mut row, "dst", json!(dst));
    if let Some(gateway) = route.gateway {
        insert(&mut row, "gateway", json!(gateway.to_string()));
    }
    if !route.dev.is_empty() {
        insert(&mut row, "dev", json!(route.dev));
    }
    if let Some(table) = table {
        insert(&mut row, "table", json!(table));
    }
    if route.protocol != "boot" || details {
        insert(&mut row, "protocol", json!(route.protocol));
    }
    let scope = match route.kind {
        "local" => "host",
        "unicast" if route.gateway.is_none() && route.protocol != "bgp" => "link",
        "broadcast" => "link",
        _ => "global",
    };
    if details || scope != "global" {
        insert(&mut row, "scope", json!(scope));
    }
    if let Some(source) = route.prefsrc {
        insert(&mut row, "prefsrc", json!(source.to_string()));
    }
    if let Some(metric) = route.metric {
        insert(&mut row, "metric", json!(metric));
    }
    let onlink = route.protocol == "kernel" && route.gateway.is_some();
    insert(&mut row, "flags", if onlink { json!(["onlink"]) } else { json!([]) });
    Value::Object(row)
}

fn get(tables: &Tables, args: &[&str]) -> Result<Vec<Value>, Failure> {
    let address = |text: &str| {
        text.parse::<Ipv4Addr>()
            .map_err(|_| Failure(format!("Error: inet prefix is expected rather than \"{text}\"."), 1))
    };
    let dst = address(args.first().copied().unwrap_or_default())?;
    let from = option(args, "from").map(address).transpose()?;
    let iif = option(args, "iif");
    if let Some(dev) = iif.filter(|dev| !tables.knows(dev)) {
        return Err(Failure(format!("Cannot find device \"{dev}\""), 1));
    }
    let vrf = option(args, "vrf").or(option(args, "oif").filter(|dev| dev.starts_with("vrf_")));
    let Found { route, table } = tables.get(dst, from, iif.or(vrf)).map_err(Failure::kernel)?;
    let mut row = object(json!({"dst": dst.to_string()}));
    if let Some(from) = from {
        insert(&mut row, "from", json!(from.to_string()));
    }
    if let Some(gateway) = route.gateway {
        insert(&mut row, "gateway", json!(gateway.to_string()));
    }
    insert(&mut row, "dev", json!(route.dev));
    if let Some(table) = table {
        insert(&mut row, "table", json!(table));
    }
    if from.is_none() {
        let own = vrf.filter(|_| iif.is_none()).and_then(|dev| vrf_source(tables, dev));
        if let Some(source) = own.or(route.prefsrc).or_else(|| source_of(tables, &route)) {
            insert(&mut row, "prefsrc", json!(source.to_string()));
        }
    }
    insert(&mut row, "flags", json!([]));
    if iif.is_none() {
        insert(&mut row, "uid", json!(0));
    }
    insert(&mut row, "cache", json!([]));
    if let Some(iif) = iif {
        insert(&mut row, "iif", json!(iif));
    }
    Ok(vec![Value::Object(row)])
}

/// The address the kernel takes as source: that of the connected network the next hop lies in.
fn source_of(tables: &Tables, route: &Route) -> Option<Ipv4Addr> {
    let gateway = route.gateway?;
    tables.main.iter().find(|main| main.gateway.is_none() && main.dst.contains(&gateway)).and_then(|main| main.prefsrc)
}

/// The address a lookup inside a VRF takes as source: that of its first bridge.
fn vrf_source(tables: &Tables, dev: &str) -> Option<Ipv4Addr> {
    let routes = tables.vrf(dev.strip_prefix("vrf_")?);
    routes.iter().find_map(|route| route.prefsrc)
}
