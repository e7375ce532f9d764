//! `check WHAT [TENANT]`: evidence from the live site, then its findings.

use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::args::{CheckArgs, Format, Global};
use super::{Code, Failure, findings, open, pasted, print, progress, verdict};
use crate::console::widgets::format::plural;
use crate::diagnose::collect::{Asked, Check, Sink, Wanted, asked, changes, collect};
use crate::diagnose::contract::Judged;
use crate::diagnose::evidence::{Evidence, save};
use crate::diagnose::facts::Facts;
use crate::diagnose::pasted::Leg;
use crate::diagnose::rules::matrix::{self, Config, Matrix, Traffic};
use crate::diagnose::{Diagnosis, Report};
use crate::inventory::Class;
use crate::inventory::feed::Clients;
use crate::provision::journal::Journal;
use crate::runtime::clock;
use crate::site::Site;

/// Runs the verb.
pub(super) fn run(global: &Global, request: &CheckArgs) -> Result<Code, Failure> {
    let check = request.what.check();
    if request.keys && !check.may_try_keys() {
        let text = format!("check {} has no use for tenants' update keys", check.word());
        return Err(Failure::usage(text, "give --keys to check isolation, dns, contract or all"));
    }
    if request.matrix && !matches!(check, Check::Isolation | Check::Contract | Check::All) {
        let text = format!("check {} has no table of pairs", check.word());
        return Err(Failure::usage(text, "give --matrix to check isolation, contract or all"));
    }
    let site = open::site(global)?;
    let wanted = Wanted::of(check, request.subject.as_deref()).with_keys(request.keys);
    let given = request.pasted.as_deref().map(pasted::blocks).transpose()?.unwrap_or_default();
    let mut evidence = open::runtime()?.block_on(async {
        let clients = Clients::connect(&site).await;
        let sink = Sink::new(clock::system()).telling(progress::tell());
        if let Ok(places) = open::places() {
            changes(&Journal::in_state(&places.state_of(&site)).changes(), &sink);
        }
        let evidence = progress::beside(&sink, collect(&site, &clients, &wanted, &sink)).await;
        progress::end();
        evidence
    });
    there(&evidence, &wanted, &site)?;
    pasted::add(&mut evidence, &given)?;
    if let Some(dir) = &request.save {
        keep(&evidence, dir)?;
    }
    let Diagnosis { evidence, report, others, clauses, .. } = Diagnosis::of(&wanted, evidence, Vec::new());
    if others > 0 {
        open::note(&format!("{} about other tenants left out", plural(others, "finding")));
    }
    let facts = Facts::of(&evidence);
    let matrix = of_tenant(Matrix::of(&facts), wanted.tenant.as_deref());
    let out = &mut std::io::stdout();
    if request.matrix {
        let printed = table(out, (&facts, &report), &matrix, (&site.name, wanted.tenant.as_deref()), request.output);
        return verdict(printed, code(&report, &matrix));
    }
    let judges = matches!(check, Check::Contract | Check::All);
    let told = Told {
        report: &report,
        matrix: &matrix,
        clauses: judges.then_some(clauses.as_slice()),
        whole: check == Check::Contract,
        cells: check == Check::Isolation,
    };
    show(out, &told, evidence.at(), request.output)
}

/// What is told of a check.
pub(super) struct Told<'a> {
    /// What was found.
    pub(super) report: &'a Report,
    /// The isolation table: of it, what was pasted.
    pub(super) matrix: &'a Matrix,
    /// Clauses of the tenant contract, where they were judged.
    pub(super) clauses: Option<&'a [Judged]>,
    /// Each clause, instead of what they come to.
    pub(super) whole: bool,
    /// Whether cells of the table that are unknown count.
    pub(super) cells: bool,
}

/// Only what concerns `tenant`, where one was asked about.
pub(super) fn of_tenant(matrix: Matrix, tenant: Option<&str>) -> Matrix {
    match tenant {
        Some(tenant) => matrix.about(tenant),
        None => matrix,
    }
}

/// Why a cell of the table leaves open what it is about; `None` = it does not.
fn doubt(cell: &matrix::Cell) -> Option<String> {
    match &cell.traffic {
        _ if cell.config == Config::Unknown => Some(cell.sentence.clone()),
        traffic @ (Traffic::Unclear { .. } | Traffic::Contradictory { .. }) => {
            Some(format!("traffic {}", traffic.words()))
        }
        _ => None,
    }
}

/// What a table comes to as an exit code: what is unknown in it is never fine.
pub(super) fn code(report: &Report, matrix: &Matrix) -> Code {
    with_cells(findings::code(report, None), matrix)
}

fn with_cells(code: Code, matrix: &Matrix) -> Code {
    match code {
        Code::Ok if matrix.iter().any(|(.., cell)| doubt(cell).is_some()) => Code::Unknown,
        code => code,
    }
}

/// Most cells that are told one by one.
const FEW: usize = 3;

/// The cells that are unknown, for people: the first few, and how many more there are.
fn unknown_cells(out: &mut dyn Write, matrix: &Matrix) -> Result<(), Failure> {
    let glyphs = print::glyphs();
    let open: Vec<_> = matrix.iter().filter_map(|(r, c, cell)| Some((matrix.name(r, c), doubt(cell)?))).collect();
    let mut line = |text: String| -> Result<(), Failure> {
        let text = format!("{} {}", glyphs.of(Class::Unknown), crate::text::clean(&text));
        let text = if glyphs.ascii { crate::text::to_ascii(&text).into_owned() } else { text };
        Ok(writeln!(out, "{text}")?)
    };
    for (name, why) in open.iter().take(FEW) {
        line(format!("unknown: {name}: {why}"))?;
    }
    match open.len().checked_sub(FEW) {
        Some(more @ 1..) => {
            line(format!("unknown: {} more of the table (all of them: --matrix)", plural(more, "cell")))
        }
        _ => Ok(()),
    }
}

/// The findings, and the pasted results beside them.
///
/// # Errors
/// When it cannot be written.
pub(super) fn show(
    out: &mut dyn Write,
    told: &Told<'_>,
    at: Option<Timestamp>,
    format: Format,
) -> Result<Code, Failure> {
    let code = findings::code(told.report, told.clauses);
    let code = if told.cells { with_cells(code, told.matrix) } else { code };
    if told.matrix.pasted.is_empty() || format == Format::Table {
        let above = pasted::people_above(out, told.matrix, format);
        let shown =
            above.and_then(|()| findings::show(out, told.report, told.clauses, told.whole, at, format).map(drop));
        let cells = told.cells && format == Format::Table;
        return verdict(shown.and_then(|()| if cells { unknown_cells(out, told.matrix) } else { Ok(()) }), code);
    }
    let mut document = findings::document(told.report, told.clauses, at);
    if let Some(map) = document.as_object_mut() {
        map.insert("pasted".to_owned(), json!(told.matrix.pasted));
    }
    verdict(print::document(out, &document, format), code)
}

/// The table of pairs, of all tenants or of one.
///
/// # Errors
/// When it cannot be written.
pub(super) fn table(
    out: &mut dyn Write,
    (facts, report): (&Facts, &Report),
    matrix: &Matrix,
    (site, tenant): (&str, Option<&str>),
    format: Format,
) -> Result<(), Failure> {
    match format {
        Format::Table => {
            let cause = report.headline().map(|f| f.title.clone());
            write!(out, "{}", matrix::markdown(matrix, &pasted::about(site, cause)))?;
        }
        format => {
            let mine = |pair: &matrix::Pair| tenant.is_none_or(|tenant| tenant == pair.from || tenant == pair.to);
            let pairs: Vec<_> = matrix::pairs(facts).into_iter().filter(mine).collect();
            let cells = cells(matrix);
            let document = json!({
                "schema": "deevnet-console/isolation/v1", "at": matrix.at, "site": site, "pairs": pairs, "cells": cells,
                "pasted": matrix.pasted, "looked_up": matrix.looked_up, "not_run": matrix.not_run(),
            });
            print::document(out, &document, format)?;
        }
    }
    Ok(())
}

fn cells(matrix: &Matrix) -> Vec<Value> {
    let leg = |leg: &Leg| json!({ "where": leg.from.words, "from": leg.from.label(), "command": leg.ask.command(), "wants": leg.wants });
    let cell = |(row, column, cell): (usize, usize, &matrix::Cell)| {
        let to = matrix.targets.get(column);
        json!({
            "from": matrix.senders.get(row).map(|sender| &sender.name),
            "to": to.map(|to| &to.name), "kind": to.map(|to| to.goal),
            "routes_and_rules": cell.config, "sentence": cell.sentence, "facts": cell.facts, "keys": cell.keys,
            "packets": cell.packets, "traffic": cell.traffic, "to_run": matrix.legs(row, column).iter().map(leg).collect::<Vec<_>>(),
        })
    };
    matrix.iter().map(cell).collect()
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
