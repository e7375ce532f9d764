//! Of which zones and names the worker reads, in which order: what is on screen first.

use std::sync::Arc;

use crate::backends::powerdns::Name;
use crate::backends::powerdns::model::ZoneHead;
use crate::inventory::entities::{Inventory, Tenant};
use crate::inventory::hosts::{Host, host, is_ours};
use crate::inventory::readings::{Demand, QuestionKey};
use crate::site::Site;

/// A tenant as far as names go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    /// Forward and reverse zone.
    pub zones: [Name; 2],
    /// Names of its workloads, where they are asked for one by one.
    pub hosts: Vec<Host>,
    /// Whether it is on screen.
    pub shown: bool,
}

/// Tenants, those on screen first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Wanted {
    /// Tenants.
    pub holders: Vec<Holder>,
}

impl Wanted {
    /// What the picture and the screen ask for. With an API names are asked for one by one only of who is on screen:
    /// the others' are left out, since this is made anew for every picture.
    pub(super) fn of(site: &Site, picture: &Inventory, demand: &Demand, has_api: bool) -> Self {
        let place = |t: &Tenant| demand.tenants.iter().position(|name| *name == t.name).unwrap_or(usize::MAX);
        let mut tenants: Vec<&Tenant> = picture.tenants.iter().collect();
        tenants.sort_by_key(|t| place(t));
        let holder = |t: &Tenant| {
            let shown = place(t) != usize::MAX;
            let workloads = if shown || !has_api { picture.workloads_of(t) } else { &[] };
            Holder {
                zones: [Name::new(&t.forward_zone), Name::new(&t.reverse_zone)],
                hosts: workloads.iter().filter_map(|w| host(site, w)).collect(),
                shown,
            }
        };
        Self { holders: tenants.into_iter().map(holder).collect() }
    }

    /// Zones to be read, and whether they are on screen; those of nobody last.
    pub(super) fn zones(&self, site: &Site, list: &[ZoneHead]) -> Vec<(Name, bool)> {
        let own = self.holders.iter().flat_map(|h| h.zones.iter().map(|zone| (zone.clone(), h.shown)));
        let mut zones: Vec<(Name, bool)> = own.filter(|(zone, _)| list.iter().any(|z| z.name == *zone)).collect();
        let others = list.iter().filter(|z| is_ours(site, &z.name) && !self.is_owned(&z.name));
        zones.extend(others.map(|z| (z.name.clone(), false)));
        zones
    }

    fn is_owned(&self, zone: &Name) -> bool {
        self.holders.iter().any(|h| h.zones.contains(zone))
    }

    /// What an authority is asked without its API: SOA and NS of each zone, A and PTR of each workload.
    pub(super) fn authority(&self) -> Vec<(QuestionKey, bool)> {
        let mut out = Vec::new();
        for h in &self.holders {
            let apex = h.zones.iter().flat_map(|zone| [(zone.clone(), "SOA"), (zone.clone(), "NS")]);
            out.extend(apex.chain(h.hosts.iter().flat_map(own)).map(|key| (key, h.shown)));
        }
        out
    }
}

/// The questions about a workload's own names.
pub(super) fn own(host: &Host) -> [QuestionKey; 2] {
    [(host.fqdn.clone(), "A"), (host.pointer.clone(), "PTR")]
}

/// Whose names there are to read, by a picture.
#[derive(Debug, Default)]
pub(super) struct Tenants {
    names: Vec<(Arc<str>, u8)>,
    workloads: usize,
}

impl Tenants {
    /// Those of `picture`.
    pub(super) fn of(picture: &Inventory) -> Self {
        let names = picture.tenants.iter().map(|t| (Arc::clone(&t.name), t.index)).collect();
        Self { names, workloads: picture.workloads.len() }
    }

    /// Whether `picture` has the same.
    pub(super) fn are_of(&self, picture: &Inventory) -> bool {
        let names = picture.tenants.iter().map(|t| (&t.name, t.index));
        self.workloads == picture.workloads.len() && names.eq(self.names.iter().map(|(name, index)| (name, *index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::testing;

    #[test]
    fn what_is_on_screen_comes_first() {
        let demand = Demand { tenants: vec!["radio".into(), "eds".into()], ..Demand::default() };
        let wanted = Wanted::of(&testing::site(), &testing::healthy(), &demand, false);
        let api = Wanted::of(&testing::site(), &testing::healthy(), &demand, true);
        let zones = |wanted: &Wanted| wanted.holders.iter().map(|h| h.zones.clone()).collect::<Vec<_>>();
        assert_eq!(zones(&api), zones(&wanted));
        assert!(api.holders.iter().all(|h| h.shown != h.hosts.is_empty()), "names of who is on screen alone");
        let names: Vec<&str> = wanted.holders.iter().map(|h| h.zones[0].as_str()).collect();
        assert_eq!(names[..3], ["radio.mobile.deevnet.net", "eds.mobile.deevnet.net", "tdemo.mobile.deevnet.net"]);
        assert_eq!(wanted.holders.iter().filter(|h| h.shown).count(), 2);
        assert_eq!(wanted.authority()[0].0.0.as_str(), "radio.mobile.deevnet.net");
        assert_eq!(wanted.authority().len(), 6 * 4 + 42 * 2);
    }
}
