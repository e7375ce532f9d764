//! Collecting evidence from a live site: clients work as always, and what goes over the wire is kept as items.
//!
//! Everything that is judged goes through [`Evidence`], also live: a saved bundle is judged exactly as the site was.
//! Back ends are read side by side; one that is silent costs its own time-out and nobody else's.

mod between;
mod bridge;
mod exit_node;
mod fabric;
mod guests;
mod keys;
mod names;
mod perimeter;
mod questions;
pub mod reach;
mod scope;
mod services;
mod sink;
mod subject;

use std::sync::Arc;

use futures_util::FutureExt as _;
use ipnet::Ipv4Net;

use crate::backends::proxmox::model::Vm;
use crate::diagnose::evidence::{Evidence, Kind};
use crate::diagnose::parts::Part;
use crate::inventory::feed::Clients;
use crate::site::Site;

pub use scope::{Check, Wanted, report};
pub use services::changes;
pub use sink::{Clock, Sink, Tell};
pub use subject::{Asked, asked};

/// A tenant's subnet as SDN has it in force, for what is asked of an exit node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Leg {
    zone: String,
    vnet: String,
    subnet: Ipv4Net,
    exits: Vec<String>,
}

/// What Proxmox VE told of tenants, as far as others are asked about it; empty where it told nothing.
#[derive(Debug, Default)]
struct Fabric {
    legs: Vec<Leg>,
    vms: Vec<Vm>,
}

/// Says what is awaited of `wanted`. Whoever may give up calls it before clients are made: a command that tells a secret
/// can hang as well. To say it twice is the same as once, as long as nothing has ended.
pub fn expect(site: &Site, wanted: &Wanted, sink: &Sink) {
    let check = wanted.check;
    let parts = [
        (true, Part::Fabric),
        (check.guests(), Part::Guests),
        (check.names() || wanted.keys, Part::Names),
        (wanted.keys, Part::Keys),
        (check.perimeter().is_some() && site.opnsense.is_some(), Part::Perimeter),
        (check.checkins() && site.bootstrap.is_some(), Part::CheckIns),
        (check.registry() && site.registry.is_some(), Part::Registry),
    ];
    let names = || site.exit_nodes.iter().filter(|_| check.nodes()).map(|exit| exit.name.clone());
    let nodes = names().flat_map(|name| [Part::Read(name.clone()), Part::Tried(name)]);
    let nodes = nodes.chain(names().filter(|_| check.between()).map(Part::Between));
    parts.into_iter().filter(|(asked, _)| *asked).map(|(_, part)| part).chain(nodes).for_each(|part| sink.begin(part));
}

/// Reads `wanted` of `site` into `sink`.
pub async fn collect(site: &Arc<Site>, clients: &Clients, wanted: &Wanted, sink: &Sink) -> Evidence {
    let sink = &sink.scrubbing(&clients.known);
    let what = Kind::Material("the site file, without where its secrets come from".to_owned());
    sink.put("site.toml", &site.name, what, site.redacted.to_string());
    let check = wanted.check;
    expect(site, wanted, sink);
    // Whoever needs to know of tenants waits for it; the rest of a back end is read meanwhile.
    let fabric = async {
        let fabric = Arc::new(fabric::read(site, clients, check, sink).await);
        sink.end(&Part::Fabric);
        fabric
    };
    let fabric = fabric.shared();
    let nodes = async {
        if check.nodes() {
            exit_node::read(site, clients, wanted, &*fabric.clone().await, sink).await;
        }
    };
    let guests = async {
        if check.guests() {
            guests::read(site, clients, wanted, &*fabric.clone().await, sink).await;
            sink.end(&Part::Guests);
        }
    };
    let names = async {
        if check.names() || wanted.keys {
            names::read(site, clients, wanted, fabric.clone(), sink).await;
            sink.end(&Part::Names);
        }
    };
    let keys = async {
        if wanted.keys {
            keys::read(site, clients, wanted, &*fabric.clone().await, sink).await;
            sink.end(&Part::Keys);
        }
    };
    let perimeter = async {
        if let Some(depth) = check.perimeter() {
            perimeter::read(site, clients, wanted, depth, fabric.clone(), sink).await;
            sink.end(&Part::Perimeter);
        }
    };
    let services = async {
        let checkins = async {
            if check.checkins() {
                services::checkins(clients, sink).await;
                sink.end(&Part::CheckIns);
            }
        };
        let registry = async {
            if check.registry() {
                services::registry(clients, sink).await;
                sink.end(&Part::Registry);
            }
        };
        tokio::join!(checkins, registry);
    };
    tokio::join!(fabric.clone(), nodes, guests, names, keys, perimeter, services);
    sink.evidence(Some(wanted.question()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_awaited_is_said_before_anybody_is_asked() {
        let site = crate::inventory::testing::Sample::of(&[("tdemo".into(), 1, Vec::new())]).site;
        let sink = Sink::new(Arc::new(|| "2026-11-29T11:03:00Z".parse().expect("a time")));
        let keys = Wanted::of(Check::Keys, None);
        expect(&site, &keys, &sink);
        expect(&site, &keys, &sink);
        assert_eq!(sink.open(), [Part::Fabric, Part::Names, Part::Keys]);
        sink.give_up("given up by you");
        let report = report(&sink.evidence(Some(keys.question())));
        let told = |what: &str| report.unknown.iter().any(|unknown| unknown.missing.contains(what));
        assert!(told("the trial of update keys") && told("PowerDNS"), "{:?}", report.unknown);
    }

    #[test]
    fn a_check_that_was_given_up_before_it_began_says_so() {
        let sink = Sink::new(Arc::new(|| "2026-11-29T11:03:00Z".parse().expect("a time")));
        sink.give_up("given up by you");
        for check in Check::ALL {
            let report = report(&sink.evidence(Some(Wanted::of(check, None).question())));
            assert!(
                report.unknown.iter().any(|unknown| unknown.why.as_deref() == Some("given up by you")),
                "{check:?}"
            );
        }
    }
}
