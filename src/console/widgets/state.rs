//! The states of a pane (screens.md "States of a pane"): what its title and its body say when rows are not all there is.

use super::canvas::{Bit, Canvas};
use super::format;
use crate::console::list::{Cx, ListDef};
use crate::console::theme::Role;
use crate::inventory::{Class, Gap, GapKind, SourceError, SourceHealth, SourceId, SourceStatus};

/// What is to be said beside or instead of rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saying {
    /// For the title's right end.
    pub right: Vec<Bit>,
    /// Paragraphs in place of rows; each is wrapped.
    pub body: Vec<Vec<Bit>>,
    /// The reason that stands under old rows.
    pub foot: Vec<Bit>,
    /// Whether the rows are old.
    pub stale: bool,
}

impl Saying {
    /// The state's glyph for a tab, empty when all is well.
    #[must_use]
    pub fn sign(&self) -> Option<Bit> {
        let bit = self.right.first()?;
        let glyph = bit.text.chars().next()?;
        Some(Bit::new(glyph.to_string(), bit.role))
    }
}

/// What a list has to say about itself.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The list.
    pub def: &'static ListDef,
    /// Rows in scope before the filter.
    pub total: usize,
    /// Rows shown.
    pub shown: usize,
    /// Filter in force.
    pub filter: &'a str,
    /// Why there may be rows in scope that nobody knows of, although the source is well.
    pub hole: Option<&'a Gap>,
    /// Key that reads again, empty where there is none.
    pub refresh_key: &'a str,
}

/// The state of a pane at `cx.now`.
#[must_use]
pub fn saying(canvas: &Canvas<'_>, cx: Cx<'_>, asked: &Asked<'_>) -> Saying {
    // The first source is where the rows come from; the others only say whose they are, and count until they have.
    let bad = asked.def.sources.iter().enumerate().find_map(|(i, id)| {
        let health = cx.inv.sources.get(*id);
        let well = matches!(health.status(cx.now), SourceStatus::Fresh | SourceStatus::Off);
        (!well && (i == 0 || health.observed_at.is_none())).then_some((*id, health))
    });
    let gap = (asked.def.gap)(cx.inv).or(asked.hole.filter(|_| asked.total == 0));
    if let Some(gap) = gap.filter(|g| g.kind == GapKind::Off || bad.is_none()) {
        return gapped(canvas, gap);
    }
    if let Some((id, health)) = bad {
        return troubled(canvas, cx, asked, (id, health));
    }
    if asked.shown == 0 { empty(asked) } else { Saying::default() }
}

fn empty(asked: &Asked<'_>) -> Saying {
    let body = if asked.total > 0 && !asked.filter.is_empty() {
        vec![
            vec![
                Bit::text(format!("Nothing matches `/{}`. ", asked.filter)),
                Bit::text(format!("{} hidden.", asked.total)),
            ],
            vec![Bit::muted("esc clears the filter.")],
        ]
    } else {
        vec![vec![Bit::muted(asked.def.empty)]]
    };
    Saying { body, ..Saying::default() }
}

/// A hole in the picture although the source is well, or because the site does not have it.
fn gapped(canvas: &Canvas<'_>, gap: &Gap) -> Saying {
    let glyphs = canvas.look().glyphs;
    let right = match gap.kind {
        GapKind::Off => Bit::muted(format!("{} off", glyphs.source_off)),
        GapKind::Denied => Bit::new(format!("{} denied", glyphs.source_denied), Role::Denied),
        GapKind::NoAnswer => Bit::new(format!("{} no answer", glyphs.source_failed), Role::Fault),
        GapKind::NotRead | GapKind::Failed | GapKind::Unusable => {
            Bit::new(format!("{} {}", glyphs.unknown, gap.word()), Role::Unknown)
        }
    };
    let role = if gap.kind == GapKind::Off { Role::Muted } else { Role::Text };
    let mut body = vec![vec![Bit::new(gap.why.to_string(), role)]];
    if gap.kind == GapKind::Denied {
        body.push(vec![Bit::muted("Unknown here, not absent.")]);
    }
    Saying { right: vec![right], body, ..Saying::default() }
}

fn troubled(canvas: &Canvas<'_>, cx: Cx<'_>, asked: &Asked<'_>, (id, health): (SourceId, &SourceHealth)) -> Saying {
    let glyphs = canvas.look().glyphs;
    let has_rows = asked.total > 0 && health.observed_at.is_some();
    let age = health.age(cx.now).map(format::late_age).unwrap_or_default();
    match (health.status(cx.now), &health.error) {
        (SourceStatus::Denied, Some(error)) => Saying {
            right: vec![Bit::new(format!("{} denied", glyphs.source_denied), Role::Denied)],
            body: if has_rows { Vec::new() } else { denied(canvas, cx, asked, error) },
            foot: if has_rows { reason(error) } else { Vec::new() },
            stale: has_rows,
        },
        (SourceStatus::Stale, error) => Saying {
            right: vec![Bit::new(format!("{} stale {age}", glyphs.source_stale), Role::Stale)],
            body: if has_rows { Vec::new() } else { empty(asked).body },
            foot: error
                .as_ref()
                .map_or_else(|| vec![Bit::muted(format!("{} answers late: read {age} ago.", id.words()))], reason),
            stale: true,
        },
        (status @ (SourceStatus::Failed | SourceStatus::Unusable), Some(error)) => Saying {
            right: vec![Bit::new(format!("{} {}", glyphs.source_failed, source_sign(canvas, status).1), Role::Fault)],
            body: failed(cx, asked, error, health),
            ..Saying::default()
        },
        _ => loading(canvas, cx, id, health),
    }
}

fn reason(error: &SourceError) -> Vec<Bit> {
    vec![Bit::muted(error.text.to_string())]
}

fn loading(canvas: &Canvas<'_>, cx: Cx<'_>, id: SourceId, health: &SourceHealth) -> Saying {
    let progress = canvas.look().glyphs.progress;
    let since = health.asked_since.map_or(0, |at| cx.now.duration_since(at).as_secs().max(0));
    let gives_up = health.deadline.as_secs();
    Saying {
        right: vec![Bit::new(format!("{progress} {since}s"), Role::Progress)],
        body: vec![vec![Bit::muted(format!("Asking {}. Gives up after {gives_up}s.", id.label()))]],
        ..Saying::default()
    }
}

fn denied(canvas: &Canvas<'_>, cx: Cx<'_>, asked: &Asked<'_>, error: &SourceError) -> Vec<Vec<Bit>> {
    let glyph = canvas.look().glyphs.source_denied;
    let mut body = vec![
        vec![Bit::new(format!("{glyph} "), Role::Denied), Bit::text(error.text.to_string())],
        vec![Bit::text(format!("{} are unknown here, not absent.", asked.def.title))],
    ];
    body.extend(error.help.as_ref().map(|help| vec![Bit::text(help.to_string())]));
    if cx.inv.sources.iter().any(|(_, h)| h.status(cx.now) == SourceStatus::Fresh) {
        body.push(vec![Bit::muted("The other sources are not affected.")]);
    }
    body
}

fn failed(cx: Cx<'_>, asked: &Asked<'_>, error: &SourceError, health: &SourceHealth) -> Vec<Vec<Bit>> {
    let text = error.text.trim_end_matches('.');
    let mut line = vec![Bit::text(format!("{text} since {}. ", format::moment(error.since, cx.now)))];
    if let Some(next) = health.next_try {
        let wait = next.duration_since(cx.now);
        line.push(Bit::text(if wait.is_positive() {
            format!("Next try in {}. ", format::duration(wait))
        } else {
            "It is tried again now. ".into()
        }));
    }
    if error.kind == GapKind::Unusable {
        line.push(Bit::text("It is read once, at the start. "));
    } else if !asked.refresh_key.is_empty() {
        line.push(Bit::muted(format!("{} tries now.", asked.refresh_key)));
    }
    let mut body = vec![line];
    body.extend(error.help.as_ref().map(|help| vec![Bit::text(help.to_string())]));
    body.push(vec![Bit::muted(format!("{} are unknown, not absent.", asked.def.title))]);
    body
}

/// The glyph, in its role, and the word of a source's status.
#[must_use]
pub fn source_sign(canvas: &Canvas<'_>, status: SourceStatus) -> (Bit, &'static str) {
    let g = canvas.look().glyphs;
    match status {
        SourceStatus::Off => (Bit::muted(g.source_off), "off"),
        SourceStatus::Loading => (canvas.glyph(Class::Progress), "asked"),
        SourceStatus::Fresh => (Bit::new(g.source_fresh, Role::Ok), ""),
        SourceStatus::Stale => (Bit::new(g.source_stale, Role::Stale), "stale"),
        SourceStatus::Denied => (Bit::new(g.source_denied, Role::Denied), "denied"),
        SourceStatus::Failed => (Bit::new(g.source_failed, Role::Fault), "no answer"),
        SourceStatus::Unusable => (Bit::new(g.source_failed, Role::Fault), "cannot be asked"),
    }
}
