//! The resolver still sends a tenant's names on that is gone.

use std::net::IpAddr;

use ipnet::IpNet;

use super::super::{Out, Rule};
use super::tenants;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::resolver::Forward;
use crate::diagnose::finding::{Layer, Severity, Subject};
use crate::site::Site;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// The rule.
pub static RULE: Rule = Rule {
    id: "forward-left-over",
    layer: Layer::Perimeter,
    severity: Severity::Warning,
    says: "The resolver forwards the names or the addresses of a tenant that the fabric does not have. Questions for them end with \
           a server that has no such zone, and the next tenant of that index starts with a forward that nobody checked. A \
           tenant that is being made has its forwards before its network.",
    reads: "forwards of the resolver, the site file, the list of tenants where it is whole",
    unlike: &[("zone-missing", "the tenant is there, and the server lacks its zone")],
    explains: &[],
    judge,
};

/// The tenant a forward is for.
enum Of {
    Name(String),
    Index(TenantIndex),
}

fn of(site: &Site, forward: &Forward) -> Option<Of> {
    if let Some(index) = site.numbering.index_of_reverse_zone(&forward.domain) {
        return Some(Of::Index(index));
    }
    let name = forward.domain.strip_suffix(&site.domain.to_ascii_lowercase())?.strip_suffix('.')?;
    // Names of the site itself, and what is no tenant's name, are none of this.
    let tenant = name.parse::<TenantName>().is_ok() && !site.numbering.reserved_names.iter().any(|own| own == name);
    tenant.then(|| Of::Name(name.to_owned()))
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(site), Some(forwards)) = (&facts.site, &facts.perimeter.forwards) else { return };
    let Some(server) = site.value.powerdns.as_ref().map(|server| server.dns.ip()) else { return };
    for forward in forwards.iter().filter(|f| f.server.parse::<IpAddr>().is_ok_and(|to| to == server)) {
        let Some(of) = of(&site.value, forward) else { continue };
        let all = match tenants::whole(facts) {
            Ok(all) => all,
            Err((missing, why)) => {
                out.unknown(missing, why);
                return;
            }
        };
        let there = match &of {
            Of::Name(name) => all.names.contains(name),
            Of::Index(index) => all.have(&IpNet::from(site.value.numbering.subnet(*index))),
        };
        let domain = &forward.domain;
        if there {
            out.pass(Subject::new("name", domain));
            continue;
        }
        // A registry knows of tenants before the fabric does.
        if site.value.registry.is_some() {
            out.unknown_of(
                [Subject::new("name", domain)],
                format!("whether the registry still has the tenant of {domain}"),
                None,
            );
            continue;
        }
        let who = match of {
            Of::Name(name) => format!("tenant {name}"),
            Of::Index(index) => format!("a tenant of index {index}"),
        };
        let finding = out
            .finding(Subject::new("name", domain), format!("The resolver forwards {domain}, and there is no {who}."))
            .fact("forward.server", domain, &forward.server)
            .affects([domain])
            .from(forwards)
            .from(site)
            .next("remove-forward", 2, format!("remove the forward of {domain}"))
            .not_tested("whether that tenant is being made right now");
        out.found(finding);
    }
}
