//! Against the lab: all well, and each fault that takes something away.

use serde_json::Value;

use super::setup_common::{Whole, checks, only};

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_lab_is_well() {
    let whole = Whole::start("127.88.0.1", &[]).await;
    let complete = whole.is_complete("a_whole_lab_is_well");
    let table = whole.check(&[]).await;
    let expected = if complete { 0 } else { 3 };
    assert_eq!(table.code, Some(expected), "{}", table.all());
    let lines: Vec<&str> = table.out.lines().collect();
    assert!(lines[1].starts_with("pve         secret ✓ token · reach ✓ "), "{}", table.out);
    for wanted in ["TLS ✓ signed by ca_file", "token ✓ deevnet@pve!console", "rights ✓ all that this version reads"]
    {
        assert!(table.out.contains(wanted), "{wanted}: {}", table.out);
    }
    assert!(!table.out.contains('✗') && lines.iter().all(|line| line.chars().count() <= 160), "{}", table.out);
    let ran = whole.check(&["-o", "json"]).await;
    let document = ran.json();
    assert_eq!(document["schema"], "deevnet-console/site-check/v1");
    assert_eq!(document["verdict"], if complete { "ok" } else { "unknown" });
    let names: Vec<&str> =
        document["sources"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["pve", "exit hv02", "dns", "fw", "resolvers", "boot", "site"]);
    for (source, what) in [("pve", "clock"), ("exit hv02", "transit"), ("dns", "authority"), ("fw", "version")] {
        assert_eq!(only(&document, source, what)["state"], "ok", "{source}/{what}");
    }
    let yaml: Value = serde_yaml_ng::from_str(&whole.check(&["-o", "yaml"]).await.out).unwrap();
    assert_eq!(yaml["schema"], document["schema"]);
    for ran in [&table, &ran, &whole.check(&["-v"]).await] {
        whole.assert_silent(ran);
    }
    // Without the API, a zone to ask for is known from Proxmox.
    whole.edit(|text| text.replace("mode = \"api\"", "mode = \"dns-only\""));
    let document = whole.check(&["-o", "json"]).await.json();
    assert_eq!(only(&document, "dns", "API")["state"], "off");
    let authority = only(&document, "dns", "authority");
    assert!(authority["text"].as_str().unwrap().ends_with(".mobile.deevnet.net"), "{authority}");
    assert_eq!(document["verdict"], if complete { "ok" } else { "unknown" });
    whole.stop().await;
}

/// What is wrong with one source, and the commands for it.
struct Wrong {
    fault: &'static str,
    source: &'static str,
    check: &'static str,
    state: &'static str,
    text: &'static str,
    commands: &'static [&'static str],
}

const WRONG: &[Wrong] = &[
    Wrong {
        fault: "pve-auth",
        source: "pve",
        check: "token",
        state: "fault",
        text: "did not accept the API token",
        commands: &["pveum user token list 'deevnet@pve'"],
    },
    Wrong {
        fault: "dns-api-auth",
        source: "dns",
        check: "key",
        state: "fault",
        text: "did not accept the API key",
        commands: &["api-key=THE-KEY"],
    },
    Wrong {
        fault: "dns-api-denied",
        source: "dns",
        check: "key",
        state: "fault",
        text: "not in webserver-allow-from",
        commands: &["webserver-allow-from=127.0.0.1,::1,127.0.0.1"],
    },
    Wrong {
        fault: "fw-auth",
        source: "fw",
        check: "key",
        state: "fault",
        text: "did not accept the API key",
        commands: &[],
    },
    Wrong {
        fault: "exit-denied",
        source: "exit hv02",
        check: "rights",
        state: "fault",
        text: "no sudo line",
        commands: &[
            "install -o root -g root -m 0755 helper.sh /usr/local/sbin/deevnet-exit-node",
            "echo '%deevnet ALL=(root) NOPASSWD: /usr/local/sbin/deevnet-exit-node' > /etc/sudoers.d/deevnet-exit-node",
            "usermod -aG deevnet 'operator'",
        ],
    },
    Wrong {
        fault: "exit-down",
        source: "exit hv02",
        check: "transport",
        state: "fault",
        text: "Connection refused",
        commands: &[],
    },
    Wrong {
        fault: "pve-down",
        source: "pve",
        check: "TLS",
        state: "fault",
        text: "closed the connection",
        commands: &[],
    },
    Wrong {
        fault: "auth-down",
        source: "dns",
        check: "authority",
        state: "fault",
        text: "did not answer",
        commands: &[],
    },
    Wrong {
        fault: "resolver-down",
        source: "resolvers",
        check: "perimeter",
        state: "fault",
        text: "did not answer",
        commands: &[],
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_is_told_at_its_place_with_its_remedy_and_nowhere_else() {
    let whole = Whole::start("127.88.0.2", &[]).await;
    for wrong in WRONG {
        whole.lab.fault_on(wrong.fault).unwrap();
        let ran = whole.check(&["-o", "json"]).await;
        whole.lab.fault_off(wrong.fault).unwrap();
        let document = ran.json();
        assert_eq!(ran.code, Some(1), "{}: {document:#}", wrong.fault);
        let check = only(&document, wrong.source, wrong.check);
        assert_eq!(check["state"], wrong.state, "{}: {document:#}", wrong.fault);
        assert!(check["text"].as_str().unwrap().contains(wrong.text), "{}: {check:#}", wrong.fault);
        assert!(check["help"].is_string(), "{}: {check:#}", wrong.fault);
        let commands: Vec<&str> = check["commands"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
        for command in wrong.commands {
            assert!(commands.contains(command), "{}: {commands:?}", wrong.fault);
        }
        // The first marks of the others stand as ever.
        for (source, what) in [("pve", "token"), ("dns", "reach"), ("fw", "key"), ("exit hv02", "transport")] {
            if source != wrong.source {
                assert_eq!(only(&document, source, what)["state"], "ok", "{} also hit {source}", wrong.fault);
            }
        }
        whole.assert_silent(&ran);
    }
    whole.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_rights_is_told_each_with_what_grants_it() {
    let whole = Whole::start("127.88.0.3", &["pve-denied"]).await;
    let ran = whole.check(&["-o", "json"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.all());
    let document = ran.json();
    let lacks = checks(&document, "pve", "rights");
    let faults: Vec<&str> =
        lacks.iter().filter(|c| c["state"] == "fault").map(|c| c["text"].as_str().unwrap()).collect();
    let all = ["Sys.Audit on /", "Sys.Audit on /nodes", "SDN.Audit on /sdn", "VM.Audit on /vms"];
    assert_eq!(faults, all.map(|right| format!("lacks {right}")));
    for (lack, right) in lacks.iter().zip(all) {
        let (privilege, path) = right.split_once(" on ").unwrap();
        let commands = lack["commands"].to_string();
        assert!(commands.contains(&format!("pveum role add DeevnetConsoleRead --privs '{privilege}'")), "{commands}");
        let grant = format!(
            "acl modify '{path}' --users 'deevnet@pve' --tokens 'deevnet@pve!console' --roles DeevnetConsoleRead"
        );
        assert!(commands.contains(&grant), "{commands}");
    }
    // An empty list is no proof of absence.
    let controller = only(&document, "site", "controller");
    assert_eq!(controller["state"], "unknown", "{controller}");
    let storage = only(&document, "site", "storage");
    assert!(storage["commands"].to_string().contains("pveum acl modify '/storage'"), "{storage}");
    let table = whole.check(&[]).await.out;
    let long = table.lines().find(|line| !line.contains("pveum") && line.chars().count() > 160);
    assert_eq!(long, None, "{table}");
    whole.assert_silent(&ran);
    whole.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_privileges_is_told_where_to_click() {
    let whole = Whole::start("127.88.0.4", &["fw-denied"]).await;
    let ran = whole.check(&["-o", "json"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.all());
    let document = ran.json();
    assert_eq!(only(&document, "fw", "key")["state"], "ok");
    let lacks = checks(&document, "fw", "rights");
    let told = serde_json::to_string(&lacks).unwrap();
    for (id, name) in [
        ("page-filter-api", "Firewall: Rules [new]"),
        ("page-services-unbound", "Services: Unbound (MVC)"),
        ("page-system-staticroutes", "System: Static Routes"),
    ] {
        assert!(told.contains(&format!("{name}   ({id})")), "{name}: {told}");
    }
    assert!(told.contains("System → Access → Users") && lacks.iter().all(|c| c["state"] == "fault"), "{told}");
    assert!(told.contains("firewall/filter/get_rule/{uuid}"), "every endpoint that needs it is named: {told}");
    whole.assert_silent(&ran);

    // One privilege alone, and an endpoint that fails, which is no missing right.
    whole.lab.fault_off("fw-denied").unwrap();
    for (path, status, state, text) in [
        ("unbound/", 403, "fault", "lacks \"Services: Unbound (MVC)\""),
        ("diagnostics/firewall/query_states", 500, "unknown", "OPNsense failed on diagnostics/firewall/query_states"),
    ] {
        whole.lab.edit(|world| world.perimeter.faulty = [(path.to_owned(), status)].into_iter().collect()).unwrap();
        let document = whole.check(&["-o", "json"]).await.json();
        let rights = checks(&document, "fw", "rights");
        let wrong: Vec<_> = rights.iter().filter(|c| c["state"] != "ok" && c["state"] != "off").collect();
        assert_eq!(wrong.len(), 1, "{path}: {rights:#?}");
        assert_eq!(wrong[0]["state"], state, "{path}");
        assert!(wrong[0]["text"].as_str().unwrap().starts_with(text), "{path}: {}", wrong[0]);
    }
    whole.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_file_names_wrongly_is_the_configurations_fault() {
    let whole = Whole::start("127.88.0.5", &[]).await;
    for (from, to, check, text) in [
        ("controller = \"evpn1\"", "controller = \"evpn2\"", "controller", "no controller evpn2"),
        ("asn = 65020", "asn = 65021", "controller", "ASN 65020"),
        ("vrf_vni_base = 10000", "vrf_vni_base = 11000", "numbering", "no zone has a VRF VNI from 11001 to 11063"),
        ("storage = \"local-lvm\"", "storage = \"local-zfs\"", "storage", "no storage local-zfs"),
        ("template_prefix = \"fedora-\"", "template_prefix = \"debian-\"", "template", "no template is called debian-"),
        ("fabric = \"tfab\"", "fabric = \"xfab\"", "fabric", "no fabric xfab"),
    ] {
        whole.edit(|text| text.replace(from, to));
        let ran = whole.check(&["-o", "json"]).await;
        whole.edit(|text| text.replace(to, from));
        let document = ran.json();
        let found = only(&document, "site", check);
        assert_eq!((ran.code, found["state"].as_str()), (Some(2), Some("fault")), "{to}: {found:#}");
        assert!(found["text"].as_str().unwrap().contains(text), "{to}: {found:#}");
    }
    whole.edit(|text| text.replace("transit_interface = \"vmbr0.50\"", "transit_interface = \"vmbr0\""));
    let document = whole.check(&["-o", "json"]).await.json();
    let transit = only(&document, "exit hv02", "transit");
    assert_eq!(transit["text"], "10.20.50.22 is on vmbr0.50, not on vmbr0");
    whole.stop().await;
}
