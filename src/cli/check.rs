//! `check WHAT [TENANT]`: evidence from the live site, then its findings.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use super::args::{CheckArgs, Format, Global};
use super::{Code, Failure, findings, open, print};
use crate::console::widgets::format::plural;
use crate::diagnose::Report;
use crate::diagnose::collect::{Asked, Sink, Wanted, asked, collect, report};
use crate::diagnose::evidence::{Evidence, save};
use crate::diagnose::facts::Facts;
use crate::diagnose::rules::matrix;
use crate::inventory::feed::Clients;
use crate::runtime::clock;
use crate::site::Site;

/// Runs the verb.
pub(super) fn run(global: &Global, request: &CheckArgs) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let wanted = Wanted::of(request.what.check(), request.subject.as_deref());
    let evidence = open::runtime()?.block_on(async {
        let clients = Clients::connect(&site).await;
        collect(&site, &clients, &wanted, &Sink::new(clock::system())).await
    });
    let known = there(&evidence, &wanted, &site)?;
    if let Some(dir) = &request.save {
        keep(&evidence, dir)?;
    }
    let report = concerning(report(&evidence), wanted.tenant.as_deref(), known);
    let out = &mut std::io::stdout();
    if !request.matrix {
        return findings::show(out, &report, evidence.at(), request.output);
    }
    let pairs: Vec<_> =
        matrix::pairs(&Facts::of(&evidence)).into_iter().filter(|pair| concerns(pair, request)).collect();
    match request.output {
        Format::Table => write!(out, "{}", matrix::markdown(&pairs))?,
        format => print::document(out, &json!({ "schema": "deevnet-console/isolation/v1", "pairs": pairs }), format)?,
    }
    Ok(findings::code(&report))
}

/// A name that is nobody's is a mistake of the question, where everybody is known. Whether it was found.
///
/// # Errors
/// When there is no tenant or workload of that name; the help names those there are.
pub(super) fn there(evidence: &Evidence, wanted: &Wanted, site: &Site) -> Result<bool, Failure> {
    let (what, name, there) = match asked(evidence, wanted, site) {
        Asked::There => return Ok(true),
        Asked::Unknown => return Ok(false),
        Asked::Nobody { what, name, there } => (what, name, there),
    };
    let of =
        wanted.tenant.iter().filter(|_| what == "workload").map(|tenant| format!(" of {tenant}")).collect::<String>();
    let near = crate::site::text::nearest(&name, there.iter().map(String::as_str));
    let all =
        if there.is_empty() { format!("there is no {what}{of}") } else { format!("there are: {}", there.join(", ")) };
    let help = near.map_or_else(|| all.clone(), |near| format!("did you mean {near}? {all}"));
    Err(Failure::usage(format!("no {what}{of} is called {name:?}"), help))
}

fn concerns(pair: &matrix::Pair, request: &CheckArgs) -> bool {
    let tenant = request.subject.as_ref().and_then(|subject| subject.split('/').next());
    tenant.is_none_or(|tenant| tenant == pair.from || tenant == pair.to)
}

/// What of `report` concerns `tenant`.
fn concerning(report: Report, tenant: Option<&str>, known: bool) -> Report {
    let Some(tenant) = tenant else { return report };
    let (mine, others) = if known { report.about_known(tenant) } else { report.about(tenant) };
    if others > 0 {
        open::note(&format!("{} about other tenants left out", plural(others, "finding")));
    }
    mine
}

fn keep(evidence: &Evidence, dir: &Path) -> Result<(), Failure> {
    save(evidence, dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    open::note(&format!("{} items kept in {}", evidence.items.len(), dir.display()));
    Ok(())
}
