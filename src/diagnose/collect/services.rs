//! The platform's own services: check-ins of workloads, and the registry of tenants. What their clients read is kept as a
//! document each, since an answer may hold what looks like a token, and a client drops it.

use serde::Serialize;

use super::Sink;
use crate::backends::bootstrap::Listing;
use crate::diagnose::evidence::Kind;
use crate::diagnose::facts::journal::{Changes, OF_CHANGES};
use crate::diagnose::facts::services::{CHECKINS, CheckIns, Lack, OF_CHECKINS, OF_REGISTRY, REGISTRY, Registry};
use crate::inventory::feed::{Clients, Unusable};

/// Who told it, as findings call them.
const SERVICE: &str = "check-ins";
/// See [`SERVICE`].
const HERE: &str = "console";
/// See [`SERVICE`].
const TENANTS: &str = "registry";

fn lack(why: impl std::fmt::Display, help: &str) -> Lack {
    let why = why.to_string();
    let help = help.trim_end_matches('.');
    let why = if help.is_empty() { why } else { format!("{}; {help}", why.trim_end_matches('.')) };
    Lack { off: false, why: crate::text::clean(&why).into_owned() }
}

fn unusable(why: &Unusable) -> Lack {
    lack(&why.text, why.help.as_deref().unwrap_or_default())
}

fn keep(from: &str, what: &str, document: &impl Serialize, sink: &Sink) {
    // The document is plain data: writing it cannot fail.
    let Ok(body) = serde_json::to_string_pretty(document) else { return };
    sink.add(from, from, "json", Kind::Material(what.to_owned()), body, String::new());
}

/// Keeps what the console's own journal tells of open changes.
pub fn changes(told: &Changes, sink: &Sink) {
    keep(HERE, OF_CHANGES, told, sink);
}

/// Reads the check-ins, where the site has a source of them.
pub(super) async fn checkins(clients: &Clients, sink: &Sink) {
    let Some(client) = &clients.bootstrap else { return };
    let none = |place: String, lack| CheckIns {
        schema: CHECKINS.to_owned(),
        place,
        at: None,
        lack: Some(lack),
        records: Vec::new(),
        broken: Vec::new(),
        more: false,
    };
    let told = match client {
        Err(why) => none("the site file".to_owned(), unusable(why)),
        Ok(client) => match client.read().await {
            Err(error) => none(client.place(), lack(&error, &error.help())),
            Ok(Listing::NotOffered) => {
                let why = format!("{} offers no check-ins; that is not a fault", client.place());
                none(client.place(), Lack { off: true, why })
            }
            Ok(Listing::Records(all)) => CheckIns {
                schema: CHECKINS.to_owned(),
                place: client.place(),
                at: all.at,
                lack: None,
                more: all.cut || all.broken_more > 0,
                records: all.items,
                broken: all.broken,
            },
        },
    };
    keep(SERVICE, OF_CHECKINS, &told, sink);
}

/// Reads the registry, where the site has one.
pub(super) async fn registry(clients: &Clients, sink: &Sink) {
    let Some(client) = &clients.registry else { return };
    let none = |place: String, lack| Registry {
        schema: REGISTRY.to_owned(),
        place,
        lack: Some(lack),
        tenants: Vec::new(),
        egress: None,
        no_egress: None,
    };
    let told = match client {
        Err(why) => none("the site file".to_owned(), unusable(why)),
        Ok(client) => match client.tenants().await {
            Err(error) => none(client.origin().to_owned(), lack(&error, &error.help())),
            Ok(tenants) => {
                let egress = client.egress().await;
                let no_egress = egress.as_ref().err().map(|error| lack(error, &error.help()).why);
                let (schema, place) = (REGISTRY.to_owned(), client.origin().to_owned());
                Registry { schema, place, lack: None, tenants, egress: egress.ok(), no_egress }
            }
        },
    };
    keep(TENANTS, OF_REGISTRY, &told, sink);
}
