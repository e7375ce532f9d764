//! `check WHAT [TENANT]`: evidence from the live site, then its findings.

use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::args::{CheckArgs, Format, Global};
use super::{Code, Failure, findings, open, pasted, print};
use crate::console::widgets::format::plural;
use crate::diagnose::Report;
use crate::diagnose::collect::{Sink, Wanted, collect, report};
use crate::diagnose::evidence::save;
use crate::diagnose::facts::Facts;
use crate::diagnose::rules::matrix::{self, Matrix};
use crate::inventory::feed::Clients;
use crate::runtime::clock;

/// Runs the verb.
pub(super) fn run(global: &Global, request: &CheckArgs) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let wanted = Wanted::of(request.what.check(), request.subject.as_deref());
    let given = request.pasted.as_deref().map(pasted::blocks).transpose()?.unwrap_or_default();
    let mut evidence = open::runtime()?.block_on(async {
        let clients = Clients::connect(&site).await;
        collect(&site, &clients, &wanted, &Sink::new(clock::system())).await
    });
    pasted::add(&mut evidence, &given)?;
    if let Some(dir) = &request.save {
        keep(&evidence, dir)?;
    }
    let report = concerning(report(&evidence), request.subject.as_deref());
    let facts = Facts::of(&evidence);
    let matrix = Matrix::of(&facts);
    let tenant = wanted.tenant.as_deref();
    let out = &mut std::io::stdout();
    if request.matrix {
        table(out, &facts, &matrix, (&site.name, tenant), request.output)?;
        return Ok(findings::code(&report));
    }
    show(out, &report, &matrix, evidence.at(), request.output)
}

/// The findings, and the pasted results beside them.
///
/// # Errors
/// When it cannot be written.
pub(super) fn show(
    out: &mut dyn Write,
    report: &Report,
    matrix: &Matrix,
    at: Option<Timestamp>,
    format: Format,
) -> Result<Code, Failure> {
    if matrix.pasted.is_empty() || format == Format::Table {
        pasted::people_above(out, matrix, format)?;
        return findings::show(out, report, at, format);
    }
    let mut document = report.document(at);
    if let Some(map) = document.as_object_mut() {
        map.insert("pasted".to_owned(), json!(matrix.pasted));
    }
    print::document(out, &document, format)?;
    Ok(findings::code(report))
}

/// The table of pairs, of all tenants or of one.
///
/// # Errors
/// When it cannot be written.
pub(super) fn table(
    out: &mut dyn Write,
    facts: &Facts,
    matrix: &Matrix,
    (site, tenant): (&str, Option<&str>),
    format: Format,
) -> Result<(), Failure> {
    let matrix = tenant.map_or_else(|| matrix.clone(), |tenant| matrix.about(tenant));
    match format {
        Format::Table => write!(out, "{}", matrix::markdown(&matrix, &pasted::about(site)))?,
        format => {
            let mine = |pair: &matrix::Pair| tenant.is_none_or(|tenant| tenant == pair.from || tenant == pair.to);
            let pairs: Vec<_> = matrix::pairs(facts).into_iter().filter(mine).collect();
            let cells: Vec<Value> = matrix
                .iter()
                .map(|(row, column, cell)| {
                    let from = matrix.senders.get(row).map(|sender| &sender.name);
                    let to = matrix.targets.get(column);
                    let legs: Vec<Value> = matrix
                        .legs(row, column)
                        .iter()
                        .map(|leg| json!({ "where": leg.from.words, "from": leg.from.label(), "command": leg.ask.command(), "wants": leg.wants }))
                        .collect();
                    json!({
                        "from": from, "to": to.map(|to| &to.name), "kind": to.map(|to| to.goal),
                        "routes_and_rules": cell.config, "sentence": cell.sentence, "facts": cell.facts,
                        "traffic": cell.traffic, "to_run": legs,
                    })
                })
                .collect();
            let document = json!({
                "schema": "deevnet-console/isolation/v1", "at": matrix.at, "site": site, "pairs": pairs, "cells": cells,
                "pasted": matrix.pasted, "looked_up": matrix.looked_up, "not_run": matrix.not_run(),
            });
            print::document(out, &document, format)?;
        }
    }
    Ok(())
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
