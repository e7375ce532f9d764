//! Making, changing and removing guests: what looks alike and is something else.

use crate::by_hand::{Site, get, http, item, report};
use deevnet_console::diagnose::evidence::{Item, Kind};

/// A change with the form that was sent.
fn sent(request: &str, form: &str, status: u16, message: &str) -> Item {
    let mut item =
        http("hv", request, status, message, &serde_json::json!({"data": null, "message": message}).to_string());
    if let Kind::Http(http) = &mut item.kind {
        http.sent = Some(form.to_owned());
    }
    item
}

fn material(what: &str, body: &str) -> Item {
    item(what, "operator", Kind::Material(what.to_owned()), body)
}

fn listed(name: &str) -> Item {
    let body = format!(r#"{{"data":[{{"type":"qemu","vmid":77,"name":"{name}","node":"hv","status":"stopped"}}]}}"#);
    get("hv", "/api2/json/cluster/resources", &body)
}

const CLONE: &str = "POST /api2/json/nodes/hv/qemu/9/clone";
const UPID: &str = "UPID:hv:0000A001:00C4D5E6:6926B2A0:qmclone:9:u@pve!t:";

fn tasks(query: &str, more: &str) -> Item {
    let body = format!(r#"{{"data":[{{"upid":"{UPID}","type":"qmclone","id":"9","node":"hv"{more}}}]}}"#);
    get("hv", &format!("/api2/json/nodes/hv/tasks?source=all{query}"), &body)
}

#[test]
fn a_number_that_is_taken_is_anothers_only_where_its_name_is() {
    let refused = sent(CLONE, "newid=77&name=web", 500, "unable to create VM 77: config file already exists");
    Site(vec![refused.clone(), listed("mail")]).is(&["vmid-taken"]);
    Site(vec![refused.clone(), listed("web")]).is_unknown("was made by an earlier request");
    Site(vec![refused]).is_unknown("whose guest 77 is");
    let unnamed = sent(CLONE, "newid=77", 500, "unable to create VM 77: config file already exists");
    Site(vec![unnamed, listed("mail")]).is_unknown("a name is missing");
}

#[test]
fn what_came_of_a_lost_answer_is_told_by_a_task_since() {
    let lost = |status| sent(CLONE, "newid=77&name=web", status, "");
    let outcome = |items: Vec<Item>| {
        let report = report(items);
        let fact = report.findings.iter().flat_map(|f| &f.facts).find(|fact| fact.key == "request.outcome");
        fact.map(|fact| fact.value.clone())
    };
    let ended = r#","starttime":1,"endtime":2,"status":"OK""#;
    let failed = r#","starttime":1,"endtime":2,"status":"clone failed: no space""#;
    for status in [0, 596, 599] {
        assert_eq!(outcome(vec![lost(status), tasks("&since=1", ended), listed("web")]).as_deref(), Some("done"));
    }
    assert_eq!(outcome(vec![lost(599), tasks("&since=1", ""), listed("VM 77")]), None, "its name is not known yet");
    let none = get("hv", "/api2/json/cluster/resources", r#"{"data":[]}"#);
    assert_eq!(outcome(vec![lost(599), tasks("&since=1", failed), none.clone()]).as_deref(), Some("failed"));
    assert_eq!(outcome(vec![lost(599), tasks("&since=1", ""), none.clone()]).as_deref(), Some("running"));
    // A task of any time before says nothing of this request.
    assert_eq!(outcome(vec![lost(599), tasks("", failed), none]), None);
    assert_eq!(outcome(vec![lost(599), tasks("&since=1", ended), listed("mail")]), None);
    // What Proxmox itself refused was not lost.
    assert_eq!(outcome(vec![lost(595), tasks("&since=1", ended), listed("web")]), None);
}

#[test]
fn a_guest_is_anothers_where_its_mark_is_and_not_where_somebody_edited_it() {
    let record =
        |mark: &str| material("record", &format!(r#"{{"name":"web","state":"failed","node":"hv","vmid":77{mark}}}"#));
    let marked = || record(r#","marker":"dc-1""#);
    let guest = |name: &str, notes: &str| {
        get(
            "hv",
            "/api2/json/nodes/hv/qemu/77/config",
            &format!(r#"{{"data":{{"name":"{name}","description":"{notes}"}}}}"#),
        )
    };
    Site(vec![marked(), guest("mail", "dc-2")]).is(&["vmid-reused"]);
    Site(vec![marked(), guest("mail", "")]).is(&["vmid-reused"]);
    Site(vec![marked(), guest("web", "dc-2")]).is(&["vmid-reused"]);
    Site(vec![marked(), guest("web2", "made by us\\ndc-1")]).is(&[]);
    Site(vec![marked(), guest("web", "ask before you touch it")]).is_unknown("whether guest 77 is the one");
    Site(vec![record(""), guest("mail", "")]).is_unknown("whether guest 77 is the one");
}

#[test]
fn a_restart_is_told_by_the_uptime_that_begins_anew() {
    let task = get(
        "hv",
        "/api2/json/nodes/hv/tasks/UPID:hv:0000A001:00C4D5E6:6926B2A0:qmreboot:77:u@pve!t:/status",
        r#"{"data":{"status":"running"}}"#,
    );
    let up = |seconds: u64| {
        let body = format!(r#"{{"data":{{"vmid":77,"status":"running","uptime":{seconds}}}}}"#);
        get("hv", "/api2/json/nodes/hv/qemu/77/status/current", &body)
    };
    let restarted = |items: Vec<Item>| {
        let report = report(items);
        assert_eq!(report.headline().map(|f| f.id), Some("task-runs-on"));
        report.findings[0].facts.iter().find(|f| f.key == "workload.restarted").map(|f| f.value.clone())
    };
    assert_eq!(restarted(vec![task.clone(), up(50), up(60)]).as_deref(), Some("not yet"));
    assert_eq!(restarted(vec![task.clone(), up(50), up(3)]).as_deref(), Some("yes"));
    assert_eq!(restarted(vec![task, up(50)]), None);
}

#[test]
fn room_is_what_a_store_says_is_available() {
    let store = |more: &str| {
        get("hv", "/api2/json/nodes/hv/storage/snip/status", &format!(r#"{{"data":{{"total":10,"used":9{more}}}}}"#))
    };
    Site(vec![store(r#","active":1,"avail":0"#)]).is(&["store-full"]);
    Site(vec![store(r#","active":1,"avail":1"#)]).is(&[]);
    Site(vec![store(r#","active":1"#)]).is_unknown("how much room snip");
    Site(vec![store(r#","active":0,"avail":0"#)]).is_unknown("how much room snip");
}

#[test]
fn a_way_in_may_be_the_templates() {
    let asked = |keys: &str| material("request", &format!(r#"{{"name":"web","template":9,"ssh_keys":[{keys}]}}"#));
    let guest = |more: &str| {
        let body = format!(r#"{{"data":{{"name":"web","ide2":"a:vm-77-cloudinit,media=cdrom"{more}}}}}"#);
        get("hv", "/api2/json/nodes/hv/qemu/77/config", &body)
    };
    Site(vec![asked(""), guest("")]).is(&["no-way-in"]);
    Site(vec![asked(r#""ssh-ed25519 AAAA x""#), guest("")]).is(&[]);
    Site(vec![asked(""), guest(r#","sshkeys":"ssh-ed25519%20AAAA""#)]).is(&[]);
    Site(vec![asked(""), guest(r#","cipassword":"**********""#)]).is(&[]);
    Site(vec![asked("")]).is_unknown("has a key or a password of its template");
}
