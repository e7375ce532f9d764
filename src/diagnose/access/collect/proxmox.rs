//! What Proxmox says, all lists side by side once the token is known to be good.

use tokio::time::Instant;
use zeroize::Zeroizing;

use super::{Options, closed, secret};
use crate::backends::proxmox::model::Sdn;
use crate::backends::proxmox::{Client, Error, View};
use crate::diagnose::access::facts::{Fault, FaultKind, ProxmoxFacts, SecretFacts, ServiceFacts, Tried};
use crate::site::model::ProxmoxSite;

/// Everything about Proxmox that a site file rests on.
pub async fn facts(site: &ProxmoxSite, options: &Options<'_>) -> ProxmoxFacts {
    let (seen, token) = secret("token", &site.token).await;
    with_token(site, seen, token, options).await
}

/// The same with a token that was read already.
pub async fn with_token(
    site: &ProxmoxSite,
    secret: SecretFacts,
    token: Option<Zeroizing<String>>,
    options: &Options<'_>,
) -> ProxmoxFacts {
    let began = Instant::now();
    let look = options.look(&site.url, &site.trust).await;
    let shut = closed(&look);
    let id = token.as_ref().and_then(token_id);
    let service = ServiceFacts {
        section: "proxmox",
        origin: site.url.clone(),
        trust: site.trust.clone(),
        secrets: vec![secret],
        look: Tried::Got(look),
        took: began.elapsed(),
    };
    let mut facts = nothing(service, id);
    match (shut, token) {
        (Some(why), _) => not_run(&mut facts, &why),
        (None, None) => not_run(&mut facts, "there is no token"),
        (None, Some(token)) => match Client::new(site, token, options.limits()) {
            Ok(client) => ask(&mut facts, &client).await,
            Err(error) => unusable(&mut facts, &error),
        },
    }
    facts.service.took = began.elapsed();
    facts
}

/// The public half of a token, where it has the form of one.
fn token_id(token: &Zeroizing<String>) -> Option<String> {
    let (id, _) = token.split_once('=')?;
    let sound = |c: char| c.is_ascii_alphanumeric() || "@!._-".contains(c);
    (id.contains('@') && id.contains('!') && id.chars().all(sound)).then(|| id.to_owned())
}

fn nothing(service: ServiceFacts, token_id: Option<String>) -> ProxmoxFacts {
    fn unasked<T>() -> Tried<T> {
        Tried::NotRun("not asked".to_owned())
    }
    ProxmoxFacts {
        service,
        token_id,
        version: unasked(),
        permissions: unasked(),
        nodes: unasked(),
        resources: unasked(),
        zones: unasked(),
        vnets: unasked(),
        controllers: unasked(),
        fabrics: unasked(),
    }
}

fn not_run(facts: &mut ProxmoxFacts, why: &str) {
    facts.version = Tried::NotRun(why.to_owned());
    lists_not_run(facts, why);
}

fn lists_not_run(facts: &mut ProxmoxFacts, why: &str) {
    let why = || why.to_owned();
    facts.permissions = Tried::NotRun(why());
    facts.nodes = Tried::NotRun(why());
    facts.resources = Tried::NotRun(why());
    facts.zones = Tried::NotRun(why());
    facts.vnets = Tried::NotRun(why());
    facts.controllers = Tried::NotRun(why());
    facts.fabrics = Tried::NotRun(why());
}

/// A token that cannot be sent is the secret's fault; anything else is said where the version would be.
fn unusable(facts: &mut ProxmoxFacts, error: &Error) {
    not_run(facts, "the token cannot be used");
    let fault = Fault::from(error);
    match facts.service.secrets.first_mut() {
        Some(SecretFacts { fault: slot, .. }) if matches!(error, Error::BadToken(_)) => *slot = Some(fault),
        _ => facts.version = Tried::Failed(fault),
    }
}

async fn ask(facts: &mut ProxmoxFacts, client: &Client) {
    facts.version = Tried::of(client.version().await);
    match &facts.version {
        Tried::Failed(Fault { kind: FaultKind::Credential, .. }) => {
            return lists_not_run(facts, "the token is not accepted");
        }
        Tried::Failed(Fault { kind: FaultKind::NoAnswer, .. }) => return lists_not_run(facts, "it does not answer"),
        _ => {}
    }
    let (permissions, nodes, resources, zones, vnets, controllers, fabrics) = tokio::join!(
        client.permissions(),
        client.nodes(),
        client.resources(),
        client.zones(View::Pending),
        client.vnets(View::Pending),
        client.controllers(View::Pending),
        client.fabrics(View::Pending),
    );
    facts.permissions = Tried::of(permissions);
    facts.nodes = Tried::of(nodes.map(|rows| rows.into_iter().map(|row| row.node).collect()));
    facts.resources = Tried::of(resources);
    facts.zones = Tried::of(zones.map(current));
    facts.vnets = Tried::of(vnets.map(current));
    facts.controllers = Tried::of(controllers.map(current));
    facts.fabrics = Tried::of(fabrics.map(|read| current(read.0).into_iter().map(|fabric| fabric.id).collect()));
}

fn current<T: Clone>(rows: Vec<Sdn<T>>) -> Vec<T> {
    rows.iter().filter_map(|row| row.current().cloned()).collect()
}
