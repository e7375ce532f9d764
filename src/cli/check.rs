//! `check WHAT [TENANT]`: evidence from the live site, then its findings.

use std::path::Path;

use super::args::{CheckArgs, Global};
use super::{Code, Failure, findings, open};
use crate::diagnose::collect::{Sink, Wanted, collect, report};
use crate::diagnose::evidence::save;
use crate::inventory::feed::Clients;
use crate::runtime::clock;

/// Runs the verb.
pub(super) fn run(global: &Global, request: &CheckArgs) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let wanted = Wanted::of(request.what.check(), request.subject.as_deref());
    let evidence = open::runtime()?.block_on(async {
        let clients = Clients::connect(&site).await;
        collect(&site, &clients, &wanted, &Sink::new(clock::system())).await
    });
    if let Some(dir) = &request.save {
        keep(&evidence, dir)?;
    }
    findings::show(&mut std::io::stdout(), &report(&evidence), evidence.at(), request.output)
}

fn keep(evidence: &crate::diagnose::evidence::Evidence, dir: &Path) -> Result<(), Failure> {
    save(evidence, dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    open::note(&format!("{} items kept in {}", evidence.items.len(), dir.display()));
    Ok(())
}
