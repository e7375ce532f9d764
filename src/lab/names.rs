//! The zones, keys and metadata that PowerDNS holds, as plain data (facts/dns.md §2–§4).

use std::collections::{BTreeMap, BTreeSet};

use super::moment;
use super::sdn::Kind;
use super::state::{ApiHealth, World, mix};
use super::writing::WrittenAnswer;

/// Host that is named in apex NS and SOA.
pub const NAMESERVER: &str = "dv02idn001v01.mobile.deevnet.net.";
/// Address of the authoritative server in the invented site.
pub const AUTHORITATIVE: &str = "10.20.25.21";
/// Domain of the site, with its dot.
pub const SITE_DOMAIN: &str = "mobile.deevnet.net.";
/// Placeholder that PowerDNS puts into an SOA nobody gave it.
pub const PLACEHOLDER: &str = "a.misconfigured.dns.server.invalid.";
/// Networks that may send updates.
pub const UPDATE_NETWORKS: &[&str] = &["10.20.99.0/24", "10.20.10.0/24", "10.20.50.0/24"];
/// Metadata kind that lists the keys which may update a zone.
pub const ALLOW_KEY: &str = "TSIG-ALLOW-DNSUPDATE";
/// Metadata kind that lists the networks which may update a zone.
pub const ALLOW_FROM: &str = "ALLOW-DNSUPDATE-FROM";

/// A record set: type and name are its place in [`Zone::rrsets`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rrset {
    /// Seconds.
    pub ttl: u32,
    /// Contents in the canonical text form of the API, and whether each is disabled.
    pub records: Vec<(String, bool)>,
    /// Comments: text, account, time of the last change.
    pub comments: Vec<(String, String, i64)>,
}

impl Rrset {
    /// A set of one enabled record.
    #[must_use]
    pub fn one(ttl: u32, content: &str) -> Self {
        Self { ttl, records: vec![(content.to_owned(), false)], comments: Vec::new() }
    }

    /// Contents that are served.
    pub fn served(&self) -> impl Iterator<Item = &str> {
        self.records.iter().filter(|(_, disabled)| !disabled).map(|(content, _)| content.as_str())
    }
}

/// A zone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zone {
    /// `(name, type)` → record set; names in lower case with their dot.
    pub rrsets: BTreeMap<(String, String), Rrset>,
    /// Metadata by kind.
    pub metadata: BTreeMap<String, Vec<String>>,
    /// Free text of the owner.
    pub account: String,
    /// Whether it is a copy of one elsewhere, from nowhere: it has what it was given, and takes no update.
    pub copy: bool,
    /// How the API moves its serial; `None` = `DEFAULT`.
    pub soa_edit_api: Option<String>,
    /// Whether DNS serves it; a zone put straight into the database is not, for a while.
    pub unserved: bool,
}

impl Zone {
    /// The served contents of a record set.
    #[must_use]
    pub fn contents(&self, name: &str, kind: &str) -> Vec<String> {
        let set = self.rrsets.get(&(name.to_owned(), kind.to_owned()));
        set.into_iter().flat_map(Rrset::served).map(str::to_owned).collect()
    }

    /// Puts a record set in place of what is there.
    pub fn set(&mut self, name: &str, kind: &str, set: Rrset) {
        self.rrsets.insert((name.to_owned(), kind.to_owned()), set);
    }

    /// The serial in the SOA; 0 without one.
    #[must_use]
    pub fn serial(&self, origin: &str) -> u32 {
        let soa = self.contents(origin, "SOA").into_iter().next().unwrap_or_default();
        soa.split(' ').nth(2).and_then(|serial| serial.parse().ok()).unwrap_or(0)
    }

    /// How the API moves its serial, e.g. `INCREASE`.
    #[must_use]
    pub fn edit_by_api(&self) -> &str {
        self.soa_edit_api.as_deref().unwrap_or("DEFAULT")
    }

    /// Moves the serial as a change over the API does.
    pub fn bump_by_api(&mut self, origin: &str, now: i64) {
        match self.edit_by_api() {
            "INCREASE" => self.step(origin, 0),
            "" => {}
            _ => self.bump(origin, now),
        }
    }

    /// Moves the serial as an update does.
    pub fn bump_by_update(&mut self, origin: &str, now: i64) {
        match self.metadata.get("SOA-EDIT-DNSUPDATE").and_then(|values| values.first()).map(String::as_str) {
            Some("INCREASE") => self.step(origin, 0),
            _ => self.bump(origin, now),
        }
    }

    /// Moves the serial as PowerDNS does by default: to the first of the day of `now`, or by one where it is beyond that.
    pub fn bump(&mut self, origin: &str, now: i64) {
        self.step(origin, moment(now).strftime("%Y%m%d01").to_string().parse().unwrap_or(0));
    }

    /// The serial one up, or `first` where that is higher.
    fn step(&mut self, origin: &str, first: u32) {
        let Some(set) = self.rrsets.get_mut(&(origin.to_owned(), "SOA".to_owned())) else { return };
        for (content, _) in &mut set.records {
            let mut parts: Vec<String> = content.split(' ').map(str::to_owned).collect();
            if let Some(serial) = parts.get_mut(2) {
                let next = serial.parse::<u32>().unwrap_or(0).wrapping_add(1);
                *serial = next.max(first).to_string();
            }
            *content = parts.join(" ");
        }
    }
}

/// A TSIG key.
#[derive(Clone, PartialEq, Eq)]
pub struct TsigKey {
    /// Algorithm, e.g. `hmac-sha256`.
    pub algorithm: String,
    /// Secret.
    pub secret: Vec<u8>,
}

impl std::fmt::Debug for TsigKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TsigKey").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// PowerDNS: its data, and how its two doors behave.
#[derive(Clone, Default)]
pub struct Names {
    /// Zones by name, in lower case with the dot.
    pub zones: BTreeMap<String, Zone>,
    /// Keys by name without the dot.
    pub keys: BTreeMap<String, TsigKey>,
    /// Key of the HTTP API.
    pub api_key: String,
    /// Behaviour of the HTTP API.
    pub api: ApiHealth,
    /// The HTTP API turns this host away: `webserver-allow-from`.
    pub api_denied: bool,
    /// What answers the HTTP API is a recursor.
    pub recursor: bool,
    /// Whether the DNS server answers.
    pub up: bool,
    /// What goes wrong when something is changed.
    pub writing: NamesWriting,
}

/// What goes wrong when something is changed at PowerDNS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NamesWriting {
    /// What becomes of the API's answer to a change that was made.
    pub answer: WrittenAnswer,
    /// The answer to a dynamic update that was made does not come.
    pub update_lost: bool,
    /// Every change over the API is refused with 422.
    pub refused: bool,
    /// Somebody else writes every set right after the API did.
    pub rival: bool,
    /// Changes do not move the serial.
    pub serial_stuck: bool,
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names")
            .field("zones", &self.zones)
            .field("keys", &self.keys)
            .field("api", &self.api)
            .field("api_denied", &self.api_denied)
            .field("up", &self.up)
            .finish_non_exhaustive()
    }
}

impl Names {
    /// The innermost zone that holds `name`, if this server has one.
    #[must_use]
    pub fn zone_of(&self, name: &str) -> Option<(&String, &Zone)> {
        closest(&self.zones, name)
    }
}

/// The innermost of `zones` that holds `name`.
pub(super) fn closest<'a, T>(zones: &'a BTreeMap<String, T>, name: &str) -> Option<(&'a String, &'a T)> {
    let mut rest = name;
    loop {
        if let Some(found) = zones.get_key_value(rest) {
            return Some(found);
        }
        let (_, parent) = rest.split_once('.')?;
        if parent.is_empty() {
            return zones.get_key_value(".");
        }
        rest = parent;
    }
}

/// Forward zone of a tenant.
#[must_use]
pub fn forward_zone(tenant: &str) -> String {
    format!("{tenant}.{SITE_DOMAIN}")
}

/// The tenant's reverse zone; `None` when it has no subnet.
#[must_use]
pub fn reverse_zone(world: &World, tenant: &str) -> Option<String> {
    let (subnet, _) = world.sdn.configured.of(Kind::Subnet).find(|(id, _)| id.starts_with(&format!("{tenant}-")))?;
    let (_, network, _) = super::sdn::subnet_parts(subnet)?;
    Some(format!("{}.in-addr.arpa.", backwards(network.rsplit_once('.')?.0)))
}

/// Dotted parts from back to front.
#[must_use]
pub fn backwards(dotted: &str) -> String {
    dotted.rsplit('.').collect::<Vec<_>>().join(".")
}

/// Workloads of a tenant: VMID, name in the zone, address.
pub(super) fn workloads(world: &World, tenant: &str) -> Vec<(u32, String, String)> {
    let prefix = format!("{tenant}-");
    let tagged = |tags: &str| tags.split([';', ',']).any(|tag| tag == tenant);
    let guests = world.guests.iter().filter(|(_, guest)| guest.text("tags").is_some_and(|tags| tagged(&tags)));
    let row = guests.filter_map(|(vmid, guest)| {
        let (address, _) = guest.address?;
        Some((*vmid, guest.text("name")?.strip_prefix(&prefix)?.to_owned(), address.to_string()))
    });
    row.collect()
}

/// A zone with its apex as the platform writes it.
pub(super) fn apex(origin: &str, serial: u32, mname: &str) -> Zone {
    let mut zone = Zone::default();
    zone.set(origin, "NS", Rrset::one(3600, mname));
    let soa = format!("{mname} hostmaster.{origin} {serial} 10800 3600 604800 3600");
    zone.set(origin, "SOA", Rrset::one(3600, &soa.replace("hostmaster..", "hostmaster.")));
    zone
}

fn tenant_zones(world: &World, tenant: &str) -> Vec<(String, Zone)> {
    let forward = forward_zone(tenant);
    let serial = 2_026_091_901 + u32::try_from(world.number(&format!("serial {tenant}")) % 40).unwrap_or(0);
    let mut names = apex(&forward, serial, NAMESERVER);
    let mut zones = Vec::new();
    let hosts = workloads(world, tenant);
    for (_, name, address) in &hosts {
        names.set(&format!("{name}.{forward}"), "A", Rrset::one(300, address));
    }
    // An extra name: an address of the tenant without a PTR of its own.
    if let Some((_, _, address)) = hosts.first()
        && !hosts.iter().any(|(_, name, _)| name == "web")
    {
        names.set(&format!("web.{forward}"), "A", Rrset::one(300, address));
    }
    if let Some(reverse) = reverse_zone(world, tenant) {
        let mut pointers = apex(&reverse, serial, NAMESERVER);
        for (_, name, address) in &hosts {
            let owner = format!("{}.in-addr.arpa.", backwards(address));
            pointers.set(&owner, "PTR", Rrset::one(300, &format!("{name}.{forward}")));
        }
        zones.push((reverse, pointers));
    }
    zones.push((forward, names));
    for (_, zone) in &mut zones {
        zone.metadata.insert(ALLOW_KEY.to_owned(), vec![tenant.to_owned()]);
        let networks = UPDATE_NETWORKS.iter().map(|network| (*network).to_owned()).collect();
        zone.metadata.insert(ALLOW_FROM.to_owned(), networks);
    }
    zones
}

/// PowerDNS of a built site; `now` makes the invented secrets those of one start.
pub(super) fn build(world: &World, now: i64) -> Names {
    let secret = |what: &str| -> Vec<u8> {
        (0..4).flat_map(|n| mix(world.seed, &format!("{what} {now} {n}")).to_be_bytes()).collect()
    };
    let tenants: BTreeSet<&String> = world.sdn.running.of(Kind::Zone).map(|(zone, _)| zone).collect();
    let key = |tenant: &String| TsigKey { algorithm: "hmac-sha256".to_owned(), secret: secret(tenant) };
    Names {
        zones: tenants.iter().flat_map(|tenant| tenant_zones(world, tenant)).collect(),
        keys: tenants.iter().map(|tenant| ((*tenant).clone(), key(tenant))).collect(),
        api_key: secret("powerdns api").iter().map(|byte| format!("{byte:02x}")).collect(),
        api: ApiHealth { up: true, tokens_known: true, unauthorized_delay_ms: 0, ..ApiHealth::default() },
        api_denied: false,
        recursor: false,
        up: true,
        writing: NamesWriting::default(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::closest;

    #[test]
    fn the_innermost_zone_wins_and_the_root_holds_the_rest() {
        let zones = BTreeMap::from([(".".to_owned(), 0), ("b.".to_owned(), 1), ("a.b.".to_owned(), 2)]);
        let found = |name: &str| closest(&zones, name).map(|(_, zone)| *zone);
        assert_eq!((found("x.a.b."), found("a.b."), found("xa.b."), found("c.")), (Some(2), Some(2), Some(1), Some(0)));
        assert_eq!(closest(&BTreeMap::from([("b.".to_owned(), 1)]), "c.d."), None);
    }
}
