//! What a run came to (screens.md 12d): the result, what there is now, what the check of it says, what is left to do.

use ratatui::layout::Rect;

use super::{lines, ways};
use crate::console::change::{Run, run as running, words};
use crate::console::findings::{self, Inquiry};
use crate::console::model::Model;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};
use crate::diagnose::collect::Check;
use crate::diagnose::finding::{Layer, Severity};
use crate::diagnose::path::State;
use crate::diagnose::rules;
use crate::inventory::Class;

/// Layers with the words of operators for them, from the workload outwards.
const LAYERS: [(Layer, &str); 8] = [
    (Layer::Fabric, "fabric"),
    (Layer::Workload, "workload"),
    (Layer::Egress, "egress"),
    (Layer::Isolation, "isolation"),
    (Layer::Perimeter, "perimeter"),
    (Layer::Dns, "names"),
    (Layer::Bootstrap, "check-in"),
    (Layer::Access, "access"),
];

/// The check of everything that was asked for since the run ended.
pub fn inquiry<'m>(model: &'m Model, run: &Run) -> Option<&'m Inquiry> {
    let since = run.ended.as_ref().map_or(run.began, |end| end.at);
    let whose = run.offer.preview.plan.subject.tenant.as_deref();
    model.inquiry.as_ref().filter(|inquiry| {
        let after = inquiry.asked >= since || run.check.is_some_and(|first| inquiry.id >= first);
        inquiry.check == Check::All && inquiry.tenant.as_deref() == whose && after
    })
}

/// Draws what there is now, the check, and what is left to do, below what was said of the run.
pub fn draw(canvas: &mut Canvas<'_>, model: &Model, run: &Run, area: Rect) {
    let mut rows = Vec::new();
    if area.height > 12 {
        rows.push(Vec::new());
    }
    rows.extend(made(model, run));
    let used = u16::try_from(rows.len()).unwrap_or(0).min(area.height / 3);
    lines(canvas, Rect { height: used, ..area }, rows);
    let on = running::ways_on(run);
    let on = ways(canvas, area, &on);
    let foot = u16::try_from(on.len()).unwrap_or(0) + 1;
    let foot = Rect { y: area.bottom().saturating_sub(foot), height: foot, ..area };
    let body = Rect { y: area.y + used, height: foot.y.saturating_sub(area.y + used), ..area };
    check(canvas, model, run, body);
    if foot.height > 1 {
        rule(canvas, Rect { height: 1, ..foot }, &Titles::new("left to do"));
        lines(canvas, Rect { y: foot.y + 1, height: foot.height.saturating_sub(1), ..foot }, on);
    }
}

/// The tenant as it is now: its numbers, its zones, its workloads.
fn made(model: &Model, run: &Run) -> Vec<Vec<Bit>> {
    let (Some(inv), Some(tenant)) = (model.picture(), running::checked(run)) else { return Vec::new() };
    let plan = &run.offer.preview.plan;
    let head = |text: &str| Bit::muted(format!("{text:<10}"));
    let mut rows = Vec::new();
    if let Some([_, network, zones]) = words::numbers(&inv.site, plan) {
        rows.push(vec![head("network"), Bit::text(network)]);
        if inv.site.powerdns.is_some() {
            rows.push(vec![head("names"), Bit::text(zones)]);
        }
    }
    let own = inv.workloads.iter().filter(|row| *row.tenant == *tenant);
    for row in own {
        let address = match row.own_address() {
            Ok(address) => address.map_or_else(|| "no address".to_owned(), |address| address.to_string()),
            Err(_) => "address not read yet".to_owned(),
        };
        rows.push(vec![
            head("workload"),
            Bit::text(format!("{} · VM {} · {address} · {}", row.name, row.vmid, row.status)),
        ]);
    }
    rows
}

/// What the check says, a line a layer; then what cannot be tested from here.
fn check(canvas: &mut Canvas<'_>, model: &Model, run: &Run, area: Rect) {
    if area.height < 2 {
        return;
    }
    let inquiry = inquiry(model, run);
    let counts = inquiry.and_then(Inquiry::diagnosis).map(|diagnosis| {
        let not_run = inquiry.map_or(0, |inquiry| inquiry.legs_of(State::NotRun));
        vec![
            canvas.glyph(Class::Fine),
            Bit::muted(format!(" {} passed · ", diagnosis.report.passed.len())),
            canvas.glyph(Class::NotRun),
            Bit::muted(format!(" {not_run} not run here")),
        ]
    });
    let titles = Titles { right: counts.unwrap_or_default(), ..Titles::new("check all") };
    rule(canvas, Rect { height: 1, ..area }, &titles);
    let rows = match inquiry {
        None => vec![vec![canvas.glyph(Class::NotRun), Bit::text(" not run since")]],
        Some(inquiry) => {
            let (class, text) = findings::sentence(inquiry, model.now);
            let whole = vec![canvas.glyph(class), Bit::text(format!(" {text}"))];
            let layers = if inquiry.is_open() { Vec::new() } else { layers(canvas, inquiry) };
            std::iter::once(whole).chain(layers).collect()
        }
    };
    lines(canvas, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, rows);
}

fn layers(canvas: &Canvas<'_>, inquiry: &Inquiry) -> Vec<Vec<Bit>> {
    let Some(report) = inquiry.diagnosis().map(|diagnosis| &diagnosis.report) else { return Vec::new() };
    let of = |id: &str| rules::rule(id).map(|rule| rule.layer);
    let mut out = Vec::new();
    for (layer, word) in LAYERS {
        let passed = report.passed.iter().filter(|passed| of(passed.id) == Some(layer)).count();
        let found = report.findings.iter().filter(|found| found.layer == layer && found.severity > Severity::Info);
        let found: Vec<_> = found.collect();
        let open: Vec<&str> = report
            .unknown
            .iter()
            .filter(|unknown| unknown.ids.iter().any(|id| of(id) == Some(layer)))
            .map(|unknown| unknown.missing.as_str())
            .collect();
        let (class, text) = match (found.first(), open.first()) {
            (Some(first), _) => {
                let more = if found.len() > 1 { format!(" (and {} more)", found.len() - 1) } else { String::new() };
                (findings::severity(first.severity), format!("{}{more}", first.title.trim_end_matches('.')))
            }
            (None, Some(first)) => {
                let more = if open.len() > 1 { format!(" and {} more", open.len() - 1) } else { String::new() };
                (Class::Unknown, format!("{first}{more} not known"))
            }
            (None, None) if passed > 0 => (Class::Fine, format!("{} pass", format::plural(passed, "rule"))),
            (None, None) => continue,
        };
        out.push(vec![canvas.glyph(class), Bit::text(format!(" {word:<11} {text}"))]);
    }
    let nowhere = |ids: &[&str]| !ids.iter().any(|id| of(id).is_some());
    for unknown in report.unknown.iter().filter(|unknown| nowhere(&unknown.ids)) {
        out.push(vec![canvas.glyph(Class::Unknown), Bit::text(format!(" {} not known", unknown.missing))]);
    }
    let not_run: Vec<&str> =
        inquiry.legs().iter().filter(|row| row.state == State::NotRun).map(|row| row.leg.name).collect();
    if !not_run.is_empty() {
        out.push(vec![canvas.glyph(Class::NotRun), Bit::text(format!(" not run here: {}", not_run.join(", ")))]);
    }
    out
}

/// Whether the page shows this instead of the steps: it is about a whole tenant, and nobody looks at a step.
#[must_use]
pub fn is_due(run: &Run, at: Option<usize>) -> bool {
    at.is_none() && run.succeeded() && running::checked(run).is_some()
}
