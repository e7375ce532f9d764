//! The names that a workload ought to have: one A and one PTR record (domain.md §4.3).

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::entities::{Origin, Workload};
use crate::backends::dns::DnsName;
use crate::backends::powerdns::Name;
use crate::site::Site;

/// A workload's own name, its address, and the name of its PTR record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    /// `<workload>.<tenant>.<domain>`.
    pub fqdn: Name,
    /// Its address: the configured one, the derived one where that was not read.
    pub address: Ipv4Addr,
    /// Where its PTR record is.
    pub pointer: Name,
}

/// What `w` ought to be called. `None` for what this platform did not make, or whose name is no label.
pub(super) fn host(site: &Site, w: &Workload) -> Option<Host> {
    if w.origin != Origin::Ours || !is_label(&w.name) {
        return None;
    }
    let configured = w.address.as_ref().ok().and_then(Option::as_deref);
    let configured = configured.and_then(|text| text.split('/').next()?.parse().ok());
    let address = configured.or(w.derived_address)?;
    Some(Host {
        fqdn: Name::new(&format!("{}.{}.{}", w.name, w.tenant, site.domain)),
        address,
        pointer: Name::new(DnsName::reverse(address.into()).as_str()),
    })
}

fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether `zone` lies under the site's domain, or in its overlay.
pub(super) fn is_ours(site: &Site, zone: &Name) -> bool {
    let domain = Name::new(&site.domain);
    zone.below(&domain).is_some_and(|head| !head.is_empty() && !head.contains('.'))
        || network(zone).is_some_and(|net| site.numbering.overlay.contains(&net))
}

/// The network whose addresses a zone of `in-addr.arpa` names.
fn network(zone: &Name) -> Option<Ipv4Net> {
    let head = zone.below(&Name::new("in-addr.arpa"))?;
    let mut octets = [0; 4];
    let mut labels = 0;
    for (octet, label) in octets.iter_mut().zip(head.rsplit('.')) {
        *octet = label.parse().ok()?;
        labels += 1;
    }
    let whole = head.split('.').count() == usize::from(labels);
    whole.then(|| Ipv4Net::new(Ipv4Addr::from(octets), labels * 8).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing;

    #[test]
    fn zones_of_the_site_are_told_from_others() {
        let site = testing::site();
        for ours in ["old.mobile.deevnet.net", "140.20.10.in-addr.arpa", "7.140.20.10.in-addr.arpa"] {
            assert!(is_ours(&site, &Name::new(ours)), "{ours}");
        }
        let others =
            ["mobile.deevnet.net", "lab.tdemo.mobile.deevnet.net", "20.10.in-addr.arpa", "99.20.10.in-addr.arpa"];
        for other in others.into_iter().chain(["x.in-addr.arpa", "1.2.3.4.5.in-addr.arpa", "in-addr.arpa"]) {
            assert!(!is_ours(&site, &Name::new(other)), "{other}");
        }
    }
}
