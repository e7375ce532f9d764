//! The names of a tenant, and sites that have nothing but names.

#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests, not all used by each")]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deevnet_console::backends::powerdns;
use deevnet_console::provision::plan::{Plan, Step, Subject};
use deevnet_console::provision::trouble::{Trouble, TroubleKind};
use deevnet_console::provision::world::{Patience, World};
use deevnet_console::site::Site;
use deevnet_console::site::names::TenantName;
use deevnet_console::site::numbering::TenantIndex;

use super::change_common::no_time;

/// What PowerDNS has when nobody says otherwise.
pub const GLOBAL: &str = "allow-dnsupdate-from=127.0.0.0/8,::1";
pub const INDEX: u64 = 60;

pub fn tenant() -> (TenantName, TenantIndex) {
    ("rtrip".parse().unwrap(), TenantIndex::new(INDEX).unwrap())
}

/// The zones of [`tenant`].
pub const ZONES: [&str; 2] = ["rtrip.mobile.deevnet.net", "188.20.10.in-addr.arpa"];

pub fn plan(world: &World, steps: Vec<Step>) -> Plan {
    Plan {
        site: world.site.name.clone(),
        title: "Names of rtrip".to_owned(),
        subject: Subject { name: "rtrip".to_owned(), tenant: Some("rtrip".to_owned()) },
        steps,
        reach: None,
    }
}

/// The site of this server, as a file says it.
pub fn site(dns: SocketAddr, dir: &Path) -> Arc<Site> {
    let text = format!(
        "version = 1\n[site]\nname = \"mobile\"\ndomain = \"mobile.deevnet.net\"\noctet = 20\n[numbering]\nvrf_vni_base = \
         10000\nvnet_vni_base = 20000\noverlay = \"10.20.128.0/18\"\nasn = 65020\nvmid_base = 2000\nvmids_per_tenant = 40\n\
         [proxmox]\nurl = \"https://127.0.0.1:8006\"\ntoken = {{ env = \"UNUSED\" }}\nnode = \"n\"\ncontroller = \"evpn1\"\n\
         [[exit_node]]\nname = \"n\"\ntransport = {{ command = [\"false\"] }}\ntransit_interface = \"e\"\ntransit_address = \
         \"10.20.50.22\"\ntransit_gateway = \"10.20.50.1\"\n[powerdns]\nmode = \"api\"\nurl = \"http://127.0.0.1:1\"\napi_key \
         = {{ env = \"UNUSED\" }}\ndns = \"{dns}\"\nnameserver = \"dv02idn001v01.mobile.deevnet.net\"\nupdate_networks = \
         [\"127.0.0.0/8\"]\n"
    );
    Arc::new(Site::parse(&text, &dir.join("site.toml")).unwrap())
}

/// A world of nothing but names. Waiting takes no time.
pub fn world(
    site: &Arc<Site>,
    names: Option<powerdns::Client>,
    clock: deevnet_console::lab::Clock,
    tries: u32,
) -> Arc<World> {
    let none = || Trouble::new(TroubleKind::Unknown, "not in this test");
    Arc::new(World {
        site: Arc::clone(site),
        proxmox: Err(none()),
        powerdns: names.ok_or_else(none),
        opnsense: Err(none()),
        registry: None,
        exit_nodes: Vec::new(),
        clock,
        sleep: Arc::new(|_| no_time()),
        patience: Patience { looks: 3, tries, between: Duration::ZERO, ..Patience::default() },
    })
}
