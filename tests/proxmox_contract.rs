//! Every request the client can make, as it goes over the wire, against the endpoint table and against Proxmox's own
//! API description of two versions.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of a test: a panic is its verdict, its output is its report"
)]

mod loopback;
#[path = "proxmox_common/schema.rs"]
mod schema;

use std::collections::{BTreeMap, BTreeSet};

use deevnet_console::backends::http::{Access, Limits};
use deevnet_console::backends::proxmox::endpoints::{ALL, Endpoint, Without};
use deevnet_console::backends::proxmox::{Client, SubnetsOf, TaskFilter, TaskSource, Upid, View};
use deevnet_console::site::model::Trust;
use jiff::Timestamp;
use loopback::{Canned, SECRET, Seen, Server, site, token};
use schema::{contract, parameter_faults, placeholders};
use serde_json::Value;

const UPID: &str = "UPID:hyp1:0000093E:00075FB7:6B0C59C9:reloadnetworkall::ops@pve!full:";

/// Calls every method of the client in every form it has.
async fn everything(client: &Client) {
    let upid: Upid = UPID.parse().unwrap();
    let at = Timestamp::from_second(1_795_971_481).unwrap();
    let filter = TaskFilter {
        kind: Some("srvreload".to_owned()),
        vmid: Some(2040),
        since: Some(at),
        until: Some(at),
        errors: true,
        source: Some(TaskSource::All),
        status: Some("error,warning".to_owned()),
        limit: Some(0),
        start: Some(50),
    };
    let _ = client.version().await;
    let _ = client.permissions().await;
    let _ = client.resources().await;
    let _ = client.cluster_status().await;
    let _ = client.nodes().await;
    let _ = client.node_status("hyp1").await;
    let _ = client.staged_network("hyp1").await;
    let _ = client.bridges("hyp1").await;
    let _ = client.cluster_tasks().await;
    let _ = client.node_tasks("hyp1", &filter).await;
    let _ = client.node_tasks("hyp1", &TaskFilter { source: Some(TaskSource::Active), ..TaskFilter::default() }).await;
    let _ = client.task_state(&upid).await;
    let _ = client.task_log(&upid, 50, 0).await;
    for view in [View::Configured, View::Running, View::Pending] {
        let _ = client.zones(view).await;
        let _ = client.vnets(view).await;
        let _ = client.subnets("tdemo0", view).await;
        let _ = client.controllers(view).await;
        let _ = client.fabrics(view).await;
    }
    let _ = client.zones_digest().await;
    let _ = client.sdn(&SubnetsOf::All).await;
    let _ = client.dry_run("hyp1").await;
    let _ = client.node_zones("hyp1").await;
    let _ = client.zone_content("hyp1", "tdemo").await;
    let _ = client.ip_vrf("hyp1", "tdemo").await;
    let _ = client.mac_vrf("hyp1", "tdemo0").await;
    let _ = client.next_vmid().await;
    let _ = client.vmid_is_free(2040.try_into().unwrap()).await;
    let _ = client.vms("hyp1").await;
    let _ = client.vm_config("hyp1", 2040).await;
    let _ = client.container_bridges("hyp1", 2040).await;
    let _ = client.vm_smbios(&"hyp1".parse().unwrap(), 2040.try_into().unwrap()).await;
    let _ = client.vm_pending("hyp1", 2040).await;
    let _ = client.vm_status("hyp1", 2040).await;
    let _ = client.agent_state("hyp1", 2040).await;
    let _ = client.agent_interfaces("hyp1", 2040).await;
}

async fn recorded() -> Vec<Seen> {
    let server = Server::start(|_| Canned::json(r#"{"data":[]}"#)).await;
    let client = Client::new(&site(&server.origin, Trust::Plaintext), token(), Limits::default()).unwrap();
    everything(&client).await;
    let seen = server.take_seen();
    assert_eq!(client.requests().total, seen.len() as u64, "the counter counts what is on the wire");
    assert_eq!(client.requests().by_endpoint.values().sum::<u64>(), seen.len() as u64);
    seen
}

fn endpoint_of(seen: &Seen) -> (&'static Endpoint, BTreeMap<String, String>) {
    let path = seen.path.strip_prefix("/api2/json").unwrap_or_else(|| panic!("not the JSON API: {}", seen.path));
    let mut fits = ALL.iter().filter(|e| e.method == seen.method);
    fits.find_map(|e| Some((*e, placeholders(e.path, path)?))).unwrap_or_else(|| panic!("not in the table: {seen:?}"))
}

#[tokio::test]
async fn the_table_lists_exactly_what_is_sent() {
    let seen = recorded().await;
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for request in &seen {
        let (endpoint, _) = endpoint_of(request);
        assert_eq!(endpoint.access, Access::Read, "{}", endpoint.path);
        let parameters = used.entry(endpoint.path).or_default();
        parameters.extend(request.query.iter().map(|(k, _)| k.clone()));
        assert!(request.body.is_empty(), "{request:?}");
        let secrets: Vec<_> = request.headers.iter().filter(|(_, v)| v.contains(SECRET)).collect();
        let [(name, value)] = secrets.as_slice() else { panic!("token in {} headers", secrets.len()) };
        assert_eq!(
            (name.as_str(), value.as_str()),
            ("authorization", &*format!("PVEAPIToken=ops@pve!console={SECRET}"))
        );
    }
    for endpoint in ALL {
        let declared: BTreeSet<String> = endpoint.parameters.iter().map(|p| (*p).to_owned()).collect();
        assert_eq!(used.get(endpoint.path), Some(&declared), "{}", endpoint.path);
    }
}

/// What the descriptions leave out: they were cut to machines, and hold nothing of containers. The form is that of machines.
const UNTOLD: [&str; 1] = ["/nodes/{node}/lxc/{vmid}/config"];

#[tokio::test]
async fn every_request_is_valid_for_both_api_versions() {
    for file in ["pve-api.json", "pve-api-9.2.json"] {
        let Some(api) = contract(file, "every_request_is_valid_for_both_api_versions") else { return };
        let mut checked = 0;
        for request in recorded().await {
            let (endpoint, mut values) = endpoint_of(&request);
            let key = format!("{} {}", endpoint.method, endpoint.path);
            if UNTOLD.contains(&endpoint.path) {
                continue;
            }
            let operation = api.get(&key).unwrap_or_else(|| panic!("{file} has no {key}"));
            values.extend(request.query.iter().cloned());
            let faults = parameter_faults(&operation["parameters"], &values);
            assert!(faults.is_empty(), "{file} {key}: {faults:?}");
            assert_ne!(operation["allowtoken"], 0, "{file} {key} cannot be called with a token");
            checked += 1;
        }
        println!("{file}: {checked} requests valid, {} endpoints", ALL.len());
        assert!(checked >= ALL.len() - UNTOLD.len());
    }
}

#[test]
fn privileges_in_the_table_are_those_of_the_api() {
    for file in ["pve-api.json", "pve-api-9.2.json"] {
        let Some(api) = contract(file, "privileges_in_the_table_are_those_of_the_api") else { return };
        let mut checked = 0;
        for endpoint in ALL {
            let permissions = &api[&format!("{} {}", endpoint.method, endpoint.path)]["permissions"];
            let Some(check) = permissions["check"].as_array() else {
                // Open to every user, or described in words and then filtered or checked by hand.
                continue;
            };
            let wanted: Vec<&str> = check[2].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert_eq!(check[1].as_str(), Some(endpoint.privilege.path), "{file} {}", endpoint.path);
            assert_eq!(wanted, endpoint.privilege.any_of, "{file} {}", endpoint.path);
            assert_eq!(endpoint.privilege.without, Without::Refused, "{file} {}", endpoint.path);
            checked += 1;
        }
        println!("{file}: {checked} privileges agree");
        assert!(checked >= 10, "{checked}");
    }
}

#[test]
fn the_checker_itself_finds_faults() {
    let schema = serde_json::json!({"properties": {
        "node": {"type": "string"}, "pending": {"type": "boolean", "optional": 1},
        "limit": {"type": "integer", "minimum": 0, "optional": 1}, "source": {"enum": ["all"], "optional": 1},
        "zone": {"type": "string", "maxLength": 8, "optional": 1}}});
    let faults = |pairs: &[(&str, &str)]| {
        let values = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        parameter_faults(&schema, &values).len()
    };
    assert_eq!(faults(&[("node", "n"), ("pending", "1"), ("limit", "0"), ("source", "all")]), 0);
    assert_eq!(faults(&[]), 1);
    assert_eq!(faults(&[("node", "n"), ("pending", "true")]), 1);
    assert_eq!(faults(&[("node", "n"), ("limit", "-1"), ("source", "some"), ("zone", "localnetwork"), ("x", "y")]), 4);
}
