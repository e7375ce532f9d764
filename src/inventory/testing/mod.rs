//! Pictures for tests, made by the real join from invented readings.
//!
//! [`Sample::healthy`] is the worked example with four invented neighbours; a test changes the readings and joins again.

pub mod checkins;
pub mod dns;
mod exit_node;
pub mod perimeter;
mod proxmox;
pub mod registry;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::entities::{Flows, Inventory};
use super::readings::{BootReading, DnsReading, FwReading, PveReading, Readings, RegistryReading};
use super::source::{GapKind, SourceError, SourceHealth, SourceId, Sources};
use crate::backends::exit_node::model as exit;
use crate::backends::proxmox::model::Resources;
use crate::site::Site;
use crate::site::model::{
    BootstrapSite, ExitNodeSite, NumberingPlan, PowerDnsMode, PowerDnsSite, ProxmoxSite, ResolversSite, SecretSource,
    Transport, Trust,
};
use crate::site::numbering::TenantIndex;

/// The moment of every sample: 2026-11-29 11:03:00Z.
pub fn now() -> Timestamp {
    "2026-11-29T11:03:00Z".parse().expect("a timestamp")
}

/// Name of the exit node.
pub const NODE: &str = "dv02hyp002p02";

fn powerdns() -> PowerDnsSite {
    PowerDnsSite {
        mode: PowerDnsMode::Api,
        url: Some("http://10.20.25.21:8081".into()),
        trust: Trust::Plaintext,
        api_key: Some(SecretSource::Env("PDNS_KEY".into())),
        tunnel: None,
        dns: ([10, 20, 25, 21], 53).into(),
        nameserver: Some(dns::NAMESERVER.into()),
        update_networks: dns::NETWORKS.iter().map(|n| n.parse().expect("a prefix")).collect(),
    }
}

/// The site `mobile`, with Proxmox, one exit node, PowerDNS, the perimeter and its resolver.
pub fn site() -> Site {
    Site {
        name: "mobile".into(),
        domain: "mobile.deevnet.net".into(),
        octet: 20,
        read_only: false,
        aliases: BTreeMap::from([("hv02".into(), NODE.into())]),
        numbering: NumberingPlan {
            octet: 20,
            vrf_vni_base: 10000,
            vnet_vni_base: 20000,
            overlay: "10.20.128.0/18".parse().expect("a prefix"),
            asn: 65020,
            vmid_base: 2000,
            vmids_per_tenant: 40,
            reserved_names: vec!["api".into(), "tdns".into()],
        },
        proxmox: ProxmoxSite {
            url: "https://10.20.99.22:8006".into(),
            token: SecretSource::Env("PVE_TOKEN".into()),
            trust: Trust::System,
            node: NODE.into(),
            controller: "evpn1".into(),
            fabric: Some("tfab".into()),
            template_prefix: Some("fedora-tenant-".into()),
            storage: Some("local-lvm".into()),
            login_user: Some("tenant".into()),
        },
        exit_nodes: vec![ExitNodeSite {
            name: NODE.into(),
            transport: Transport::Ssh("hv02".into()),
            transit_interface: "vmbr0.50".into(),
            transit_address: Ipv4Addr::new(10, 20, 50, 22),
            transit_gateway: Ipv4Addr::new(10, 20, 50, 1),
            egress_apply: None,
            egress_install: false,
        }],
        powerdns: Some(powerdns()),
        opnsense: Some(perimeter::section()),
        resolvers: Some(ResolversSite {
            perimeter: [10, 20, 50, 1].into(),
            ask: ([10, 20, 50, 1], 53).into(),
            substrate: None,
        }),
        bootstrap: Some(BootstrapSite::File("/var/lib/deevnet/records.jsonl".into())),
        registry: None,
        internet: None,
        state_dir: None,
        warnings: Vec::new(),
        redacted: std::sync::Arc::from(""),
    }
}

/// A tenant of a sample: name, index, workloads.
pub type SampleTenant = (String, u8, Vec<String>);

/// Readings to be changed and joined.
pub struct Sample {
    /// Site.
    pub site: Site,
    /// Proxmox.
    pub pve: PveReading,
    /// Exit node.
    pub exit: exit::Reading,
    /// Check-ins.
    pub boot: BootReading,
    /// Registry; `None` = the site has none.
    pub registry: Option<RegistryReading>,
    /// Names.
    pub dns: DnsReading,
    /// Perimeter.
    pub fw: FwReading,
    /// Health of the sources.
    pub sources: Sources,
    /// Rates.
    pub flows: Flows,
}

impl Sample {
    /// tdemo 1, eds 2, greenhse 3, sensors 4, bench1 5, radio 7, all healthy.
    pub fn healthy() -> Self {
        let names = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let gws: Vec<String> = (1..=24).map(|n| format!("gw-{n:02}")).collect();
        Self::of(&[
            ("tdemo".into(), 1, names(&["app", "worker"])),
            ("eds".into(), 2, names(&["services", "jobs"])),
            (
                "greenhse".into(),
                3,
                names(&[
                    "app",
                    "broker",
                    "camera-1",
                    "camera-2",
                    "climate",
                    "db",
                    "grafana",
                    "irrigation",
                    "lights",
                    "reports",
                ]),
            ),
            ("sensors".into(), 4, gws),
            ("bench1".into(), 5, Vec::new()),
            ("radio".into(), 7, names(&["web", "stream", "archive", "relay"])),
        ])
    }

    /// `tenants` tenants with `workloads` workloads each.
    pub fn large(tenants: u8, workloads: u8) -> Self {
        let list: Vec<SampleTenant> = (1..=tenants)
            .map(|n| {
                (
                    format!("t{n:02}x{}", char::from(b'a' + n % 26)),
                    n,
                    (0..workloads).map(|k| format!("w{k:02}")).collect(),
                )
            })
            .collect();
        Self::of(&list)
    }

    /// Healthy readings of these tenants.
    pub fn of(tenants: &[SampleTenant]) -> Self {
        let site = site();
        let bound = SignedDuration::from_secs(10);
        let mut sources = Sources::default();
        let quick = [SourceId::Pve, SourceId::Dns, SourceId::Fw].map(|id| (id, 10));
        let asked = quick.into_iter().chain([(SourceId::Exit, 30), (SourceId::Boot, 30)]);
        for (id, interval) in asked {
            let mut health = SourceHealth::starting(SignedDuration::from_secs(interval), bound, now());
            health.observed_at = Some(now());
            sources.set(id, health);
        }
        Self {
            pve: proxmox::reading(&site, tenants),
            exit: exit_node::reading(&site, tenants),
            boot: checkins::reading(&site, tenants),
            registry: None,
            dns: dns::reading(&site, tenants),
            fw: perimeter::reading(&site, tenants),
            flows: exit_node::flows(&site, tenants),
            site,
            sources,
        }
    }

    /// The guest list, to be changed.
    pub fn resources(&mut self) -> &mut Resources {
        Arc::make_mut(self.pve.resources.as_mut().expect("resources"))
    }

    /// Lets a source fail since ten minutes ago, with data from four minutes ago when `stale`.
    pub fn fail(&mut self, id: SourceId, kind: GapKind, text: &str, stale: bool) {
        let mut health = SourceHealth::starting(SignedDuration::from_secs(10), SignedDuration::from_secs(10), now());
        let ago = |s| now() - SignedDuration::from_secs(s);
        health.observed_at = stale.then(|| ago(240));
        health.error = Some(SourceError { kind, text: text.into(), help: None, since: ago(240) });
        health.next_try = Some(now() + SignedDuration::from_secs(20));
        self.sources.set(id, health);
    }

    /// Joins.
    pub fn join(self) -> Arc<Inventory> {
        let readings = self.readings();
        self.of_these(readings)
    }

    /// Joins without any reading of `source`.
    pub fn join_without(self, source: SourceId) -> Arc<Inventory> {
        let mut readings = self.readings();
        match source {
            SourceId::Pve => readings.pve = None,
            SourceId::Fw => readings.fw = None,
            SourceId::Dns => readings.dns = None,
            SourceId::Exit => readings.exits.clear(),
            SourceId::Boot => readings.boot = None,
            SourceId::Registry => readings.registry = None,
        }
        self.of_these(readings)
    }

    fn readings(&self) -> Readings {
        Readings {
            pve: Some(Arc::new(self.pve.clone())),
            exits: std::iter::once((NODE.to_owned(), Ok(Arc::new(self.exit.clone())))).collect(),
            dns: self.site.powerdns.is_some().then(|| Arc::new(self.dns.clone())),
            fw: Some(Arc::new(self.fw.clone())),
            boot: Some(Arc::new(self.boot.clone())),
            registry: self.registry.clone().map(Arc::new),
            ..Readings::default()
        }
    }

    /// Joins without any reading: what is shown before the first answer, or when nothing ever answered.
    pub fn join_without_data(self) -> Arc<Inventory> {
        self.of_these(Readings::default())
    }

    /// Its readings with its sources and rates.
    pub fn all_readings(&self) -> Readings {
        self.with_sources(self.readings())
    }

    fn with_sources(&self, readings: Readings) -> Readings {
        Readings { sources: self.sources.clone(), flows: Arc::new(self.flows.clone()), ..readings }
    }

    /// Joins these readings with the sample's sources and rates.
    fn of_these(&self, readings: Readings) -> Arc<Inventory> {
        Arc::new(super::join(&Arc::new(self.site.clone()), &self.with_sources(readings), 1))
    }
}

/// The healthy picture.
pub fn healthy() -> Arc<Inventory> {
    Sample::healthy().join()
}

fn index(n: u8) -> TenantIndex {
    TenantIndex::new(u64::from(n)).expect("an index")
}

fn head(name: &str) -> String {
    name.chars().take(6).collect()
}
