//! `site check`: every address, certificate, credential, right, clock and vantage point of a site file.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::{Format, Global};
use super::print::glyphs;
use super::resolve::width_of_stdout;
use super::{Code, Failure, open, print};
use crate::console::theme::Glyphs;
use crate::diagnose::access::{Check, Options, Report, Source, State, Verdict, collect, judge};
use crate::inventory::Class;
use crate::runtime::clock;
use crate::site::Site;
use crate::text;

/// Width of a source's name.
const NAME: usize = 11;

/// What was asked for.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// Evidence of what is well, too.
    pub(super) verbose: bool,
    /// Seconds that one step may take.
    pub(super) timeout: u8,
    /// Another file than `/etc/resolv.conf`.
    pub(super) resolv_conf: Option<PathBuf>,
    /// Form.
    pub(super) output: Format,
}

/// Runs the verb.
pub(super) fn run(global: &Global, request: &Request) -> Result<Code, Failure> {
    let site = open::site(global)?;
    open::runtime()?.block_on(check(&mut std::io::stdout(), &site, request))
}

/// Checks `site` and prints what was found.
pub(super) async fn check(out: &mut dyn Write, site: &Site, request: &Request) -> Result<Code, Failure> {
    let now = clock::system();
    let options = Options {
        wait: Duration::from_secs(u64::from(request.timeout)),
        clock: &*now,
        resolv_conf: request.resolv_conf.clone(),
    };
    let report = judge(site, &collect(site, &options).await);
    if request.output == Format::Table {
        let page = table(site, &report, glyphs(), width_of_stdout(), request.verbose);
        out.write_all(page.as_bytes())?;
    } else {
        print::document(out, &document(site, &report), request.output)?;
    }
    Ok(code(report.verdict()))
}

const fn code(verdict: Verdict) -> Code {
    match verdict {
        Verdict::Ok => Code::Ok,
        Verdict::Found => Code::Found,
        Verdict::Configuration => Code::Usage,
        Verdict::Unknown => Code::Unknown,
    }
}

fn document(site: &Site, report: &Report) -> Value {
    json!({
        "schema": "deevnet-console/site-check/v1",
        "at": report.at.to_string(),
        "site": site.name,
        "verdict": report.verdict().word(),
        "sources": report.sources.iter().map(source).collect::<Vec<_>>(),
    })
}

fn source(source: &Source) -> Value {
    let check = |check: &Check| {
        json!({
            "check": check.what,
            "state": check.state.word(),
            "text": text::clean(&check.text),
            "evidence": check.evidence.iter().map(|line| text::clean(line)).collect::<Vec<_>>(),
            "help": check.help.as_deref().map(text::clean),
            "commands": check.commands.iter().map(|line| text::clean(line)).collect::<Vec<_>>(),
            "configuration": check.configuration,
        })
    };
    json!({
        "name": source.name,
        "target": text::clean(&source.target),
        "took_ms": u64::try_from(source.took.as_millis()).ok(),
        "checks": source.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

const fn class(state: State) -> Class {
    match state {
        State::Ok => Class::Fine,
        State::Warning => Class::Warning,
        State::Fault => Class::Fault,
        State::Unknown => Class::Unknown,
        State::NotRun => Class::NotRun,
        State::Off => Class::Absent,
    }
}

/// The report for people: a line of marks for each source, and below it what is not as it should be.
fn table(site: &Site, report: &Report, glyphs: &Glyphs, width: usize, verbose: bool) -> String {
    let mut page = format!("{} · checked {}\n", site.name, report.at.strftime("%Y-%m-%d %H:%M:%SZ"));
    for source in &report.sources {
        marks(&mut page, source, glyphs, width, verbose);
        let more = |check: &Check| !check.evidence.is_empty() || check.help.is_some() || !check.commands.is_empty();
        let shown = |check: &&Check| match check.state {
            State::Ok | State::Off | State::NotRun => verbose && more(check),
            State::Warning | State::Fault | State::Unknown => more(check),
        };
        for check in source.checks.iter().filter(shown) {
            details(&mut page, check, glyphs, width);
        }
    }
    page.push_str(&summary(report));
    let lines = page.lines().map(|line| text::clean(line.trim_end()).into_owned());
    let lines = lines.map(|line| if glyphs.ascii { text::to_ascii(&line).into_owned() } else { line });
    lines.fold(String::new(), |all, line| all + &line + "\n")
}

/// `pve   reach ✓ 12 ms · TLS ✓ pin matches · …`, broken between the marks.
fn marks(page: &mut String, source: &Source, glyphs: &Glyphs, width: usize, verbose: bool) {
    let shown = source.checks.iter().filter(|check| verbose || check.state != State::Off);
    let mut line = format!("{:NAME$} ", source.name);
    let mut first = true;
    for check in shown {
        let mark = format!("{} {} {}", check.what, glyphs.of(class(check.state)), check.text);
        let gap = if first { "" } else { " · " };
        if !first && text::width(&line) + text::width(gap) + text::width(&mark) > width {
            page.push_str(&line);
            page.push('\n');
            line = " ".repeat(NAME + 1);
        } else {
            line.push_str(gap);
        }
        line.push_str(&mark);
        first = false;
    }
    page.push_str(&line);
    page.push('\n');
}

/// What was seen and what to do. Commands stay whole, so that they can be taken as they are.
fn details(page: &mut String, check: &Check, glyphs: &Glyphs, width: usize) {
    let indent = " ".repeat(NAME + 1);
    let head = format!("{} {}: {}", glyphs.of(class(check.state)), check.what, check.text);
    wrapped(page, &indent, &head, width);
    for line in check.evidence.iter().chain(&check.help) {
        wrapped(page, &format!("{indent}  "), line, width);
    }
    for line in &check.commands {
        page.push_str(&format!("{indent}      {line}\n"));
    }
}

/// A text in lines of at most `width`, broken at blanks.
fn wrapped(page: &mut String, indent: &str, words: &str, width: usize) {
    let mut line = String::new();
    for word in words.split(' ') {
        if !line.is_empty() && text::width(indent) + text::width(&line) + 1 + text::width(word) > width {
            page.push_str(&format!("{indent}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    page.push_str(&format!("{indent}{line}\n"));
}

fn summary(report: &Report) -> String {
    let count = |states: &[State]| {
        report.sources.iter().flat_map(|s| &s.checks).filter(|check| states.contains(&check.state)).count()
    };
    let all = [
        (count(&[State::Ok]), "ok"),
        (count(&[State::Fault]), "faults"),
        (count(&[State::Warning]), "warnings"),
        (count(&[State::Unknown]), "unknown"),
        (count(&[State::NotRun]), "not run"),
    ];
    let told: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    format!("{}\n", told.join(" · "))
}
