//! One forward of the perimeter's resolver.

use std::net::SocketAddr;

use crate::backends::dns::DnsName;
use crate::provision::fields::{Fields, fields};
use crate::provision::names::{Answers, Forward, server_text};
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Step, Subject};
use crate::site::Site;

fn plan(site: &Site, title: &str, domain: &DnsName, mut steps: Vec<Step>) -> Plan {
    let name = domain.as_str().to_owned();
    steps.push(super::names::told(vec![name.clone()]));
    Plan {
        site: site.name.clone(),
        title: format!("{title} {name}"),
        subject: Subject { name, tenant: None },
        steps,
        reach: None,
    }
}

/// A domain forwarded to a server that answers for it, and the resolver told. What others wrote of the row stays. The server is
/// asked from here, unless only the perimeter may ask it: on request alone (`asked`).
#[must_use]
pub fn set(site: &Site, domain: &DnsName, (server, asked): (SocketAddr, bool), description: &str) -> Plan {
    let wanted = fields([
        ("type", "forward".to_owned()),
        ("server", server_text(server.ip(), server.port())),
        ("enabled", "1".to_owned()),
        ("description", description.to_owned()),
    ]);
    let forward = Object::Forward(Forward { domain: domain.as_str().to_owned() });
    let answers = Object::Answers(Answers { domain: domain.as_str().to_owned(), server });
    let question = asked.then(|| Step::present(answers, Fields::new()));
    let steps = question.into_iter().chain([Step::present(forward, wanted)]).collect();
    plan(site, "Forward", domain, steps)
}

/// A domain forwarded no longer, and the resolver told.
#[must_use]
pub fn delete(site: &Site, domain: &DnsName) -> Plan {
    let forward = Object::Forward(Forward { domain: domain.as_str().to_owned() });
    plan(site, "Stop forwarding", domain, vec![Step::absent(forward)])
}
