//! `check WHAT [TENANT]`: evidence from the live site, then its findings.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use super::args::{CheckArgs, Format, Global};
use super::{Code, Failure, contract, findings, open, print, progress};
use crate::console::widgets::format::plural;
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Asked, Check, Sink, Wanted, asked, collect};
use crate::diagnose::evidence::{Evidence, save};
use crate::diagnose::facts::Facts;
use crate::diagnose::rules::matrix;
use crate::inventory::feed::Clients;
use crate::runtime::clock;
use crate::site::Site;

/// Runs the verb.
pub(super) fn run(global: &Global, request: &CheckArgs) -> Result<Code, Failure> {
    let check = request.what.check();
    if request.keys && !check.may_try_keys() {
        let text = format!("check {} has no use for tenants' update keys", check.word());
        return Err(Failure::usage(text, "give --keys to check isolation, dns, contract or all"));
    }
    let site = open::site(global)?;
    let wanted = Wanted::of(check, request.subject.as_deref()).with_keys(request.keys);
    let evidence = open::runtime()?.block_on(async {
        let clients = Clients::connect(&site).await;
        let sink = Sink::new(clock::system()).telling(progress::tell());
        let evidence = collect(&site, &clients, &wanted, &sink).await;
        progress::end();
        evidence
    });
    there(&evidence, &wanted, &site)?;
    if let Some(dir) = &request.save {
        keep(&evidence, dir)?;
    }
    let Diagnosis { evidence, report, others, .. } = Diagnosis::of(&wanted, evidence, Vec::new());
    if others > 0 {
        open::note(&format!("{} about other tenants left out", plural(others, "finding")));
    }
    let out = &mut std::io::stdout();
    if !request.matrix {
        let clauses = contract::of(&report, &evidence);
        let whole = check == Check::Contract;
        return findings::show(out, &report, clauses.as_deref(), whole, evidence.at(), request.output);
    }
    let pairs: Vec<_> =
        matrix::pairs(&Facts::of(&evidence)).into_iter().filter(|pair| concerns(pair, &wanted)).collect();
    match request.output {
        Format::Table => write!(out, "{}", matrix::markdown(&pairs))?,
        format => print::document(out, &json!({ "schema": "deevnet-console/isolation/v1", "pairs": pairs }), format)?,
    }
    Ok(findings::code(&report))
}

fn concerns(pair: &matrix::Pair, wanted: &Wanted) -> bool {
    wanted.tenant.as_ref().is_none_or(|tenant| *tenant == pair.from || *tenant == pair.to)
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

fn keep(evidence: &Evidence, dir: &Path) -> Result<(), Failure> {
    save(evidence, dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    open::note(&format!("{} items kept in {}", evidence.items.len(), dir.display()));
    Ok(())
}
