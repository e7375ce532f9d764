//! What the perimeter says about itself: version, status, interfaces, kernel routes, states (facts/opnsense.md §2, §10).

use std::net::Ipv4Addr;

use serde_json::{Map, Value, json};

use super::Ask;
use super::{pf, resolver, status};
use crate::lab::moment;
use crate::lab::perimeter::{Interface, Release};

/// Host name of the perimeter.
const HOST: &str = "dv02cor002p01.mobile.deevnet.net";
/// Where states of tenants lead.
const OUTSIDE: &[(&str, &str, &str)] =
    &[("203.0.113.80", "443", "tcp"), ("198.51.100.10", "443", "tcp"), ("10.20.25.20", "9000", "tcp")];

pub(super) fn read(ask: &Ask<'_>, name: &str, id: Option<&str>) -> Option<Value> {
    Some(match name {
        "core/firmware/status" => firmware(ask),
        "core/system/status" => status::system(ask),
        "diagnostics/system/system_information" => json!({"name": HOST, "versions": [format!("OPNsense {}-amd64",
            version(ask)), "FreeBSD 14.3-RELEASE-p2", "OpenSSL 3.0.17"], "updates": "Click to check for updates."}),
        "diagnostics/system/system_time" => system_time(ask),
        "diagnostics/interface/get_interface_names" => {
            let names = ask.perimeter.interfaces.iter().map(|i| (i.device.clone(), json!(i.description)));
            Value::Object(names.collect())
        }
        "interfaces/overview/export" => ask.perimeter.interfaces.iter().map(|i| interface(ask, i, true)).collect(),
        "interfaces/overview/interfaces_info" => {
            ask.grid(ask.perimeter.interfaces.iter().map(|i| interface(ask, i, false)).collect())
        }
        "diagnostics/interface/get_routes" => routes(ask),
        "diagnostics/interface/get_arp" => Value::Array(arp(ask)),
        "diagnostics/interface/search_arp" => ask.grid(arp(ask)),
        "diagnostics/interface/get_interface_statistics" => statistics(ask),
        "diagnostics/firewall/query_states" => query_states(ask),
        "diagnostics/firewall/pf_states" => {
            json!({"current": states(ask).len().to_string(), "limit": "816000"})
        }
        "diagnostics/firewall/pf_statistics" if id.is_none() => json!([]),
        "diagnostics/firewall/query_pf_top" => ask.grid(top(ask)),
        "diagnostics/firewall/log" => log(ask),
        "core/backup/backups" => backups(ask),
        "diagnostics/firewall/log_filters" => json!({"action": ["pass", "block", "rdr", "nat", "binat"],
            "interface_name": ask.perimeter.interfaces.iter().map(|i| i.description.as_str()).collect::<Vec<_>>(),
            "dir": ["in", "out"]}),
        "diagnostics/firewall/pf_statistics" if id == Some("rules") => pf::rules(ask),
        _ => return resolver::read(ask, name),
    })
}

fn version(ask: &Ask<'_>) -> &'static str {
    match ask.perimeter.release {
        Release::V25_7 => "25.7.11",
        Release::V26_7 => "26.7.2",
    }
}

fn firmware(ask: &Ask<'_>) -> Value {
    let version = version(ask);
    let series = version.rsplit_once('.').map_or(version, |(series, _)| series);
    let mut product: Map<String, Value> = [
        ("CORE_ABI", series),
        ("CORE_ARCH", "amd64"),
        ("CORE_COMMIT", "0000000000"),
        ("CORE_HASH", "0000000000"),
        ("CORE_NAME", "opnsense"),
        ("CORE_NICKNAME", "Lab"),
        ("CORE_PKGVERSION", version),
        ("CORE_PRODUCT", "OPNsense"),
        ("CORE_PYTHON_DOT", "3.11"),
        ("CORE_SERIES", series),
        ("CORE_SYSLOGNG", "4.8"),
        ("CORE_USER", "wwwonly"),
        ("CORE_VERSION", version),
        ("product_abi", series),
        ("product_arch", "amd64"),
        ("product_hash", "0000000000"),
        ("product_id", "opnsense"),
        ("product_latest", version),
        ("product_name", "OPNsense"),
        ("product_nickname", "Lab"),
        ("product_series", series),
        ("product_tier", "1"),
        ("product_time", "Wed Aug 12 09:27:43 UTC 2026"),
        ("product_version", version),
    ]
    .map(|(key, value)| (key.to_owned(), json!(value)))
    .into_iter()
    .collect();
    let core = "CONFLICTS COPYRIGHT_HOLDER COPYRIGHT_WWW COPYRIGHT_YEARS GID GROUP MAINTAINER NEXT PACKAGESITE SERIES_FW UID WWW";
    let other = "conflicts copyright_owner copyright_url copyright_years email mirror repos website";
    product.extend(core.split(' ').map(|key| (format!("CORE_{key}"), json!(""))));
    product.extend(other.split(' ').map(|key| (format!("product_{key}"), json!(""))));
    if !ask.modern() {
        product.insert("CORE_REPOSITORY".to_owned(), json!(""));
    }
    product.insert("product_check".to_owned(), Value::Null);
    product.insert("product_license".to_owned(), json!([]));
    product.insert("product_log".to_owned(), json!(0));
    json!({"product": product, "status": "none",
        "status_msg": "Firmware status requires to check for update first to provide more information."})
}

fn system_time(ask: &Ask<'_>) -> Value {
    let up = ask.now - ask.world.booted;
    let date = |at: i64| moment(at).strftime("%a %b %e %H:%M:%S UTC %Y").to_string();
    json!({"uptime": format!("{} days, {}", up / 86_400, clock(up % 86_400)), "datetime": date(ask.now),
        "boottime": date(ask.world.booted), "config": date(ask.world.booted + 86_400),
        "loadavg": "0.21, 0.18, 0.16"})
}

fn clock(seconds: i64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The network of an interface, `a.b.c.0/24`.
fn network(interface: &Interface) -> Option<String> {
    let (address, bits) = interface.address?;
    Some(ipnet::Ipv4Net::new(address, bits).ok()?.trunc().to_string())
}

fn interface(ask: &Ask<'_>, of: &Interface, full: bool) -> Value {
    let via: Vec<String> =
        ask.perimeter.gateways.iter().filter(|g| g.interface == of.id).map(|g| g.address.to_string()).collect();
    let routed = ask.perimeter.routes.iter().filter(|route| {
        route.enabled && ask.perimeter.gateway(&route.gateway).is_some_and(|gateway| gateway.interface == of.id)
    });
    let routes: Vec<String> = network(of).into_iter().chain(routed.map(|route| route.network.clone())).collect();
    let mac = if of.id == "wan" { "00:e0:67:aa:00:01" } else { "00:e0:67:aa:00:00" };
    let (address, bits) = of.address.map_or((String::new(), String::new()), |(a, b)| (a.to_string(), b.to_string()));
    let cidr = if address.is_empty() { String::new() } else { format!("{address}/{bits}") };
    let ipv4 = if address.is_empty() { json!([]) } else { json!([{"ipaddr": cidr}]) };
    let kind = if of.address.is_some() { "static" } else { "none" };
    let mut row = json!({"flags": ["up", "broadcast", "running", "simplex", "multicast", "lower_up"],
        "capabilities": [], "options": ["rxcsum", "txcsum", "linkstate"], "macaddr": mac, "supported_media": [],
        "is_physical": of.vlan.is_none(), "device": of.device, "mtu": "1500", "macaddr_hw": mac,
        "media": "1000baseT <full-duplex>", "media_raw": "Ethernet autoselect (1000baseT <full-duplex>)",
        "status": "up", "nd6": {"flags": ["performnud", "ifdisabled", "auto_linklocal"]}, "routes": routes,
        "config": {"enable": "1", "if": of.device, "descr": of.description, "ipaddr": address, "subnet": bits,
            "identifier": of.id},
        "identifier": of.id, "description": of.description, "enabled": true, "link_type": kind,
        "addr4": cidr, "addr6": "", "ipv4": ipv4,
        "vlan_tag": of.vlan.map(|tag| tag.to_string()), "gateways": via});
    let Value::Object(object) = &mut row else { return row };
    if ask.modern() {
        object.insert("link_typev6".to_owned(), json!("none"));
    }
    if let Some(tag) = of.vlan {
        let vlan = json!({"tag": tag.to_string(), "proto": "802.1q", "pcp": "0", "parent": "re0"});
        object.insert("groups".to_owned(), json!(["vlan"]));
        object.insert("vlan".to_owned(), vlan);
    }
    if full {
        object.insert("statistics".to_owned(), counted(ask, of));
    }
    row
}

fn traffic(ask: &Ask<'_>, of: &Interface) -> (u64, u64) {
    let count = |what: &str| ask.world.counter(&format!("{what} {}", of.id), 90_000, ask.now);
    (count("received"), count("sent"))
}

fn counted(ask: &Ask<'_>, of: &Interface) -> Value {
    let (received, sent) = traffic(ask, of);
    let driver = if of.vlan.is_some() { "vlan" } else { "re" };
    json!({"device": of.device, "driver": driver, "flags": "0x8843", "promiscuous listeners": "0",
        "send queue length": "0", "send queue max length": "50", "send queue drops": "0", "type": "Ethernet",
        "address length": "6", "header length": "18", "link state": "2", "vhid": "0", "datalen": "152",
        "mtu": "1500", "metric": "0", "line rate": "1000000000 bit/s", "packets received": received.to_string(),
        "input errors": "0", "packets transmitted": sent.to_string(), "output errors": "0", "collisions": "0",
        "bytes received": (received * 990).to_string(), "bytes transmitted": (sent * 978).to_string(),
        "multicasts received": "10", "multicasts transmitted": "0", "input queue drops": "0",
        "packets for unknown protocol": "0", "HW offload capabilities": "0x0",
        "uptime at attach or stat reset": "1"})
}

fn statistics(ask: &Ask<'_>) -> Value {
    let mut out = Map::new();
    for of in &ask.perimeter.interfaces {
        let (received, sent) = traffic(ask, of);
        let mut put = |network: &str, address: &str| {
            let row = json!({"name": of.device, "flags": "0x8843", "mtu": 1500, "received-packets": received,
                "received-errors": 0, "dropped-packets": 0, "received-bytes": received * 990, "sent-packets": sent,
                "send-errors": 0, "sent-bytes": sent * 978, "collisions": 0, "dropped-packets-out": 0,
                "network": network, "address": address});
            out.insert(format!("[{}] ({}) / {address}", of.description, of.device), row);
        };
        put("<Link#1>", if of.id == "wan" { "00:e0:67:aa:00:01" } else { "00:e0:67:aa:00:00" });
        if let (Some(network), Some((address, _))) = (network(of), of.address) {
            put(&network, &address.to_string());
        }
    }
    json!({"statistics": out})
}

/// The kernel's routes: connected networks, the way out, and static routes whose gateway is not down.
fn routes(ask: &Ask<'_>) -> Value {
    let perimeter = ask.perimeter;
    let row = |destination: &str, gateway: &str, flags: &str, of: Option<&Interface>| {
        json!({"proto": "ipv4", "destination": destination, "gateway": gateway, "flags": flags, "nhop#": "9",
            "mtu": "1500", "netif": of.map_or("lo0", |i| i.device.as_str()), "expire": "",
            "intf_description": of.map_or("", |i| i.description.as_str()), "id": format!("{destination},{gateway}")})
    };
    let mut rows = Vec::new();
    for gateway in perimeter.gateways.iter().filter(|gateway| gateway.default) {
        rows.push(row("default", &gateway.address.to_string(), "UGS", perimeter.interface(&gateway.interface)));
    }
    for (at, of) in perimeter.interfaces.iter().enumerate() {
        rows.extend(network(of).map(|network| row(&network, &format!("link#{}", at + 1), "U", Some(of))));
    }
    for route in perimeter.routes.iter().filter(|route| route.enabled) {
        if let Some(gateway) = perimeter.gateway(&route.gateway).filter(|gateway| !gateway.down) {
            let of = perimeter.interface(&gateway.interface);
            rows.push(row(&route.network, &gateway.address.to_string(), "UGS", of));
        }
    }
    rows.push(row("127.0.0.1", "link#5", "UH", None));
    Value::Array(rows)
}

fn arp(ask: &Ask<'_>) -> Vec<Value> {
    let exit = &ask.world.exit;
    let neighbours = [
        (exit.transit_address, "opt10", exit.gateway_answers && !exit.uplink_down),
        (Ipv4Addr::new(10, 20, 99, 21), "opt8", true),
        (Ipv4Addr::new(10, 20, 99, 22), "opt8", true),
        (Ipv4Addr::new(10, 20, 25, 21), "opt3", true),
        (Ipv4Addr::new(192, 168, 8, 1), "wan", true),
    ];
    let row = |(ip, id, _): &(Ipv4Addr, &str, bool)| {
        let of = ask.perimeter.interface(id)?;
        let [_, _, third, fourth] = ip.octets();
        let kind = if of.vlan.is_some() { "vlan" } else { "ethernet" };
        Some(json!({"mac": format!("bc:24:11:50:{third:02x}:{fourth:02x}"), "ip": ip.to_string(), "intf": of.device,
            "expired": false, "expires": 300 + ask.world.number(&format!("arp {ip}")) % 800, "permanent": false,
            "type": kind, "manufacturer": "Proxmox Server Solutions GmbH", "hostname": "",
            "intf_description": of.description}))
    };
    neighbours.iter().filter(|(.., there)| *there).filter_map(row).collect()
}

/// States of tenants' traffic: as seen on the way in, and once more where it is translated on the way out.
fn states(ask: &Ask<'_>) -> Vec<Value> {
    let transit = ask.world.exit.transit_address.to_string();
    let labelled = |part: &str| {
        let rule = ask.perimeter.loaded().find(|rule| rule.description.ends_with(part));
        rule.map(|rule| (rule.uuid.clone(), rule.description.clone()))
    };
    let mut rows = Vec::new();
    for (at, (destination, port, protocol)) in OUTSIDE.iter().enumerate() {
        let inside = destination.starts_with("10.");
        let part = if inside { "tenant_transit -> platform" } else { "tenant_transit -> internet" };
        let Some((label, text)) = labelled(part) else { continue };
        let source = (40_000 + ask.world.number(&format!("port {at}")) % 20_000).to_string();
        let age = 60 + i64::try_from(ask.world.number(&format!("age {at}")) % 4000).unwrap_or(0);
        let packets = 40 + ask.world.number(&format!("packets {at}")) % 900;
        let mut row = json!({"label": label, "descr": text, "nat_addr": null, "nat_port": null, "gateway": null,
            "iface": "all", "proto": protocol, "ipproto": "ipv4", "flags": [], "direction": "in",
            "dst_addr": destination, "dst_port": port, "src_addr": transit, "src_port": source,
            "state": "ESTABLISHED:ESTABLISHED", "age": clock(age), "expires": "23:59:10",
            "pkts": [packets, packets * 2], "bytes": [packets * 90, packets * 2400],
            "id": format!("{:02x}00000065a1b2c3/5f6e7d8c", 2 * at + 1), "interface": "all"});
        if let Value::Object(row) = &mut row {
            row.insert("rule".to_owned(), json!((36 + at).to_string()));
        }
        let mut out = row.clone();
        rows.push(row);
        if let (false, Value::Object(out)) = (inside, &mut out) {
            let text = "let out anything from firewall host itself (force gw)";
            let changed = json!({"descr": text, "nat_addr": transit, "nat_port": source, "gateway": "192.168.8.1",
                "iface": "re1", "direction": "out", "src_addr": "192.168.8.50", "interface": "WAN",
                "id": format!("{:02x}00000065a1b2c3/5f6e7d8c", 2 * at + 2)});
            out.extend(changed.as_object().cloned().unwrap_or_default());
            rows.push(Value::Object(out.clone()));
        }
    }
    rows
}

fn query_states(ask: &Ask<'_>) -> Value {
    if !ask.post {
        return ask.grid(Vec::new());
    }
    let mut rows = states(ask);
    if let Some(rule) = ask.text("ruleid").filter(|rule| !rule.is_empty()) {
        rows.retain(|row| row.get("label").is_some_and(|label| *label == rule));
    }
    let phrase = ask.text("searchPhrase").unwrap_or_default();
    let (host, port) = phrase.split_once(':').unwrap_or((&phrase, ""));
    let net = host.parse::<ipnet::Ipv4Net>().ok().or_else(|| host.parse().ok().map(|ip: Ipv4Addr| ip.into()));
    let Some(net) = net else { return ask.grid(rows) };
    // Networks and ports in the phrase came with 26.1.3.
    if !ask.modern() && (phrase.contains('/') || phrase.contains(':')) {
        rows.clear();
    }
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    rows.retain(|row| {
        ["src", "dst", "nat"].iter().any(|side| {
            let address = text(row, &format!("{side}_addr")).and_then(|address| address.parse::<Ipv4Addr>().ok());
            let port_fits = port.is_empty() || text(row, &format!("{side}_port")).as_deref() == Some(port);
            address.is_some_and(|address| net.contains(&address)) && port_fits
        })
    });
    let total = rows.len();
    super::page(&rows, total, 1)
}

/// The same states as `pftop` sorts them.
fn top(ask: &Ask<'_>) -> Vec<Value> {
    let row = |state: &Value| {
        let text = |key: &str| state.get(key).cloned().unwrap_or_default();
        let sum = |key: &str| -> u64 { text(key).as_array().into_iter().flatten().filter_map(Value::as_u64).sum() };
        json!({"proto": text("proto"), "dir": text("direction"), "src_addr": text("src_addr"),
            "src_port": text("src_port"), "dst_addr": text("dst_addr"), "dst_port": text("dst_port"),
            "gw_addr": null, "gw_port": null, "state": text("state"), "age": 62, "expire": 86_350,
            "pkts": sum("pkts"), "bytes": sum("bytes"), "avg": sum("bytes") / 62, "rule": text("rule"),
            "label": text("label"), "descr": text("descr")})
    };
    states(ask).iter().filter(|state| state.get("direction").is_some_and(|way| way == "in")).map(row).collect()
}

/// Configurations as they were saved, newest first: one a day.
fn backups(ask: &Ask<'_>) -> Value {
    let day = 86_400;
    let last = ask.world.booted + (ask.now - ask.world.booted).div_euclid(day) * day;
    let row = |n: i64| {
        let at = last - n * day;
        json!({"time": format!("{at}.57"), "time_iso": moment(at).strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string(),
            "description": "/api/firewall/filter/set_rule made changes", "username": "ansible@10.20.99.95",
            "filesize": 49_761 - n, "id": format!("config-{at}.571.xml")})
    };
    json!({"items": (0..8).map(row).collect::<Vec<_>>()})
}

fn log(ask: &Ask<'_>) -> Value {
    let columns = ["rulenr", "subrulenr", "anchorname", "rid", "interface", "reason", "action", "dir", "ipversion"];
    let limit = ask.query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(25_usize);
    let at = ask.now.div_euclid(60) * 60;
    let row = |n: i64| {
        json!({"rulenr": "2", "subrulenr": "", "anchorname": "", "rid": super::rules::default_deny(),
            "interface": "re0_vlan50", "reason": "match", "action": "block", "dir": "in", "ipversion": "4",
            "tos": "0x0", "ecn": "", "ttl": "63", "id": (4321 + n).to_string(), "offset": "0", "ipflags": "none",
            "protonum": "17", "protoname": "udp", "length": "71", "src": "10.20.50.22", "dst": "10.20.99.21",
            "srcport": "40001", "dstport": "8006", "datalen": "51",
            "__timestamp__": moment(at - 60 * n).strftime("%Y-%m-%dT%H:%M:%S").to_string(), "__host__": HOST,
            "__digest__": format!("{:032x}", ask.world.number(&format!("log {}", at - 60 * n))),
            "__spec__": columns, "label": "Default deny / state violation rule"})
    };
    let mut rows: Vec<Value> = (0..).take(limit.min(5)).map(row).collect();
    for row in &mut rows {
        let said = dropped(ask);
        if let (Some(row), Some(said)) = (row.as_object_mut(), said.as_ref().and_then(Value::as_object)) {
            row.extend(said.clone());
        }
    }
    Value::Array(rows)
}

/// What is dropped instead of the usual: tenants' packets that no rule lets out, or answers of which the router did not
/// see what they answer.
fn dropped(ask: &Ask<'_>) -> Option<Value> {
    let tcp = |row: Value| {
        let mut all = json!({"protonum": "6", "protoname": "tcp", "length": "60", "datalen": "0", "tcpopts": ""});
        if let (Some(all), Value::Object(row)) = (all.as_object_mut(), row) {
            all.extend(row);
        }
        all
    };
    if let Some((host, beyond)) = ask.perimeter.shared_segment {
        return Some(tcp(json!({"interface": "re0_vlan10", "src": host.to_string(), "dst": beyond.to_string(),
            "srcport": "51044", "dstport": "22", "tcpflags": "A"})));
    }
    let out = json!({"src": ask.world.exit.transit_address.to_string(), "dst": OUTSIDE.first()?.0, "srcport": "40801",
        "dstport": "443", "tcpflags": "S"});
    (!ask.perimeter.lets_out()).then(|| tcp(out))
}
