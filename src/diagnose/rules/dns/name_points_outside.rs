//! A name of a tenant that leads to somebody else's machine.

use std::net::Ipv4Addr;

use super::super::plan::{Planned, tenants};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "name-points-outside",
    layer: Layer::Dns,
    severity: Severity::Warning,
    says: "A record in a tenant's zone holds an address of the site that is not the tenant's: another tenant's or the \
           substrate's. The server lets a tenant write any address; what it publishes has to be its own. Addresses outside \
           the site are the tenant's business.",
    reads: "all records of the tenant's zone, the site's numbering",
    unlike: &[("workload-name-missing", "a machine's own record is not the one derived for it")],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for tenant in tenants(facts) {
        let zone = tenant.forward_zone();
        // The last reading with records: an excerpt has none.
        let whole = facts.powerdns.zones.iter().rev().find(|head| head.name.as_str() == zone && head.rrsets.is_some());
        let Some(head) = whole else { continue };
        let sets = head.rrsets.iter().flatten().filter(|(_, kind, _)| kind == "A");
        let values = sets.flat_map(|(name, _, values)| values.iter().map(move |value| (name, value)));
        let outside: Vec<_> = values
            .filter_map(|(name, value)| Some((name, value.parse::<Ipv4Addr>().ok()?)))
            .filter(|(_, address)| is_others(&tenant, *address))
            .collect();
        let Some((name, address)) = outside.first() else {
            out.pass(Subject::new("name", &zone));
            continue;
        };
        let title = format!("{name} leads to {address}, which is not tenant {}'s.", tenant.zone.zone);
        let mut finding = out
            .finding(Subject::new("name", &zone), title)
            .affects([zone.as_str(), tenant.zone.zone.as_str()])
            .from(head);
        for (name, address) in &outside {
            finding = finding.fact("name.address", name.as_str(), address);
        }
        out.found(finding.next("correct-name", 1, "ask the tenant to take the record out, or to name its own address"));
    }
}

/// An address of the site outside the tenant's subnet.
fn is_others(tenant: &Planned<'_>, address: Ipv4Addr) -> bool {
    let site = [10, tenant.site.octet];
    address.octets().starts_with(&site) && !tenant.site.numbering.subnet(tenant.index).contains(&address)
}
