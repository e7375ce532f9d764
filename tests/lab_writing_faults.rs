//! Each fault of changing something, seen in what a change comes to; and which of them a change ends.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which should stop")]

mod change_common;
#[path = "change_common/requests.rs"]
mod requests;

use deevnet_console::lab::Pace;
use requests::{NODE, Site, site};
use serde_json::json;

const ZONE: &str = "/cluster/sdn/zones/tdemo";

async fn with(faults: &[&str]) -> Site {
    let site = site(None, Pace::Instant).await;
    faults.iter().for_each(|fault| site.lab.fault_on(fault).unwrap());
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_keeps_others_out_until_it_is_freed() {
    for fault in ["sdn-locked", "sdn-lock-stale"] {
        let site = with(&[fault]).await;
        let refused = site.send("PUT", ZONE, &[("mtu", "1400")]).await;
        let text = "invalid lock token provided! at /usr/share/perl5/PVE/Network/SDN.pm line 291.";
        assert_eq!(refused.refusal(), (500, format!("update sdn zone object failed: {text}").as_str()));
        let second = site.send("POST", "/cluster/sdn/lock", &[("allow-pending", "1")]).await;
        assert_eq!(second.refusal(), (500, format!("could not acquire lock for SDN config: {text}").as_str()));
        site.send("DELETE", "/cluster/sdn/lock", &[("force", "1")]).await.data();
        site.send("PUT", ZONE, &[("mtu", "1400")]).await.data();
        assert_eq!(site.get(ZONE).await["mtu"], 1400);
        assert_eq!(site.lab.faults(), Vec::<String>::new(), "whoever frees the lock ends the fault");
        site.lab.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_edits_ride_along_or_are_rolled_back() {
    let site = with(&["foreign-edits@eds", "foreign-zone"]).await;
    let refused = site.send("POST", "/cluster/sdn/lock", &[]).await;
    assert!(refused.refusal().1.contains("configuration has pending changes"), "{refused:?}");
    site.send("PUT", "/cluster/sdn", &[]).await.data();
    assert!(!site.on_node("ip -j addr show dev eds0").contains("10.20.130.1"), "the gateway went with the apply");
    site.lab.fault_off("foreign-edits").unwrap();
    let subnets = site.get("/cluster/sdn/vnets/eds0/subnets?running=1").await;
    assert_eq!(subnets, json!([]), "what was applied stays applied");

    let other = with(&["foreign-edits@eds", "sdn-pending@tdemo"]).await;
    other.send("POST", "/cluster/sdn/rollback", &[]).await.data();
    assert_eq!(other.lab.faults(), Vec::<String>::new(), "nothing waits any more");
    let zone = other.get("/cluster/sdn/zones?pending=1").await;
    assert!(zone.as_array().unwrap().iter().all(|zone| zone.get("state").is_none()), "{zone}");
    site.lab.shutdown().await;
    other.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_fails_on_a_node_still_ends_with_ok() {
    let site = with(&["apply-misses-node"]).await;
    site.tenant("shop", 20).await;
    let apply = site.send("PUT", "/cluster/sdn", &[]).await;
    assert_eq!(site.end(&apply).await, "OK");
    assert!(site.log(&apply).await.contains("command 'pvesh set /nodes/dv02hyp002p02/network"), "its log says so");
    let states = site.get(&format!("{NODE}/sdn/zones")).await;
    assert!(states.as_array().unwrap().iter().all(|zone| zone["status"] == "pending"), "{states}");
    assert!(!site.on_node("ip -j link").contains("vrf_shop"));
    // The next one reaches it.
    site.lab.fault_off("apply-misses-node").unwrap();
    site.send("PUT", "/cluster/sdn", &[]).await.data();
    assert!(site.on_node("ip -j link").contains("vrf_shop"));

    site.lab.fault_on("reload-fails").unwrap();
    site.tenant("cafe", 21).await;
    let apply = site.send("PUT", "/cluster/sdn", &[]).await;
    assert_eq!(site.end(&apply).await, "OK");
    let reload = &site.get(&format!("{NODE}/tasks?typefilter=srvreload&limit=1&errors=1")).await[0];
    assert_eq!(reload["status"], "command 'ifreload -a' failed: exit code 1");
    let content = site.get(&format!("{NODE}/sdn/zones/cafe/content")).await;
    assert_eq!(content[0]["statusmsg"], "vnet is not generated. Please check the 'reload network' task log.");
    let links = site.on_node("ip -j link");
    assert!(links.contains("vrf_cafe") && !links.contains("vxlan_cafe0"), "{links}");
    site.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_repairs_what_a_reload_makes_anew() {
    let site =
        with(&["snat-missing@tdemo", "frr-local-not-merged@eds", "vnet-missing@radio", "snat-duplicate@sensors"]).await;
    assert!(!site.on_node("iptables-save -c -t nat").contains("-s 10.20.129.0/24"));
    site.send("PUT", "/cluster/sdn", &[]).await.data();
    assert!(site.on_node("iptables-save -c -t nat").contains("-s 10.20.129.0/24"));
    assert!(site.on_node("ip -j route show vrf vrf_eds").contains("10.20.50.1"));
    assert!(site.on_node("ip -j link").contains("vxlan_radio0"));
    assert_eq!(site.lab.faults(), ["snat-duplicate@sensors"], "a rule that is there twice stays so");
    site.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_quorum_or_with_a_busy_lock_nothing_is_changed() {
    let site = with(&["pve-no-quorum"]).await;
    let create = site.send("POST", "/cluster/sdn/controllers", &[("type", "bgp"), ("controller", "bgp1")]).await;
    assert_eq!(create.refusal(), (500, "cluster not ready - no quorum?"));
    let clone = site.send("POST", &format!("{NODE}/qemu/902/clone"), &[("newid", "2300")]).await;
    assert_eq!(clone.refusal(), (500, "cluster not ready - no quorum?"));
    let update = site.send("PUT", ZONE, &[("mtu", "1400")]).await;
    let text = "update sdn zone object failed: cfs-lock 'domain-sdn' error: no quorum!";
    assert_eq!(update.refusal(), (500, text));
    site.lab.fault_off("pve-no-quorum").unwrap();
    site.lab.fault_on("sdn-busy").unwrap();
    let apply = site.send("PUT", "/cluster/sdn", &[]).await;
    let text = "could not commit SDN config: cfs-lock 'domain-sdn' error: got lock request timeout";
    assert_eq!(apply.refusal(), (500, text));
    site.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_is_not_made_leaves_nothing() {
    for (fault, words) in [("clone-fails", "copy failed"), ("storage-full", "free space")] {
        let site = with(&[fault]).await;
        let clone = site.send("POST", &format!("{NODE}/qemu/902/clone"), &[("newid", "2300"), ("full", "1")]).await;
        let end = site.end(&clone).await;
        assert!(end.starts_with("clone failed: ") && end.contains(words), "{end}");
        let missing = site.send("GET", &format!("{NODE}/qemu/2300/config"), &[]).await;
        assert_eq!(missing.status, 500, "{missing:?}");
        site.lab.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn machines_that_do_not_do_as_they_are_told() {
    let site = with(&["lock-held@tdemo", "shutdown-ignored@eds", "start-fails@radio"]).await;
    let locked = site.send("POST", &format!("{NODE}/qemu/2040/status/stop"), &[]).await;
    assert_eq!(site.end(&locked).await, "VM is locked (backup)");
    let deaf = site.send("POST", &format!("{NODE}/qemu/2080/status/shutdown"), &[("timeout", "3")]).await;
    assert_eq!(site.end(&deaf).await, "VM quit/powerdown failed - got timeout");
    assert_eq!(site.get(&format!("{NODE}/qemu/2080/status/current")).await["status"], "running");
    site.send("POST", &format!("{NODE}/qemu/2280/status/stop"), &[]).await.data();
    let start = site.send("POST", &format!("{NODE}/qemu/2280/status/start"), &[]).await;
    assert_eq!(site.end(&start).await, "start failed: QEMU exited with code 1");
    // Whoever starts what a fault had stopped has repaired it.
    site.lab.fault_on("workload-down@greenhse").unwrap();
    let start = site.send("POST", &format!("{NODE}/qemu/2120/status/start"), &[]).await;
    assert_eq!(site.end(&start).await, "OK");
    assert_eq!(site.get(&format!("{NODE}/qemu/2120/status/current")).await["status"], "running");
    assert!(!site.lab.faults().iter().any(|fault| fault.starts_with("workload-down")));
    assert_eq!(site.lab.faults().len(), 3, "the others stay: {:?}", site.lab.faults());
    site.lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_not_given_says_nothing_of_what_was_done() {
    for (fault, status) in
        [("answer-lost", None), ("answer-500", Some(500)), ("answer-596", Some(596)), ("answer-599", Some(599))]
    {
        let site = with(&[fault]).await;
        let answer = site.try_send("PUT", ZONE, &[("mtu", "1400")]).await;
        assert_eq!(answer.map(|answer| answer.status), status, "{fault}");
        assert_eq!(site.get(ZONE).await["mtu"], 1400, "{fault}: it took effect, and reading is not disturbed");
        // What is refused is refused in so many words.
        let refused = site.send("DELETE", ZONE, &[]).await;
        assert!(refused.refusal().1.contains("is used by vnet tdemo0"), "{fault}: {refused:?}");
        site.lab.shutdown().await;
    }
}
