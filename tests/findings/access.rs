//! Whether the console may and can look: kinds of refusal that must not be mixed up.

use crate::by_hand::{SILENCE, Site, asked, get, http};
use deevnet_console::backends::http::TlsFault;
use deevnet_console::diagnose::evidence::Item;

fn refused(path: &str, status: u16, message: &str) -> Item {
    let body = serde_json::json!({"data": null, "message": format!("{message}\n")}).to_string();
    http("hv", &format!("GET /api2/json/{path}"), status, message, &body)
}

fn unanswered(request: &str, why: &str) -> Item {
    http("x", request, 0, why, "")
}

#[test]
fn refusals_of_proxmox_are_told_apart() {
    for (item, ids) in [
        (refused("version", 401, "permission denied - invalid PVE ticket"), &["ticket-expired"][..]),
        (refused("version", 401, "token 'a' access expired"), &["token-expired"]),
        (refused("version", 401, "no such token 'a' for user 'u@pve'"), &["token-unknown"]),
        (refused("version", 401, "No ticket"), &["credentials-not-sent"]),
        (refused("version", 401, "Authentication failed!"), &["credentials-rejected"]),
        (refused("version", 403, "Permission check failed (/, Sys.Audit)"), &["privilege-missing"]),
        (
            refused("cluster/sdn/lock", 500, "could not acquire lock for SDN config: invalid lock token provided!"),
            &["lock-held"],
        ),
        (refused("nodes/hv/qemu/9/config", 500, "VM is locked (backup)"), &["lock-held"]),
        (
            refused("cluster/sdn", 500, "update failed: cfs-lock 'domain-sdn' error: got lock request timeout"),
            &["lock-held"],
        ),
        (refused("cluster/sdn", 500, "update failed: cfs-lock 'domain-sdn' error: no quorum!"), &["no-quorum"]),
        (refused("nodes/hv/qemu", 595, "No route to host"), &["node-unreachable"]),
        (refused("nodes/hv/qemu", 500, "hostname lookup 'hv' failed - failed to get address info"), &["node-unknown"]),
    ] {
        Site(vec![item]).is(ids);
    }
}

#[test]
fn a_denied_file_is_quorum_only_where_the_votes_say_so() {
    let denied = refused(
        "nodes/hv/qemu/9/config",
        500,
        "unable to open file '/etc/pve/nodes/hv/9.conf.tmp' - Permission denied",
    );
    Site(vec![denied.clone()]).is_unknown("votes");
    let votes = |quorate: u8| {
        let body = format!(
            r#"{{"data":[{{"type":"cluster","name":"c","quorate":{quorate}}},{{"type":"node","name":"hv","online":1}}]}}"#
        );
        get("hv", "/api2/json/cluster/status", &body)
    };
    Site(vec![denied.clone(), votes(0)]).is(&["no-quorum"]);
    Site(vec![denied, votes(1)]).is(&[]);
}

#[test]
fn a_name_of_nobody_is_no_node_that_is_down() {
    let nodes =
        get("hv", "/api2/json/nodes", r#"{"data":[{"node":"hv","status":"online"},{"node":"hw","status":"offline"}]}"#);
    let call = |node: &str, status| refused(&format!("nodes/{node}/qemu"), status, "certificate verify failed");
    Site(vec![nodes.clone(), call("hv.test", 596)]).is(&["node-unknown", "node-unreachable"]);
    Site(vec![nodes, call("hw", 596)]).is(&["node-unreachable"]);
    Site(vec![call("hv.test", 596)]).is_unknown("list of the cluster's nodes");
}

#[test]
fn a_certificate_is_no_silence() {
    let pin = TlsFault::PinMismatch { expected: [1; 32], seen: [2; 32] }.to_string();
    let issuer = TlsFault::UnknownIssuer.to_string();
    let renewed = TlsFault::BadSignature.to_string();
    for (why, id) in [
        (pin.as_str(), "pin-mismatch"),
        (&issuer, "ca-unknown"),
        (&renewed, "ca-unknown"),
        ("connection refused", "source-unreachable"),
        ("", "source-unreachable"),
    ] {
        Site(vec![unanswered("GET /api2/json/version", why)]).is(&[id]);
    }
    // One answer, whatever it says, is no silence.
    let one = [
        unanswered("GET /api2/json/version", "timed out"),
        get("x", "/api2/json/version", r#"{"data":{"version":"9.1"}}"#),
    ];
    Site(one.to_vec()).is(&[]);
}

#[test]
fn a_dead_router_is_one_line() {
    let interfaces = r#"{"rows":[{"identifier":"lan","description":"LAN","addr4":"192.0.2.1/24","gateways":[]}]}"#;
    let dead = Site(vec![
        unanswered("POST /api/unbound/settings/search_forward", "timed out"),
        unanswered("GET /api/routes/gateway/status", "timed out"),
        unanswered("GET /api/firewall/filter/search_rule", "timed out"),
        asked("192.0.2.1", "localhost. A", SILENCE),
        asked("192.0.2.1", "app.shop.test. A", SILENCE),
    ]);
    dead.is(&["source-unreachable"]);
    let report = dead.report();
    assert_eq!(report.findings.len(), 1, "{:#?}", report.findings);
    assert!(report.unknown.iter().any(|u| u.missing == "everything that OPNsense tells"));
    // Where it is known that the resolver is the router's, its silence hangs under the same line.
    let known = get("fw", "/api/interfaces/overview/interfaces_info", interfaces);
    dead.and(known).is(&["resolver-down"]);
}

#[test]
fn a_key_that_lacks_several_privileges_is_one_fault() {
    let refused = |path: &str| http("fw", &format!("GET /api/{path}"), 403, "Forbidden", "{\"status\":403}");
    let key =
        Site(vec![refused("core/firmware/status"), refused("routes/gateway/status"), refused("core/system/status")]);
    key.is(&["privilege-missing"]);
    let report = key.report();
    let [one] = report.findings.as_slice() else { panic!("{:#?}", report.findings) };
    assert_eq!((one.subject.kind, one.subject.name.as_str()), ("token", "OPNsense key"));
    assert!(one.title.contains("lacks 3 privileges"), "{}", one.title);
    let told: Vec<&str> = one.facts.iter().filter(|f| f.key == "privilege.missing").map(|f| f.value.as_str()).collect();
    let grant = &one.next[0].text;
    assert!(told.len() == 3 && told.iter().all(|privilege| grant.contains(privilege)), "{told:?} {grant}");
}

#[test]
fn an_agent_that_was_forbidden_to_be_asked_is_not_silent() {
    let agent = "nodes/hv/qemu/9/agent/network-get-interfaces";
    for (status, message, ids) in [
        (
            403,
            "Permission check failed (/vms/9, VM.GuestAgent.Audit|VM.GuestAgent.Unrestricted)",
            &["privilege-missing"][..],
        ),
        (500, "No QEMU guest agent configured", &["agent-option-off"]),
        (500, "VM 9 is not running", &["workload-stopped"]),
        (500, "QEMU guest agent is not running", &["agent-silent"]),
        (595, "Connection refused", &["node-unreachable"]),
    ] {
        Site(vec![refused(agent, status, message)]).is(ids);
    }
}

#[test]
fn an_end_that_was_told_is_not_lost() {
    let path = "nodes/hv/qemu/9/agent/exec-status?pid=3";
    let gone = refused(path, 500, "Agent error: PID 3 does not exist");
    let ended = get("hv", &format!("/api2/json/{path}"), r#"{"data":{"exited":1,"exitcode":0}}"#);
    Site(vec![gone.clone()]).is(&["agent-process-lost"]);
    Site(vec![ended, gone]).is(&[]);
}

#[test]
fn an_empty_list_of_a_token_with_rights_is_empty() {
    let list = get("hv", "/api2/json/cluster/resources", r#"{"data":[]}"#);
    let rights = |body: &str| get("hv", "/api2/json/access/permissions", body);
    Site(vec![list.clone(), rights(r#"{"data":{}}"#)]).is(&["token-without-rights"]);
    Site(vec![list.clone(), rights(r#"{"data":{"/":{"VM.Audit":1}}}"#)]).is(&[]);
    Site(vec![list]).is_unknown("access/permissions");
}
