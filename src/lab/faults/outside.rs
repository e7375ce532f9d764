//! Faults of names and of the perimeter (facts/dns.md, facts/dns-problems.md, facts/opnsense.md, domain.md §9).

use super::Scope::{Site, Tenant};
use super::Spec;
use crate::lab::names::{
    self, ALLOW_FROM, ALLOW_KEY, AUTHORITATIVE, PLACEHOLDER, Rrset, Zone, forward_zone, workloads,
};
use crate::lab::perimeter::build::{FABRIC_GATEWAY, OVERLAY, PRIVATE, pass};
use crate::lab::perimeter::{Forward, ForwardKind};
use crate::lab::sdn::Kind;
use crate::lab::state::World;

/// Faults of PowerDNS, the resolver and the perimeter.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "forward-missing",
        scope: Tenant,
        title: "the resolver does not forward the tenant's zone",
        changes: "no forward row: NXDOMAIN with the SOA of the parent",
        apply: |w, t| {
            let domain = domain(t);
            w.perimeter.forward_lists().for_each(|rows| rows.retain(|row| row.domain != domain));
        },
    },
    Spec {
        id: "forward-wrong-type",
        scope: Tenant,
        title: "the tenant's zone is forwarded over TLS",
        // Measured with Unbound 1.17.1: without a port it asks 853, where nobody listens, and says SERVFAIL at once,
        // with CD as well; with port 53 it would be silent.
        changes: "type dot, to a server that speaks no TLS: SERVFAIL",
        apply: |w, t| change(w, t, |row| row.kind = ForwardKind::Dot),
    },
    Spec {
        id: "forward-disabled",
        scope: Tenant,
        title: "the forward of the tenant's zone is switched off",
        changes: "enabled 0: as if there were none",
        apply: |w, t| change(w, t, |row| row.enabled = false),
    },
    Spec {
        id: "rebind-filtered",
        scope: Tenant,
        title: "the resolver takes private addresses out",
        changes: "the zone is no private-domain: NOERROR without answer and without SOA",
        apply: |w, t| {
            w.perimeter.resolver.filtered.insert(domain(t));
        },
    },
    Spec {
        id: "builtin-reverse-zone",
        scope: Tenant,
        title: "the resolver answers the reverse zone itself",
        changes: "no local-zone line: NXDOMAIN with aa from nobody.invalid",
        apply: |w, t| {
            if let Some(zone) = names::reverse_zone(w, t) {
                w.perimeter.resolver.shadowed.insert(zone.trim_end_matches('.').to_owned());
            }
        },
    },
    Spec {
        id: "dnssec-bogus",
        scope: Tenant,
        title: "validation of the tenant's zone fails",
        changes: "no domain-insecure under a signed parent: SERVFAIL, an answer with CD",
        apply: |w, t| {
            w.perimeter.resolver.bogus.insert(domain(t));
        },
    },
    Spec {
        id: "negative-cached",
        scope: Tenant,
        title: "the resolver still believes that a name is not there",
        changes: "NXDOMAIN for the first workload with an older serial, for an hour",
        apply: negative_cached,
    },
    Spec {
        id: "zone-missing",
        scope: Tenant,
        title: "the tenant's zone does not exist",
        changes: "zone gone: 404 from the API, REFUSED from DNS, SERVFAIL at the perimeter",
        apply: |w, t| {
            w.names.zones.remove(&forward_zone(t));
        },
    },
    Spec {
        id: "apex-broken",
        scope: Tenant,
        title: "the apex of the tenant's zone is the placeholder",
        changes: "SOA with the stock MNAME, no NS",
        apply: apex_broken,
    },
    Spec {
        id: "tsig-unbound",
        scope: Tenant,
        title: "the tenant's zone takes updates without a key",
        changes: "no TSIG-ALLOW-DNSUPDATE: unsigned updates are accepted",
        apply: |w, t| {
            with_zone(w, t, |zone| {
                zone.metadata.remove(ALLOW_KEY);
            });
        },
    },
    Spec {
        id: "tsig-foreign",
        scope: Tenant,
        title: "another tenant's key may update the zone",
        changes: "TSIG-ALLOW-DNSUPDATE names the next tenant",
        apply: |w, t| {
            let other = neighbour(w, t);
            with_zone(w, t, |zone| {
                zone.metadata.insert(ALLOW_KEY.to_owned(), vec![other]);
            });
        },
    },
    Spec {
        id: "update-refused",
        scope: Tenant,
        title: "the tenant's own updates are refused",
        changes: "no ALLOW-DNSUPDATE-FROM: a signed REFUSED",
        apply: |w, t| {
            with_zone(w, t, |zone| {
                zone.metadata.remove(ALLOW_FROM);
            });
        },
    },
    Spec {
        id: "ptr-mismatch",
        scope: Tenant,
        title: "the first workload's PTR names somebody else",
        changes: "PTR to a name of the next tenant",
        apply: ptr_mismatch,
    },
    Spec {
        id: "auth-down",
        scope: Site,
        title: "the authoritative server does not answer",
        changes: "silence on its port, SERVFAIL for its zones at the perimeter",
        apply: |w, _| w.names.up = false,
    },
    Spec {
        id: "resolver-down",
        scope: Site,
        title: "the perimeter's resolver does not answer",
        changes: "silence on its port, service stopped",
        apply: |w, _| w.perimeter.resolver.up = false,
    },
    Spec {
        id: "wrong-workload-resolver",
        scope: Tenant,
        title: "the first workload asks the authoritative server",
        changes: "nameserver 10.20.25.21 in its configuration: REFUSED beyond its own zones",
        apply: wrong_resolver,
    },
    Spec {
        id: "perimeter-drop",
        scope: Site,
        title: "tenants' way to the Internet is closed at the perimeter",
        changes: "rule tenant_transit -> internet disabled",
        apply: |w, _| {
            if let Some(rule) = w.perimeter.rules.iter_mut().find(|rule| rule.description.ends_with(TO_INTERNET)) {
                rule.enabled = false;
            }
        },
    },
    Spec {
        id: "perimeter-rule-missing",
        scope: Site,
        title: "tenants' way to the platform is not allowed",
        changes: "rule tenant_transit -> platform gone",
        apply: |w, _| w.perimeter.rules.retain(|rule| !rule.description.ends_with(TO_PLATFORM)),
    },
    Spec {
        id: "perimeter-leak",
        scope: Site,
        title: "a rule lets a segment in that must not reach tenants",
        changes: "pass from iot to 10.20.128.0/18",
        apply: |w, _| {
            let rule = pass(w, 990, "iot -> tenant_transit: camera test", "iot", OVERLAY);
            w.perimeter.rules.push(rule);
        },
    },
    Spec {
        id: "perimeter-rule-leftover",
        scope: Site,
        title: "a rule of a tenant that is gone is still there",
        changes: "pass from trusted to 10.20.191.0/24, the subnet of index 63",
        apply: |w, _| {
            let rule = pass(w, 991, "trusted -> tenant_transit: drill", "trusted", "10.20.191.0/24");
            w.perimeter.rules.push(rule);
        },
    },
    Spec {
        id: "ruleset-refused",
        scope: Site,
        title: "the packet filter refused the last rule set",
        changes: "a saved rule that is not loaded; the error is in the system status alone",
        apply: |w, _| {
            let rule = pass(w, 992, "tenant_transit -> printers", "tenant_transit", "10.20.70.0/24");
            w.perimeter.unloaded.insert(rule.uuid.clone());
            w.perimeter.rules.push(rule);
        },
    },
    Spec {
        id: "alias-empty",
        scope: Site,
        title: "the alias of private networks is empty",
        changes: "deevnet_private without entries: what is not in it is everything",
        apply: |w, _| {
            if let Some(alias) = w.perimeter.aliases.iter_mut().find(|alias| alias.name == PRIVATE) {
                alias.content.clear();
            }
        },
    },
    Spec {
        id: "route-missing",
        scope: Site,
        title: "the perimeter does not know the way to tenants",
        changes: "no route 10.20.128.0/18",
        apply: |w, _| w.perimeter.routes.clear(),
    },
    Spec {
        id: "gateway-down",
        scope: Site,
        title: "the gateway to the fabric is down",
        changes: "TENANT_FABRIC_GW forced down, its route not in the kernel",
        apply: |w, _| {
            if let Some(gateway) = w.perimeter.gateways.iter_mut().find(|gateway| gateway.name == FABRIC_GATEWAY) {
                gateway.down = true;
            }
        },
    },
    Spec {
        id: "dns-api-down",
        scope: Site,
        title: "the PowerDNS API does not answer",
        changes: "connections are closed without a word",
        apply: |w, _| w.names.api.up = false,
    },
    Spec {
        id: "dns-api-denied",
        scope: Site,
        title: "the PowerDNS API turns this host away",
        changes: "not in webserver-allow-from: connections are reset",
        apply: |w, _| w.names.api_denied = true,
    },
    Spec {
        id: "dns-api-auth",
        scope: Site,
        title: "the PowerDNS API key is not accepted",
        changes: "every answer is 401",
        apply: |w, _| w.names.api.tokens_known = false,
    },
    Spec {
        id: "dns-api-slow",
        scope: Site,
        title: "the PowerDNS API answers late",
        changes: "4 seconds before every answer",
        apply: |w, _| w.names.api.delay_ms = 4000,
    },
    Spec {
        id: "fw-down",
        scope: Site,
        title: "the perimeter's API does not answer",
        changes: "connections are closed before the handshake",
        apply: |w, _| w.perimeter.api.up = false,
    },
    Spec {
        id: "fw-slow",
        scope: Site,
        title: "the perimeter's API answers late",
        changes: "4 seconds before every answer",
        apply: |w, _| w.perimeter.api.delay_ms = 4000,
    },
    Spec {
        id: "fw-denied",
        scope: Site,
        title: "the perimeter's API key has no privileges",
        changes: "every answer is 403",
        apply: |w, _| w.perimeter.denied = true,
    },
    Spec {
        id: "fw-auth",
        scope: Site,
        title: "the perimeter's API key is not accepted",
        changes: "every answer is 401, after two seconds",
        apply: |w, _| w.perimeter.api.tokens_known = false,
    },
];

const TO_INTERNET: &str = "tenant_transit -> internet";
const TO_PLATFORM: &str = "tenant_transit -> platform";

/// The tenant's zone as the resolver's rows name it.
fn domain(tenant: &str) -> String {
    forward_zone(tenant).trim_end_matches('.').to_owned()
}

fn change(world: &mut World, tenant: &str, change: fn(&mut Forward)) {
    let domain = domain(tenant);
    let rows = world.perimeter.forward_lists().flat_map(|rows| rows.iter_mut());
    rows.filter(|row| row.domain == domain).for_each(change);
}

pub(super) fn with_zone(world: &mut World, tenant: &str, change: impl FnOnce(&mut Zone)) {
    if let Some(zone) = world.names.zones.get_mut(&forward_zone(tenant)) {
        change(zone);
    }
}

/// Another tenant; the same one where it is alone.
pub(super) fn neighbour(world: &World, tenant: &str) -> String {
    let mut all = world.sdn.configured.of(Kind::Zone).map(|(zone, _)| zone);
    all.find(|zone| *zone != tenant).cloned().unwrap_or_else(|| tenant.to_owned())
}

fn negative_cached(world: &mut World, tenant: &str) {
    let zone = forward_zone(tenant);
    let serial = world.names.zones.get(&zone).map_or(0, |held| held.serial(&zone));
    if let Some((_, name, _)) = workloads(world, tenant).into_iter().next() {
        let kept = (zone.clone(), serial.saturating_sub(1));
        world.perimeter.resolver.negative.insert(format!("{name}.{zone}"), kept);
    }
}

fn apex_broken(world: &mut World, tenant: &str) {
    let origin = forward_zone(tenant);
    with_zone(world, tenant, |zone| {
        zone.rrsets.remove(&(origin.clone(), "NS".to_owned()));
        let soa = format!("{PLACEHOLDER} hostmaster.{origin} {} 10800 3600 604800 3600", zone.serial(&origin));
        zone.set(&origin, "SOA", Rrset::one(3600, &soa));
    });
}

fn ptr_mismatch(world: &mut World, tenant: &str) {
    let Some((_, name, address)) = workloads(world, tenant).into_iter().next() else { return };
    let target = format!("{name}.{}", forward_zone(&neighbour(world, tenant)));
    let zone = names::reverse_zone(world, tenant).and_then(|zone| world.names.zones.get_mut(&zone));
    if let Some(zone) = zone {
        let owner = format!("{}.in-addr.arpa.", names::backwards(&address));
        zone.set(&owner, "PTR", Rrset::one(300, &target));
    }
}

fn wrong_resolver(world: &mut World, tenant: &str) {
    let first = workloads(world, tenant).into_iter().next();
    if let Some(guest) = first.and_then(|(vmid, ..)| world.guests.get_mut(&vmid)) {
        guest.config.insert("nameserver".to_owned(), serde_json::json!(AUTHORITATIVE));
    }
}
