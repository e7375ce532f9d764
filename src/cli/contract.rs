//! Clauses of the tenant contract on stdout, below the findings that break them.

use std::io::Write;

use crate::console::theme::Glyphs;
use crate::console::widgets::format::plural;
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
        let Some(first) = of_tenant.first() else { continue };
        let count = |state: State| contract::count(of_tenant, &state);
        let (kept, broken) = (count(State::Kept), count(State::Broken { by: Vec::new() }));
        let unknown = count(State::Unknown { missing: Vec::new() });
        let not_run = of_tenant.iter().filter(|one| one.not_run.is_some()).count();
        line(format!(
            "{} contract with {}: {kept} of {} kept · {broken} broken · {unknown} unknown · {} not run here",
            glyphs.of(worst(broken, unknown)),
            first.tenant,
            plural(of_tenant.len(), "clause"),
            plural(not_run, "command"),
        ))?;
        let shown = of_tenant.iter().filter(|one| whole || matches!(one.state, State::Broken { .. }));
        for text in shown.flat_map(|one| lines(one, whole, glyphs)) {
            line(text)?;
        }
    }
    Ok(())
}

const fn worst(broken: usize, unknown: usize) -> Class {
    if broken > 0 {
        Class::Fault
    } else if unknown > 0 {
        Class::Unknown
    } else {
        Class::Fine
    }
}

fn lines(one: &Judged, whole: bool, glyphs: &Glyphs) -> Vec<String> {
    let (class, words) = match &one.state {
        State::Kept => (Class::Fine, String::new()),
        State::NotRun => (Class::NotRun, String::new()),
        State::Broken { by } => {
            let by: Vec<String> = by.iter().map(|(id, subject)| format!("{id} of {}", subject.name)).collect();
            (Class::Fault, format!("broken by {}", by.join(", ")))
        }
        State::Unknown { missing } => (Class::Unknown, format!("unknown: {}", missing.join(" · "))),
    };
    let mut out = vec![format!("  {} {} {}", glyphs.of(class), one.clause, one.says)];
    if !words.is_empty() {
        out.push(format!("       {words}"));
    }
    if let (true, Some(command)) = (whole, &one.not_run) {
        out.push(format!("       {} not run here, {}: {}", glyphs.of(Class::NotRun), command.place, command.expect));
        out.push(format!("         $ {}", command.command));
    }
    out
}
