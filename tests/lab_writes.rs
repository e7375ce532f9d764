//! Changing the lab through its Proxmox API: from an empty site to a tenant with a workload that runs, and back.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, which should stop")]

mod change_common;
#[path = "change_common/requests.rs"]
mod requests;

use std::collections::BTreeSet;

use base64::Engine as _;
use change_common::NOW_MS;
use deevnet_console::lab::Pace;
use requests::{NODE, Site, site};
use serde_json::{Value, json};

/// Clones, configures and starts the first workload of the first tenant.
async fn workload(site: &Site) {
    let clone = [("newid", "2040"), ("name", "shop-app"), ("full", "1"), ("storage", "local-lvm")];
    let clone = site.send("POST", &format!("{NODE}/qemu/902/clone"), &clone).await;
    assert_eq!(site.end(&clone).await, "OK");
    let uuid = site.get(&format!("{NODE}/qemu/2040/config")).await["smbios1"].as_str().unwrap().to_owned();
    let pointer = format!("dvb1;u=https://10.20.25.20:8443;n=shop/app;x={};t=dbt1.x", NOW_MS / 1000 + 1200);
    let serial = base64::engine::general_purpose::STANDARD.encode(pointer);
    let smbios = format!("{uuid},serial={serial},base64=1");
    let config = [
        ("net0", "virtio=02:de:20:00:07:f8,bridge=shop0"),
        ("ipconfig0", "ip=10.20.129.10/24,gw=10.20.129.1"),
        ("agent", "enabled=1"),
        ("tags", "tenant;shop"),
        ("smbios1", &smbios),
    ];
    let config = site.send("POST", &format!("{NODE}/qemu/2040/config"), &config).await;
    assert_eq!(site.end(&config).await, "OK");
    let start = site.send("POST", &format!("{NODE}/qemu/2040/status/start"), &[]).await;
    assert_eq!(site.end(&start).await, "OK");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_site_gets_its_first_tenant_and_loses_it_again() {
    let site = site(Some(0), Pace::Instant).await;
    assert_eq!(site.get("/cluster/sdn/zones?pending=1").await, json!([]));
    let bare = site.on_node("ip -j link");
    let lock = site.send("POST", "/cluster/sdn/lock", &[]).await;
    let token = lock.data().as_str().unwrap().to_owned();
    assert_eq!(site.send("DELETE", "/cluster/sdn/lock", &[("lock-token", &token)]).await.data(), &Value::Null);
    site.tenant("shop", 1).await;
    let zone = &site.get("/cluster/sdn/zones?pending=1").await[0];
    assert_eq!((zone["state"].as_str(), &zone["pending"]["vrf-vxlan"]), (Some("new"), &json!(10_001)));
    let dry = site.get("/cluster/sdn/dry-run?node=dv02hyp002p02").await;
    let text = dry["interfaces-diff"].as_str().unwrap();
    assert!(text.contains("+iface vrf_shop") && text.contains("+iface shop0"), "{text}");
    assert!(!text.contains("10.20.129"), "the dry run takes subnets from the applied set: {text}");
    assert!(dry["frr-diff"].as_str().unwrap().contains("+ vni 10001"), "{dry}");
    assert_eq!(site.on_node("ip -j link"), bare, "nothing is there before the apply");

    site.way_out("vrf vrf_shop\n ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default\nexit-vrf\n");
    let apply = site.send("PUT", "/cluster/sdn", &[]).await;
    assert_eq!(site.end(&apply).await, "OK");
    assert_eq!(site.get(&format!("{NODE}/sdn/zones")).await, json!([{"zone": "shop", "status": "available"}]));
    let reloads = site.get(&format!("{NODE}/tasks?typefilter=srvreload&limit=1")).await;
    assert_eq!((&reloads[0]["id"], &reloads[0]["status"]), (&json!("networking"), &json!("OK")));
    assert!(site.on_node("ip -j link").contains("vxlan_shop0"));
    assert!(site.on_node("ip -j route show vrf vrf_shop").contains("10.20.50.1"), "its way out");
    assert!(site.on_node("iptables-save -c -t nat").contains("-s 10.20.129.0/24"), "its SNAT");
    assert!(site.on_node("vtysh -c show running-config").contains("vrf vrf_shop"));

    workload(&site).await;
    let seen = site.get(&format!("{NODE}/qemu/2040/agent/network-get-interfaces")).await;
    assert_eq!(seen["result"][1]["ip-addresses"][0]["ip-address"], "10.20.129.10");
    let world = site.lab.world();
    assert!(world.boot.deliveries[&2040].redeemed.is_some(), "its pointer led to a check-in");

    let running = site.send("DELETE", &format!("{NODE}/qemu/2040"), &[]).await;
    assert_eq!(running.refusal(), (500, "VM 2040 is running - destroy failed"));
    site.send("POST", &format!("{NODE}/qemu/2040/status/stop"), &[]).await.data();
    let gone = site.send("DELETE", &format!("{NODE}/qemu/2040"), &[("purge", "1")]).await;
    assert_eq!(site.end(&gone).await, "OK");
    for path in ["vnets/shop0/subnets/shop-10.20.129.0-24", "vnets/shop0", "zones/shop"] {
        site.send("DELETE", &format!("/cluster/sdn/{path}"), &[]).await.data();
    }
    let waits = site.get("/cluster/sdn/zones?pending=1").await;
    assert_eq!(waits[0]["state"], "deleted");
    assert!(site.on_node("ip -j link").contains("vrf_shop"), "it stays until the apply");
    site.send("PUT", "/cluster/sdn", &[]).await.data();
    assert_eq!(site.on_node("ip -j link"), bare);
    site.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_time_takes_it_by_the_labs_clock() {
    let site = site(None, Pace::Clock).await;
    let clone = site.send("POST", &format!("{NODE}/qemu/902/clone"), &[("newid", "2300"), ("full", "1")]).await;
    assert_eq!(site.end(&clone).await, "running");
    let config = site.get(&format!("{NODE}/qemu/2300/config")).await;
    assert_eq!((&config["lock"], &config["description"]), (&json!("clone"), &json!(" qmclone temporary file")));
    let locked = site.send("PUT", &format!("{NODE}/qemu/2300/config"), &[("cores", "4")]).await;
    assert_eq!(locked.refusal(), (500, "VM is locked (clone)"));
    site.hand.advance(5000);
    assert_eq!(site.end(&clone).await, "OK");
    let config = site.get(&format!("{NODE}/qemu/2300/config")).await;
    assert_eq!((&config["lock"], &config["scsi0"]), (&Value::Null, &json!("local-lvm:vm-2300-disk-0,size=32G")));

    site.tenant("shop", 20).await;
    let tables = |site: &Site| site.on_node("ip -j -d link show type vrf");
    let before = tables(&site);
    let apply = site.send("PUT", "/cluster/sdn", &[]).await;
    let applied = site.get("/cluster/sdn/zones?pending=1").await;
    assert!(applied.as_array().unwrap().iter().all(|zone| zone.get("state").is_none()), "nothing pends any more");
    let states = site.get(&format!("{NODE}/sdn/zones")).await;
    assert!(states.as_array().unwrap().iter().all(|zone| zone["status"] == "pending"), "{states}");
    assert_eq!(tables(&site), before, "the node has not reloaded");
    site.hand.advance(10_000);
    assert_eq!(site.end(&apply).await, "OK");
    let table = |text: &str, vrf: &str| {
        let rows: Vec<Value> = serde_json::from_str(text).unwrap();
        rows.iter().find(|row| row["ifname"] == vrf).map(|row| row["linkinfo"]["info_data"]["table"].clone())
    };
    let after = tables(&site);
    assert_eq!(table(&after, "vrf_tdemo"), table(&before, "vrf_tdemo"), "who was there keeps its table");
    assert_eq!(table(&after, "vrf_shop"), Some(json!(1007)), "the next free one");
    site.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_is_refused() {
    let mut site = site(None, Pace::Instant).await;
    assert!(site.lab.site_toml().contains("proxmox-writer-token"), "this lab was asked to be writable");
    site.login("proxmox-token");
    let before = format!("{:?}", site.lab.world());
    let refused = [
        ("POST", "/cluster/sdn/lock", "/sdn, SDN.Allocate"),
        ("PUT", "/cluster/sdn", "/sdn, SDN.Allocate"),
        ("POST", "/cluster/sdn/rollback", "/sdn, SDN.Allocate"),
        ("POST", "/cluster/sdn/zones", "/sdn/zones, SDN.Allocate"),
        ("DELETE", "/cluster/sdn/zones/tdemo", "/sdn/zones/tdemo, SDN.Allocate"),
        ("DELETE", "/cluster/sdn/vnets/tdemo0", "/sdn/zones/tdemo/tdemo0, SDN.Allocate"),
        ("POST", "/nodes/dv02hyp002p02/qemu/902/clone", "/vms/902, VM.Clone"),
        ("POST", "/nodes/dv02hyp002p02/qemu/2040/status/stop", "/vms/2040, VM.PowerMgmt"),
        ("PUT", "/nodes/dv02hyp002p02/qemu/2040/resize", "/vms/2040, VM.Config.Disk"),
        ("DELETE", "/nodes/dv02hyp002p02/qemu/2040", "/vms/2040, VM.Allocate"),
    ];
    for (method, path, right) in refused {
        let answer = site.send(method, path, &[]).await;
        assert_eq!(answer.refusal(), (403, format!("Permission check failed ({right})").as_str()), "{method} {path}");
    }
    let config = site.send("PUT", &format!("{NODE}/qemu/2040/config"), &[("cores", "4")]).await;
    assert_eq!(config.status, 403);
    assert_eq!(format!("{:?}", site.lab.world()), before, "nothing changed");
    site.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_machine_takes_most_settings_at_its_next_start() {
    let site = site(None, Pace::Instant).await;
    let path = format!("{NODE}/qemu/2040");
    site.send("PUT", &format!("{path}/config"), &[("cores", "4"), ("tags", "tenant;tdemo;x")]).await.data();
    let current = site.get(&format!("{path}/config?current=1")).await;
    assert_eq!((&current["cores"], &current["tags"]), (&json!(2), &json!("tenant;tdemo;x")));
    let row = |rows: &Value, key: &str| rows.as_array().unwrap().iter().find(|row| row["key"] == key).cloned().unwrap();
    let pending = site.get(&format!("{path}/pending")).await;
    assert_eq!(row(&pending, "cores"), json!({"key": "cores", "value": 2, "pending": 4}));
    site.send("POST", &format!("{path}/status/reboot"), &[]).await.data();
    let pending = site.get(&format!("{path}/pending")).await;
    assert_eq!(row(&pending, "cores"), json!({"key": "cores", "value": 4}));
    let digest = site.get(&format!("{path}/config")).await["digest"].as_str().unwrap().to_owned();
    site.send("PUT", &format!("{path}/config"), &[("description", "a"), ("digest", &digest)]).await.data();
    let stale = site.send("PUT", &format!("{path}/config"), &[("description", "b"), ("digest", &digest)]).await;
    assert_eq!(stale.refusal(), (500, "checksum mismatch (file change by other user?)"));
    let reset = site.send("POST", &format!("{NODE}/qemu/901/status/reset"), &[]).await;
    assert_eq!(reset.refusal(), (500, "VM 901 not running"));
    site.lab.shutdown().await;
}

/// What the contract says of a request: its parameters, and those that must be there.
fn contract(call: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let path = call["path"].as_str().unwrap();
    let all = call["parameters"]["properties"].as_object().unwrap();
    let own = all.iter().filter(|(name, _)| !path.contains(&format!("{{{name}}}")));
    let needed = own.clone().filter(|(_, form)| form["optional"] != 1).map(|(name, _)| name.clone()).collect();
    (own.map(|(name, _)| name.replace("[n]", "0")).collect(), needed)
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_those_of_the_contract() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts/pve-api.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED parameters_are_those_of_the_contract: ../shared is absent");
        return;
    };
    let calls: Value = serde_json::from_str(&text).unwrap();
    let site = site(None, Pace::Instant).await;
    let served = [
        "POST /cluster/sdn/lock",
        "DELETE /cluster/sdn/lock",
        "PUT /cluster/sdn",
        "POST /cluster/sdn/rollback",
        "POST /cluster/sdn/zones",
        "PUT /cluster/sdn/zones/{zone}",
        "DELETE /cluster/sdn/zones/{zone}",
        "POST /cluster/sdn/vnets",
        "PUT /cluster/sdn/vnets/{vnet}",
        "DELETE /cluster/sdn/vnets/{vnet}",
        "POST /cluster/sdn/vnets/{vnet}/subnets",
        "PUT /cluster/sdn/vnets/{vnet}/subnets/{subnet}",
        "DELETE /cluster/sdn/vnets/{vnet}/subnets/{subnet}",
        "POST /cluster/sdn/controllers",
        "PUT /cluster/sdn/controllers/{controller}",
        "DELETE /cluster/sdn/controllers/{controller}",
        "POST /nodes/{node}/qemu/{vmid}/clone",
        "PUT /nodes/{node}/qemu/{vmid}/config",
        "POST /nodes/{node}/qemu/{vmid}/config",
        "PUT /nodes/{node}/qemu/{vmid}/resize",
        "PUT /nodes/{node}/qemu/{vmid}/cloudinit",
        "POST /nodes/{node}/qemu/{vmid}/status/start",
        "POST /nodes/{node}/qemu/{vmid}/status/stop",
        "POST /nodes/{node}/qemu/{vmid}/status/shutdown",
        "POST /nodes/{node}/qemu/{vmid}/status/reboot",
        "POST /nodes/{node}/qemu/{vmid}/status/reset",
        "DELETE /nodes/{node}/qemu/{vmid}",
    ];
    let mut wrong = Vec::new();
    for call in served {
        let (known, needed) = contract(&calls[call]);
        let (method, path) = call.split_once(' ').unwrap();
        let names = [("{zone}", "tdemo"), ("{vnet}", "tdemo0"), ("{subnet}", "tdemo-10.20.129.0-24")];
        let more = [("{controller}", "evpn1"), ("{node}", "dv02hyp002p02"), ("{vmid}", "2040")];
        let path = names.iter().chain(&more).fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
        // One that nobody knows is with them, so that nothing is done.
        let fields: Vec<(&str, &str)> =
            known.iter().filter(|name| !needed.contains(*name)).map(|name| (name.as_str(), "\u{1}")).collect();
        let answer = site.send(method, &path, &[&fields[..], &[("nosuch", "1")]].concat()).await;
        let errors = answer.body["errors"].as_object().cloned().unwrap_or_default();
        let said = |text: &str| -> BTreeSet<String> {
            let with = |(_, error): &(&String, &Value)| error.as_str().unwrap().starts_with(text);
            errors.iter().filter(with).map(|(name, _)| name.clone()).collect()
        };
        let unknown = said("property is not defined in schema");
        let missing = said("property is missing");
        if answer.status != 400 || unknown != BTreeSet::from(["nosuch".to_owned()]) || missing != needed {
            wrong.push(format!("{call}: {} unknown {unknown:?} missing {missing:?}", answer.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    site.lab.shutdown().await;
}
