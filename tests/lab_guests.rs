//! What the lab's exit node, Proxmox and the name servers show of a VM is one VM.
#![cfg(feature = "console")]
#![expect(clippy::unwrap_used, reason = "helpers of tests, which should stop")]

mod lab_client;

use deevnet_console::lab::Lab;
use deevnet_console::lab::node::{self, Run};
use hickory_proto::rr::RecordType;
use lab_client::{NOW, ask, lab, texts};
use serde_json::Value;

struct Proxmox {
    http: reqwest::Client,
    url: String,
    token: String,
}

impl Proxmox {
    fn of(lab: &Lab) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let ca = reqwest::Certificate::from_pem(lab.ca_pem().as_bytes()).unwrap();
        let token = std::fs::read_to_string(lab.dir().join("proxmox-token")).unwrap();
        let http = reqwest::Client::builder().tls_certs_only([ca]).build().unwrap();
        Self { http, url: lab.proxmox_url(), token: format!("PVEAPIToken={}", token.trim()) }
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let request = self.http.get(format!("{}/api2/json{path}", self.url)).header("Authorization", &self.token);
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap_or_default()).unwrap_or_default())
    }
}

/// The rows of `ip neigh` on the exit node.
fn neighbours(lab: &Lab) -> Vec<Value> {
    let argv = ["ip", "-j", "neigh", "show"].map(str::to_owned).to_vec();
    serde_json::from_str(&node::run(&lab.world(), NOW, &Run { argv, input: String::new() }).stdout).unwrap()
}

/// The word after `key=` in a comma list.
fn part<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split(',').find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vm_is_the_same_one_everywhere() {
    let lab = lab(&["workload-down@eds"]).await;
    let proxmox = Proxmox::of(&lab);
    let (_, list) = proxmox.get("/cluster/resources?type=vm").await;
    let (mut running, mut stopped) = (0_u64, 0);
    for vm in list["data"].as_array().unwrap().iter().filter(|vm| vm["template"] != 1) {
        let (node, vmid) = (vm["node"].as_str().unwrap(), &vm["vmid"]);
        let (_, config) = proxmox.get(&format!("/nodes/{node}/qemu/{vmid}/config")).await;
        let config = &config["data"];
        let net = config["net0"].as_str().unwrap_or_default();
        let (Some(mac), Some(bridge)) = (part(net, "virtio"), part(net, "bridge")) else { continue };
        let Some(address) = part(config["ipconfig0"].as_str().unwrap_or_default(), "ip") else { continue };
        let address = address.split('/').next().unwrap();
        let rows = neighbours(&lab);
        let row =
            rows.iter().find(|row| row["dst"] == address).unwrap_or_else(|| panic!("{vmid}: no neighbour {address}"));
        assert_eq!(row["dev"], bridge, "{vmid}");
        let (status, agent) = proxmox.get(&format!("/nodes/{node}/qemu/{vmid}/agent/network-get-interfaces")).await;
        if vm["status"] == "running" {
            running += 1;
            assert_eq!(row["lladdr"].as_str().unwrap().to_lowercase(), mac.to_lowercase(), "{vmid}");
            assert_ne!(row["state"][0], "FAILED", "{vmid}");
            let eth0 = agent["data"]["result"].as_array().unwrap().iter().find(|i| i["name"] == "eth0").unwrap();
            assert_eq!(eth0["hardware-address"].as_str().unwrap().to_lowercase(), mac.to_lowercase(), "{vmid}");
            assert_eq!(eth0["ip-addresses"][0]["ip-address"], address, "{vmid}");
        } else {
            stopped += 1;
            assert_eq!((row["state"][0].as_str(), status), (Some("FAILED"), 500), "{vmid}");
        }
        let backwards: Vec<&str> = address.rsplit('.').collect();
        let pointer =
            ask(lab.resolver().unwrap(), &format!("{}.in-addr.arpa.", backwards.join(".")), RecordType::PTR).await;
        let [name] = texts(&pointer).try_into().unwrap();
        assert_eq!(texts(&ask(lab.resolver().unwrap(), &name, RecordType::A).await), [address], "{vmid}");
    }
    assert_eq!((running, stopped), (41, 1));
    let argv = ["vtysh", "-c", "show evpn vni json"].map(str::to_owned).to_vec();
    let said = node::run(&lab.world(), NOW, &Run { argv, input: String::new() }).stdout;
    let learnt: Value = serde_json::from_str(&said[said.find('{').unwrap()..]).unwrap();
    let macs = learnt.as_object().unwrap().values().map(|vni| vni["numMacs"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(macs, running, "FRR has the MACs of what runs");
    lab.shutdown().await;
}
