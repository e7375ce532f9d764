//! `check WHAT [TENANT]`: evidence from the live site, then its findings.

use std::path::Path;

use super::args::{CheckArgs, Global};
use super::{Code, Failure, findings, open};
use crate::console::widgets::format::plural;
use crate::diagnose::Report;
use crate::diagnose::collect::{Sink, Wanted, collect};
use crate::diagnose::evidence::save;
use crate::inventory::feed::Clients;
use crate::runtime::clock;

/// Runs the verb.
pub(super) fn run(global: &Global, request: &CheckArgs) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let wanted = Wanted { check: request.what.check(), tenant: request.subject.clone() };
    let evidence = open::runtime()?.block_on(async {
        let clients = Clients::connect(&site).await;
        collect(&site, &clients, &wanted, &Sink::new(clock::system())).await
    });
    if let Some(dir) = &request.save {
        keep(&evidence, dir)?;
    }
    let report = concerning(Report::of(&evidence), request.subject.as_deref());
    findings::show(&mut std::io::stdout(), &report, evidence.at(), request.output)
}

/// What of `report` concerns `tenant`.
fn concerning(report: Report, tenant: Option<&str>) -> Report {
    let Some(tenant) = tenant else { return report };
    let (mine, others) = report.about(tenant);
    if others > 0 {
        open::note(&format!("{} about other tenants left out", plural(others, "finding")));
    }
    mine
}

fn keep(evidence: &crate::diagnose::evidence::Evidence, dir: &Path) -> Result<(), Failure> {
    save(evidence, dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    open::note(&format!("{} items kept in {}", evidence.items.len(), dir.display()));
    Ok(())
}
