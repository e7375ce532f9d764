//! OPNsense tells no key what it may do: one endpoint for each privilege is tried, one after another, and no further once
//! the router stops answering.

use tokio::time::Instant;

use super::{Options, closed, secret};
use crate::backends::opnsense::endpoints::Endpoint;
use crate::backends::opnsense::{Client, Error, Pace};
use crate::diagnose::access::facts::{Fault, FaultKind, OpnsenseFacts, ServiceFacts, Tried};
use crate::diagnose::access::rights;
use crate::site::model::OpnsenseSite;

/// How many times the longest step all tries together may take: a router that is slow is left alone.
const STEPS: u32 = 4;

/// Everything about the perimeter.
pub(super) async fn facts(site: &OpnsenseSite, options: &Options<'_>) -> OpnsenseFacts {
    let began = Instant::now();
    let (look, (key_seen, key), (secret_seen, word)) =
        tokio::join!(options.look(&site.url, &site.trust), secret("key", &site.key), secret("secret", &site.secret));
    let shut = closed(&look);
    let service = ServiceFacts {
        section: "opnsense",
        origin: site.url.clone(),
        trust: site.trust.clone(),
        secrets: vec![key_seen, secret_seen],
        look: Tried::Got(look),
        took: began.elapsed(),
    };
    let mut facts = OpnsenseFacts { service, release: Tried::NotRun("not asked".to_owned()), tried: Vec::new() };
    match (shut, key.zip(word)) {
        (Some(why), _) => not_run(&mut facts, &why),
        (None, None) => not_run(&mut facts, "there is no key"),
        (None, Some((key, word))) => match Client::new(site, &key, &word, options.limits(), Pace::default()) {
            Ok(client) => ask(&mut facts, &client, options).await,
            Err(error) => {
                let fault = Fault::from(&error);
                not_run(&mut facts, "the key cannot be used");
                match facts.service.secrets.first_mut() {
                    Some(seen) if matches!(error, Error::BadCredentials(_)) => seen.fault = Some(fault),
                    _ => facts.release = Tried::Failed(fault),
                }
            }
        },
    }
    facts.service.took = began.elapsed();
    facts
}

fn not_run(facts: &mut OpnsenseFacts, why: &str) {
    facts.release = Tried::NotRun(why.to_owned());
    facts.tried = rights::opnsense_to_try()
        .iter()
        .filter_map(|group| group.first())
        .map(|endpoint| (*endpoint, Tried::NotRun(why.to_owned())))
        .collect();
}

async fn ask(facts: &mut OpnsenseFacts, client: &Client, options: &Options<'_>) {
    let began = Instant::now();
    facts.release = Tried::of(client.release().await);
    let mut stop = if let Tried::Failed(fault) = &facts.release { stops(fault) } else { None };
    for group in rights::opnsense_to_try() {
        let Some(first) = group.first() else { continue };
        let (endpoint, came) = match stop {
            Some(why) => (*first, Tried::NotRun(why.to_owned())),
            None => try_group(client, first, &group).await,
        };
        if began.elapsed() > options.wait * STEPS {
            stop = stop.or(Some("it answers too slowly"));
        }
        if let Tried::Failed(fault) = &came {
            stop = stop.or_else(|| stops(fault));
        }
        facts.tried.push((endpoint, came));
    }
}

/// The first endpoint of `group` that this version has, and what came of it.
async fn try_group(
    client: &Client,
    first: &'static Endpoint,
    group: &[&'static Endpoint],
) -> (&'static Endpoint, Tried<()>) {
    let mut last = (first, Tried::NotRun("not asked".to_owned()));
    for endpoint in group {
        last = (endpoint, Tried::of(client.may_use(endpoint).await));
        if !matches!(&last.1, Tried::Failed(Fault { kind: FaultKind::NotOffered, .. })) {
            break;
        }
    }
    last
}

/// Why nothing more is asked after this.
const fn stops(fault: &Fault) -> Option<&'static str> {
    match fault.kind {
        FaultKind::Credential => Some("the key is not accepted"),
        FaultKind::NoAnswer => Some("it stopped answering"),
        _ => None,
    }
}
