//! Invented answers of PowerDNS and of the perimeter resolver.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use super::{SampleTenant, index, now};
use crate::backends::powerdns::model::{
    Server, Settings, TsigKeyName, Version, Zone, ZoneHead, ZoneKind, ZoneMetadata, testing,
};
use crate::backends::powerdns::{Name, Reach};
use crate::inventory::readings::{Answer, COMPARED, DnsReading};
use crate::site::Site;

/// Name in apex NS and SOA.
pub const NAMESERVER: &str = "dv02idn001v01.mobile.deevnet.net";
/// Networks that may update.
pub const NETWORKS: [&str; 3] = ["10.20.10.0/24", "10.20.50.0/24", "10.20.99.0/24"];

/// Healthy answers: every workload's A and PTR, a `web` record each, and a TXT record of tdemo.
pub(super) fn reading(site: &Site, tenants: &[SampleTenant]) -> DnsReading {
    let mut reading = DnsReading::empty(now(), Reach::Api);
    let version = Version::new("4.9.17");
    reading.server = Ok(Server { id: "localhost".into(), daemon: Some("authoritative".into()), version });
    let on = [("dnsupdate", "yes"), ("allow-dnsupdate-from", ""), ("lua-dnsupdate-policy-script", "")];
    reading.settings = Ok(testing::settings(&on));
    let mut heads = Vec::new();
    let mut keys = Vec::new();
    for (name, n, workloads) in tenants {
        let (plan, i) = (&site.numbering, index(*n));
        let (forward, reverse) = (Name::new(&format!("{name}.{}", site.domain)), Name::new(&plan.reverse_zone(i)));
        let (mut names, mut pointers) = (apex(&forward), apex(&reverse));
        for (k, workload) in workloads.iter().enumerate() {
            let address = plan.workload_address(i, u32::try_from(k).expect("an ordinal")).expect("an address");
            let fqdn = format!("{workload}.{forward}");
            names.rrsets.push(testing::rrset(&fqdn, "A", 300, &[&address.to_string()]));
            pointers.rrsets.push(testing::rrset(&pointer(address), "PTR", 300, &[&format!("{fqdn}.")]));
        }
        if let ("tdemo", Some(first)) = (name.as_str(), plan.workload_address(i, 0)) {
            names.rrsets.push(testing::rrset(&format!("web.{forward}"), "A", 300, &[&first.to_string()]));
            names.rrsets.push(testing::rrset(
                &format!("api-key.{forward}"),
                "TXT",
                60,
                &["\"v=1 k=0123456789abcdef\""],
            ));
        }
        for zone in [names, pointers] {
            put(&mut reading, name, zone, &mut heads);
        }
        keys.push(TsigKeyName { id: format!("{name}."), name: Name::new(name), algorithm: "hmac-sha256".into() });
    }
    reading.zones = Ok(heads.into());
    reading.keys = Ok(keys.into());
    reading
}

fn put(reading: &mut DnsReading, tenant: &str, mut zone: Zone, heads: &mut Vec<ZoneHead>) {
    zone.rrsets.sort_by(|a, b| a.name.tree_order(&b.name));
    for set in &zone.rrsets {
        let Some(kind) = COMPARED.into_iter().find(|kind| *kind == set.kind) else { continue };
        let records: Vec<String> =
            set.records.iter().map(|r| r.content.to_string().trim_end_matches('.').to_owned()).collect();
        reading.perimeter.insert((set.name.clone(), kind), Ok(answer(&records).into()));
    }
    let kinds = BTreeMap::from([
        ("TSIG-ALLOW-DNSUPDATE".to_owned(), vec![tenant.to_owned()]),
        ("ALLOW-DNSUPDATE-FROM".to_owned(), NETWORKS.iter().map(|n| (*n).to_owned()).collect()),
    ]);
    let name = zone.head.name.clone();
    let soa = Answer { soa: Some((name.clone(), 2_026_112_907)), ..answer(&[]) };
    reading.perimeter.insert((name.clone(), "SOA"), Ok(soa.into()));
    reading.metadata.insert(name.clone(), Ok(Arc::new(ZoneMetadata { zone: name.clone(), kinds })));
    heads.push(zone.head.clone());
    reading.content.insert(name, Ok(Arc::new(zone)));
}

/// A positive answer of the perimeter.
pub fn answer(records: &[String]) -> Answer {
    Answer {
        server: "10.20.50.1:53".parse().expect("an address"),
        at: now(),
        took: Duration::from_millis(1),
        code: "NOERROR".into(),
        authoritative: false,
        records: records.to_vec(),
        left: Some(240),
        soa: None,
    }
}

/// A negative answer of the perimeter with the SOA of `zone`.
pub fn negative(code: &str, zone: &str, serial: u32, left: u32) -> Answer {
    Answer { code: code.into(), left: Some(left), soa: Some((Name::new(zone), serial)), ..answer(&[]) }
}

fn apex(zone: &Name) -> Zone {
    let head = ZoneHead {
        name: zone.clone(),
        kind: ZoneKind::Native,
        serial: Some(2_026_112_907),
        edited_serial: None,
        dnssec: None,
        account: None,
        soa_edit_api: None,
        masters: Vec::new(),
    };
    let soa = format!("{NAMESERVER}. hostmaster.{zone}. 2026112907 10800 3600 604800 3600");
    let rrsets = vec![
        testing::rrset(zone.as_str(), "SOA", 3600, &[&soa]),
        testing::rrset(zone.as_str(), "NS", 3600, &[&format!("{NAMESERVER}.")]),
    ];
    Zone { head, rrsets, bytes_replaced: false }
}

fn pointer(address: Ipv4Addr) -> String {
    crate::backends::dns::DnsName::reverse(address.into()).as_str().to_owned()
}

/// Settings of a server, for tests that change them.
pub fn settings(pairs: &[(&'static str, &str)]) -> Settings {
    testing::settings(pairs)
}

/// An RRset, for tests that change a zone.
pub fn rrset(name: &str, kind: &str, ttl: i64, contents: &[&str]) -> crate::backends::powerdns::model::RrSet {
    testing::rrset(name, kind, ttl, contents)
}

impl super::Sample {
    /// A zone to be changed.
    pub fn zone(&mut self, name: &str) -> &mut Zone {
        let seen = self.dns.content.get_mut(&Name::new(name)).expect("the zone");
        Arc::make_mut(seen.as_mut().expect("its records"))
    }

    /// The contents of an RRset, to be changed: a new content for the first record.
    pub fn set_record(&mut self, zone: &str, name: &str, kind: &str, contents: &[&str]) {
        let name = format!("{name}.{zone}");
        let new = testing::rrset(&name, kind, 300, contents);
        let zone = self.zone(zone);
        match zone.rrsets.iter_mut().find(|set| set.name == new.name && set.kind == new.kind) {
            Some(set) => *set = new,
            None => zone.rrsets.push(new),
        }
        zone.rrsets.sort_by(|a, b| a.name.tree_order(&b.name));
    }

    /// Values of a kind of metadata.
    pub fn set_metadata(&mut self, zone: &str, kind: &str, values: &[&str]) {
        let seen = self.dns.metadata.get_mut(&Name::new(zone)).expect("the zone");
        let metadata = Arc::make_mut(seen.as_mut().expect("its metadata"));
        metadata.kinds.insert(kind.to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
    }

    /// What the perimeter says.
    pub fn perimeter(&mut self, name: &str, kind: &'static str, answer: Answer) {
        self.dns.perimeter.insert((Name::new(name), kind), Ok(answer.into()));
    }

    /// A zone that is not on the server.
    pub fn without_zone(&mut self, name: &str) {
        let name = Name::new(name);
        self.dns.content.remove(&name);
        self.dns.metadata.remove(&name);
        let rest: Vec<ZoneHead> =
            self.dns.zones.as_ref().expect("zones").iter().filter(|z| z.name != name).cloned().collect();
        self.dns.zones = Ok(rest.into());
    }
}
