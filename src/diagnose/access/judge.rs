//! What the facts mean. Pure: no clock, no network.

mod exit;
mod names;
mod perimeter;
mod proxmox;
mod service;
mod whole;

pub use service::fingerprint_command;

use super::facts::{Facts, Fault, FaultKind, Tried};
use super::{Check, Report, Source, State};
use crate::site::Site;

/// Judges `facts` about `site`.
#[must_use]
pub fn judge(site: &Site, facts: &Facts) -> Report {
    let mut sources = vec![proxmox::source(site, &facts.proxmox)];
    for (node, seen) in site.exit_nodes.iter().zip(&facts.exit_nodes) {
        sources.push(exit::source(site, node, seen));
    }
    sources.extend(facts.powerdns.iter().map(|dns| names::powerdns(site, dns)));
    sources.extend(facts.opnsense.as_ref().map(perimeter::source));
    sources.push(names::resolvers(site, facts));
    for (name, service) in [("boot", &facts.bootstrap), ("registry", &facts.registry)] {
        sources.extend(service.as_ref().map(|service| service::alone(name, service)));
    }
    sources.extend(facts.records.as_ref().map(|(path, read)| records(path, read)));
    sources.push(whole::source(site, facts));
    Report { at: facts.at, sources }
}

/// A file of bootstrap records.
fn records(path: &std::path::Path, read: &Result<u64, String>) -> Source {
    let check = match read {
        Ok(bytes) => Check::ok("file", format!("{bytes} bytes")),
        Err(why) => Check::new("file", State::Fault, crate::text::clean(why).into_owned())
            .help("let whoever writes the records make it readable for this user"),
    };
    source("boot", crate::text::clean(&path.display().to_string()).into_owned(), std::time::Duration::ZERO, vec![check])
}

impl Fault {
    /// The fault as a check. What has no answer is a fact about the way there; what is not offered or not understood is
    /// unknown.
    fn check(&self, what: &'static str) -> Check {
        let state = match self.kind {
            FaultKind::NotOffered | FaultKind::Failed => State::Unknown,
            _ => State::Fault,
        };
        let mut check = Check::new(what, state, self.why.clone()).help(self.help.clone());
        check.configuration = self.kind == FaultKind::Configuration;
        check
    }
}

/// A try that is only of interest where it did not work.
fn failed<T>(what: &'static str, tried: &Tried<T>) -> Option<Check> {
    match tried {
        Tried::Got(_) => None,
        Tried::Failed(fault) => Some(fault.check(what)),
        Tried::NotRun(why) => Some(Check::new(what, State::NotRun, why.clone())),
    }
}

fn millis(took: std::time::Duration) -> String {
    match took.as_millis() {
        0 => "<1 ms".to_owned(),
        n => format!("{n} ms"),
    }
}

fn source(name: impl Into<String>, target: impl Into<String>, took: std::time::Duration, checks: Vec<Check>) -> Source {
    Source { name: name.into(), target: target.into(), took, checks }
}

#[cfg(test)]
mod tests;
