//! The isolation table: awaited, whole, with a leak, with pasted results, of many tenants; one cell; the field for a
//! pasted result.

use std::fmt::Write as _;

use super::*;
use crate::console::{findings, isolation};
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Check, Wanted};
use crate::diagnose::evidence::{Ended, Evidence, Http, Item, Kind};
use crate::diagnose::facts::Facts;
use crate::diagnose::rules::matrix::Matrix;

const NODE: &str = "hv02";
const SITE: &str = r#"version = 1
[site]
name = "mobile"
domain = "mobile.deevnet.net"
octet = 20
[numbering]
vrf_vni_base = 10000
vnet_vni_base = 20000
overlay = "10.20.128.0/18"
asn = 65020
vmid_base = 2000
vmids_per_tenant = 40
[proxmox]
url = "https://10.20.99.22:8006"
token = { file = "token" }
node = "hv02"
controller = "evpn1"
[[exit_node]]
name = "hv02"
transport = { command = ["false"] }
transit_interface = "vmbr0.50"
transit_address = "10.20.50.22"
transit_gateway = "10.20.50.1"
[opnsense]
url = "https://10.20.99.1"
key = { file = "key" }
secret = { file = "secret" }
transit = "10.20.50.0/24"
"#;

fn kept(file: String, from: &str, kind: Kind, body: String) -> Item {
    let at = Some(testing::now());
    let empty = body.is_empty();
    Item { file, from: from.into(), kind, at, took: None, body, stderr: String::new(), empty }
}

fn http(request: &str, body: String) -> Item {
    let http = Http::parse(request, Ended { status: 200, reason: "OK".into() }).unwrap();
    kept(format!("{}.json", request.len()), "console", Kind::Http(http), body)
}

/// A site of `names`: each keeps from every other by a null route, but for `open`, by the index of sender and receiver.
pub fn evidence(names: &[String], open: &[(usize, usize)], delivers: &[(usize, usize)]) -> Evidence {
    let mut items = vec![kept("site.toml".into(), "console", Kind::Material("the site file".into()), SITE.into())];
    let list = |rows: Vec<String>| format!("{{\"data\":[{}]}}", rows.join(","));
    let zones = names.iter().map(|n| format!("{{\"zone\":\"{n}\",\"type\":\"evpn\",\"exitnodes\":\"{NODE}\"}}"));
    items.push(http("GET /api2/json/cluster/sdn/zones?running=1", list(zones.collect())));
    let vnets = names.iter().map(|n| format!("{{\"vnet\":\"{n}0\",\"zone\":\"{n}\"}}"));
    items.push(http("GET /api2/json/cluster/sdn/vnets?running=1", list(vnets.collect())));
    let mut guests = Vec::new();
    for (n, name) in (1..).zip(names) {
        let net = 128 + n;
        let row = format!(
            "{{\"subnet\":\"{name}-10.20.{net}.0-24\",\"cidr\":\"10.20.{net}.0/24\",\"vnet\":\"{name}0\",\"zone\":\"{name}\",\"gateway\":\"10.20.{net}.1\"}}"
        );
        items.push(http(&format!("GET /api2/json/cluster/sdn/vnets/{name}0/subnets?running=1"), list(vec![row])));
        guests.push(format!(
            "{{\"type\":\"qemu\",\"vmid\":{},\"name\":\"{name}-app\",\"node\":\"{NODE}\",\"status\":\"running\"}}",
            2000 + 40 * n
        ));
    }
    items.push(http("GET /api2/json/cluster/resources", list(guests)));
    for (from, name) in names.iter().enumerate() {
        let mut routes = format!(
            "default via 10.20.50.1 dev vmbr0.50 proto static\n10.20.{}.0/24 dev {name}0 proto kernel\n",
            129 + from
        );
        for (to, other) in names.iter().enumerate().filter(|(to, _)| *to != from) {
            let net = 129 + to;
            if delivers.contains(&(from, to)) {
                let _ = writeln!(routes, "10.20.{net}.0/24 dev {other}0 proto static");
            } else if !open.contains(&(from, to)) {
                let _ = writeln!(routes, "blackhole 10.20.{net}.0/24 proto static");
            }
        }
        let line = format!("ip route show vrf vrf_{name}");
        items.push(kept(format!("r{from}.txt"), NODE, Kind::Command { line, exit: Some(0) }, routes));
    }
    let main = "default via 10.20.50.1 dev vmbr0.50\n10.20.99.0/24 dev vmbr0 proto kernel scope link src 10.20.99.22\n";
    let line = "ip route show table main".to_owned();
    items.push(kept("main.txt".into(), NODE, Kind::Command { line, exit: Some(0) }, main.to_owned()));
    items.extend(perimeter());
    Evidence { question: Some("check isolation".into()), items }
}

/// The firewall: it lets names, the platform and operators through, and nobody else.
fn perimeter() -> [Item; 2] {
    let interface = |id: &str, name: &str, net: &str| {
        format!("{{\"identifier\":\"{id}\",\"description\":\"{name}\",\"device\":\"{id}\",\"addr4\":\"{net}\"}}")
    };
    let rows = [
        interface("opt1", "trusted", "10.20.10.1/24"),
        interface("opt2", "storage", "10.20.20.1/24"),
        interface("opt4", "iot", "10.20.30.1/24"),
        interface("opt7", "guest", "10.20.40.1/24"),
        interface("opt8", "management", "10.20.99.1/24"),
        interface("opt10", "tenant_transit", "10.20.50.1/24"),
    ];
    let first = http("GET /api/interfaces/overview/interfacesInfo", format!("{{\"rows\":[{}]}}", rows.join(",")));
    let rule = |n: u32, on: &str, from: &str, to: &str, port: &str, name: &str| {
        format!(
            "{{\"uuid\":\"u{n}\",\"enabled\":\"1\",\"action\":\"pass\",\"interface\":\"{on}\",\"direction\":\"in\",\"source_net\":\"{from}\",\"destination_net\":\"{to}\",\"destination_port\":\"{port}\",\"description\":\"{name}\"}}"
        )
    };
    let rules = [
        rule(1, "opt10", "any", "opt10ip", "53", "gateway services DNS"),
        rule(2, "opt10", "10.20.50.0/24", "10.20.25.0/24", "", "transit to platform"),
        rule(3, "opt1", "10.20.10.0/24", "10.20.128.0/18", "", "trusted to overlay"),
    ];
    [first, http("POST /api/firewall/filter/searchRule", format!("{{\"rows\":[{}]}}", rules.join(",")))]
}

fn names(count: usize) -> Vec<String> {
    let own = ["tdemo", "eds", "greenhse", "sensors", "bench1", "radio"];
    (0..count).map(|n| own.get(n).map_or_else(|| format!("t{n}"), |name| (*name).to_owned())).collect()
}

fn asking(size: (u16, u16)) -> Model {
    let mut model = tenants(testing::healthy(), size);
    model.isolation.operator = "amy".into();
    findings::ask(&mut model, Check::Isolation, None);
    model
}

fn judged(mut model: Model, evidence: &Evidence) -> Model {
    let items = evidence.items.iter().chain(model.isolation.pasted.iter()).cloned().collect();
    let read = Evidence { question: evidence.question.clone(), items };
    let facts = Facts::of(&read);
    let wanted = Wanted::of(Check::Isolation, None);
    let diagnosis = Arc::new(Diagnosis::of(&wanted, read, Vec::new()));
    let matrix = Arc::new(Matrix::of(&facts));
    let first = model.isolation.matrix.is_none();
    if first {
        update(&mut model, Msg::Table { id: 1, matrix });
        update(&mut model, Msg::Checked { id: 1, diagnosis: Ok(diagnosis), took: std::time::Duration::from_secs(1) });
    } else {
        update(&mut model, Msg::Judged { id: 1, diagnosis, matrix });
    }
    model
}

fn to(mut model: Model, from: &str, to: &str) -> Model {
    model.stack.pop();
    model.stack.push(Screen::Isolation { at: Some((from.into(), to.into())) });
    model
}

/// What a workload of tdemo shows when nothing of eds answers.
fn lost(also: &str) -> String {
    let ping = |ip: &str, got: u8| {
        format!(
            "PING {ip} ({ip}) 56(84) bytes of data.\n\n--- {ip} ping statistics ---\n3 packets transmitted, {got} received, 0% packet loss, time 2043ms\n"
        )
    };
    format!(
        "{}{}nc: connect to 10.20.130.10 port 22 (tcp) timed out: Operation now in progress\ntcp 10.20.130.10:22 exit 1\n{}{also}",
        ping("10.20.129.1", 3),
        ping("10.20.130.10", 0),
        ping("10.20.130.1", 0)
    )
}

fn pasting(mut model: Model, text: &str) -> Model {
    update::run_line(&mut model, "paste");
    update(&mut model, Msg::Input(crate::terminal::input::Input::Paste(text.to_owned())));
    model
}

fn taken(mut model: Model, evidence: &Evidence) -> Model {
    update::run_line(&mut model, "open");
    judged(model, evidence)
}

#[test]
fn the_table_in_each_state() {
    let six = names(6);
    let leak = evidence(&six, &[(4, 5)], &[(1, 0)]);
    let weak = evidence(&six, &[(4, 5)], &[]);
    for size in [COMPACT, DESIGN] {
        check(&asking(size), "isolation", "running");
        check(&judged(asking(size), &evidence(&six, &[], &[])), "isolation", "blocked");
        check(&judged(asking(size), &weak), "isolation", "weak");
        check(&judged(asking(size), &leak), "isolation", "leak");
        let mut model = judged(asking(size), &leak);
        update::run_line(&mut model, "open");
        check(&model, "isolation", "cell");
    }
}

#[test]
fn many_tenants_scroll_both_ways_under_the_cursor() {
    let many = names(40);
    let model = to(judged(asking(COMPACT), &evidence(&many, &[], &[])), "t30", "t20");
    check(&model, "isolation", "many");
    let mut model = to(judged(asking(DESIGN), &evidence(&many, &[], &[])), "t39", "hairpin");
    for key in ["down", "next-pane", "next-pane", "next-pane", "next-pane", "next-pane", "next-pane", "up"] {
        update::run_line(&mut model, key);
    }
    check(&model, "isolation", "many");
}

#[test]
fn what_is_pasted_is_shown_before_it_counts_and_then_counts_as_pasted() {
    let six = names(6);
    let site = evidence(&six, &[], &[]);
    for size in [COMPACT, DESIGN] {
        let cell = || to(judged(asking(size), &site), "tdemo", "eds");
        check(&pasting(cell(), &lost("")), "isolation", "paste");
        let other = lost("").replace("10.20.130.10", "10.20.131.10");
        check(&pasting(cell(), &other), "isolation", "paste-refused");
        let model = taken(pasting(cell(), &lost("")), &site);
        check(&model, "isolation", "pasted");
        let matrix = isolation::matrix(&model).unwrap();
        assert_eq!((matrix.proven(), matrix.pasted.len()), (1, 1));
    }
    // The field stays open for what does not fit, and nothing counts.
    let model = to(judged(asking(DESIGN), &site), "tdemo", "eds");
    let mut model = pasting(model, "hello");
    assert!(update::run_line(&mut model, "open").is_empty());
    assert!(matches!(model.overlay, Overlay::Paste(_)) && model.isolation.pasted.is_empty());
}

#[test]
fn a_refused_connection_is_a_leak_and_a_contradiction_decides_nothing() {
    let site = evidence(&names(2), &[], &[]);
    let cell = || to(judged(asking(DESIGN), &site), "tdemo", "eds");
    let refused = "nc: connect to 10.20.130.10 port 22 (tcp) failed: Connection refused";
    let leak = taken(pasting(cell(), refused), &site);
    check(&leak, "isolation", "pasted-leak");
    let both = taken(pasting(to(leak, "tdemo", "eds"), &lost("")), &site);
    let matrix = isolation::matrix(&both).unwrap();
    let words = matrix.cell(0, 1).unwrap().traffic.words();
    assert!(words.contains("contradict"), "{words}");
    // Taken away, it counts no more.
    let mut clean = to(both, "tdemo", "eds");
    update::run_line(&mut clean, "unpaste");
    let clean = judged(clean, &site);
    assert_eq!(isolation::matrix(&clean).unwrap().not_run(), isolation::matrix(&cell()).unwrap().not_run());
}

#[test]
fn silence_of_a_workload_without_a_network_proves_nothing() {
    let site = evidence(&names(2), &[], &[]);
    let cell = to(judged(asking(DESIGN), &site), "tdemo", "eds");
    let all = lost("");
    let (_, without) = all.split_at(all.find("PING 10.20.130.10").unwrap());
    let model = taken(pasting(cell, without), &site);
    let words = isolation::matrix(&model).unwrap().cell(0, 1).unwrap().traffic.words();
    assert!(words.contains("nothing shows that tdemo/app had a network"), "{words}");
}

#[test]
fn legs_of_a_tenants_path_take_a_pasted_result() {
    let site = evidence(&names(2), &[], &[]);
    let facts = Facts::of(&site);
    for size in [COMPACT, DESIGN] {
        let mut model = tenants(testing::healthy(), size);
        findings::ask(&mut model, Check::Egress, Some("eds".into()));
        update(&mut model, Msg::Table { id: 1, matrix: Arc::new(Matrix::of(&facts)) });
        let wanted = Wanted::of(Check::Egress, Some("eds"));
        let judge = |evidence| Arc::new(Diagnosis::of(&wanted, evidence, Vec::new()));
        let diagnosis = Ok(judge(evidence(&names(2), &[], &[])));
        update(&mut model, Msg::Checked { id: 1, diagnosis, took: std::time::Duration::from_secs(1) });
        let ping = "PING 10.20.130.1 (10.20.130.1): 56 data bytes\n\n--- 10.20.130.1 ping statistics ---\n3 packets transmitted, 0 packets received, 100% packet loss\n";
        let mut model = pasting(model, ping);
        check(&model, "diagnose", "paste");
        let effects = update::run_line(&mut model, "open");
        assert!(
            effects.iter().any(|e| matches!(e, crate::console::msg::Effect::Judge { pasted } if pasted.len() == 1))
        );
        let items = site.items.iter().chain(model.isolation.pasted.iter()).cloned().collect();
        let read = Evidence { question: None, items };
        let (matrix, diagnosis) = (Arc::new(Matrix::of(&Facts::of(&read))), judge(read));
        update(&mut model, Msg::Judged { id: 1, diagnosis, matrix });
        assert_eq!(model.inquiry.as_ref().unwrap().legs()[1].state, crate::diagnose::path::State::Fail, "leg 2");
    }
}

#[test]
fn a_later_table_does_not_move_the_cursor() {
    let six = names(6);
    let model = judged(asking(DESIGN), &evidence(&six, &[], &[(4, 2)]));
    let at = isolation::cursor(&model);
    assert_eq!(at, Some((4, 2)), "the worst cell has it first");
    assert_eq!(isolation::cursor(&judged(model, &evidence(&six, &[], &[(1, 0)]))), at);
}

/// What the largest site costs is printed, not judged: `--nocapture` shows it.
#[test]
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn a_table_of_all_tenants_is_whole() {
    let all = names(62);
    let site = evidence(&all, &[(3, 5)], &[(61, 0)]);
    let began = std::time::Instant::now();
    let facts = Facts::of(&site);
    let read = began.elapsed();
    let matrix = Matrix::of(&facts);
    let built = began.elapsed() - read;
    assert_eq!((matrix.pairs(), matrix.count(crate::diagnose::rules::matrix::Config::Open)), (3782, 1));
    let model = judged(asking(DESIGN), &site);
    assert_eq!(isolation::cursor(&model), Some((61, 0)));
    let began = std::time::Instant::now();
    let screen = view(&model);
    let drawn = began.elapsed();
    grid::assert_whole(&screen.buffer, DESIGN);
    let began = std::time::Instant::now();
    let text = isolation::text(&model).unwrap();
    println!(
        "62 tenants, 3782 pairs: facts {read:?}, table {built:?}, frame {drawn:?}, Markdown {:?} of {} KiB",
        began.elapsed(),
        text.len() >> 10
    );
}
