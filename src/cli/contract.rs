//! Clauses of the tenant contract on stdout, below the findings that break them.

use std::io::Write;

use crate::console::findings;
use crate::console::theme::Glyphs;
use crate::diagnose::Report;
use crate::diagnose::collect::Wanted;
use crate::diagnose::contract::{self, Judged, State};
use crate::diagnose::evidence::Evidence;
use crate::diagnose::facts::Facts;
use crate::inventory::Class;
use crate::text;

use super::{Failure, print};

/// The clauses of every tenant in question, where a check was asked that judges them; else nothing.
pub(super) fn of(report: &Report, evidence: &Evidence) -> Option<Vec<Judged>> {
    let wanted = evidence.question.as_deref().and_then(Wanted::asked)?;
    contract::asked(report, &Facts::of(evidence), &wanted)
}

/// Prints `judged`: every clause where the contract was asked for, else what each tenant comes to.
pub(super) fn show(out: &mut dyn Write, judged: &[Judged], whole: bool) -> Result<(), Failure> {
    let glyphs = print::glyphs();
    let mut line = |text: String| -> Result<(), Failure> {
        let text = if glyphs.ascii { text::to_ascii(&text).into_owned() } else { text };
        Ok(writeln!(out, "{}", text.trim_end())?)
    };
    for of_tenant in judged.chunk_by(|a, b| a.tenant == b.tenant) {
        let (class, text) = findings::contract(of_tenant);
        line(format!("{} {text}", glyphs.of(class)))?;
        let shown = of_tenant.iter().filter(|one| whole || matches!(one.state, State::Broken { .. }));
        for text in shown.flat_map(|one| lines(one, whole, glyphs)) {
            line(text)?;
        }
    }
    Ok(())
}

fn lines(one: &Judged, whole: bool, glyphs: &Glyphs) -> Vec<String> {
    let (class, words) = findings::clause(one);
    let mut out = vec![format!("  {} {} {}", glyphs.of(class), one.clause, one.says)];
    if !words.is_empty() {
        out.push(format!("       {words}"));
    }
    if let (true, Some(command)) = (whole, &one.not_run) {
        out.push(format!("       {} {}", glyphs.of(Class::NotRun), findings::elsewhere(command)));
        out.push(format!("         $ {}", command.command));
    }
    out
}
