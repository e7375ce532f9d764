//! The next moment at which something on screen changes by time alone.

use jiff::{SignedDuration, Timestamp};

use crate::console::change::{self, Page, Proposal};
use crate::console::lists::def;
use crate::console::model::{Model, Screen};
use crate::console::select;
use crate::inventory::{SourceHealth, SourceStatus};

/// Just after a moment at which something is still the same.
const AFTER: SignedDuration = SignedDuration::from_millis(1);

/// The earliest of: the next minute of the clock, the board following the rail, a source becoming late, the next step
/// of a late source's age; and where a first answer is awaited on screen, the next second of the waiting, or of the time
/// until the next try; while a question or a check is open, the next second of its waiting. At once while there are texts of rows to make.
pub(super) fn next(model: &Model) -> Timestamp {
    if select::unprepared(model).is_some() {
        return model.now;
    }
    let minute = next_multiple(model.now, Timestamp::UNIX_EPOCH, 60);
    let sources = model.picture().into_iter().flat_map(|inv| {
        inv.sources.iter().filter_map(|(id, health)| {
            let shown = model.visible_lists().iter().any(|(list, _)| def(*list).sources.contains(&id));
            of_source(health, model.now, shown)
        })
    });
    let shown = matches!(model.screen(), Screen::Resolve { .. });
    let asking =
        model.question.as_ref().filter(|q| shown && q.is_open()).map(|q| next_multiple(model.now, q.found.at, 1));
    let shown = matches!(model.screen(), Screen::Diagnose { .. } | Screen::Isolation { .. });
    let checking =
        model.inquiry.as_ref().filter(|i| shown && i.is_open()).map(|i| next_multiple(model.now, i.asked, 1));
    let changing = of_changes(model);
    sources.chain(model.follow_at).chain(asking).chain(checking).chain(changing).fold(minute, Timestamp::min)
}

/// Write mode ends; a plan is awaited, or becomes too old; the ages of a run that is on screen take their next step of 5 s;
/// a form on screen reads its sources again.
fn of_changes(model: &Model) -> impl Iterator<Item = Timestamp> {
    let changes = &model.changes;
    let page = change::page(model);
    let planning =
        changes.proposal.as_ref().filter(|_| matches!(page, Some(Page::Plan { .. } | Page::Unfinished { .. })));
    let awaited = planning.filter(|p| p.is_open()).map(|p| next_multiple(model.now, p.asked, 1));
    let too_old = planning.and_then(Proposal::expires).and_then(|at| at.checked_add(AFTER).ok());
    let running = changes.running().filter(|_| matches!(page, Some(Page::Run { .. })));
    let ages = running.map(|run| next_multiple(model.now, run.began, 5).min(next_multiple(model.now, run.last, 5)));
    let again = change::form::due(model);
    [changes.armed, awaited, too_old.filter(|at| *at > model.now), ages, again].into_iter().flatten()
}

fn of_source(health: &SourceHealth, now: Timestamp, shown: bool) -> Option<Timestamp> {
    match health.status(now) {
        SourceStatus::Fresh => health.observed_at?.checked_add(health.fresh_bound() + AFTER).ok(),
        SourceStatus::Loading if shown => Some(next_multiple(now, health.asked_since?, 1)),
        SourceStatus::Stale => {
            let observed = health.observed_at?;
            observed.checked_add(next_step(now.duration_since(observed))).ok()
        }
        SourceStatus::Failed if shown => countdown(health.next_try?, now),
        SourceStatus::Loading
        | SourceStatus::Failed
        | SourceStatus::Denied
        | SourceStatus::Off
        | SourceStatus::Unusable => None,
    }
}

/// The first moment after `now` that is a whole number of `seconds` after `from`.
fn next_multiple(now: Timestamp, from: Timestamp, seconds: i64) -> Timestamp {
    let passed = now.duration_since(from).as_secs().max(0);
    let next = (passed / seconds + 1) * seconds;
    from.checked_add(SignedDuration::from_secs(next)).unwrap_or(Timestamp::MAX)
}

/// When the time until `next` reads otherwise ([`duration`](crate::console::widgets::format::duration)).
fn countdown(next: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let left = next.duration_since(now);
    if !left.is_positive() {
        return None;
    }
    let unit = match left.as_secs() {
        ..10 => return Some(next),
        10..60 => 1,
        60..3600 => 60,
        _ => 3600,
    };
    let stands = SignedDuration::from_secs(left.as_secs() / unit * unit);
    next.checked_sub(stands - AFTER).ok()
}

/// The next age at which [`late_age`](crate::console::widgets::format::late_age) reads otherwise.
fn next_step(age: SignedDuration) -> SignedDuration {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let s = age.as_secs().max(0);
    let up = |step: i64| (s / step + 1) * step;
    SignedDuration::from_secs(match s {
        s if s < MINUTE => up(30),
        s if s < 10 * MINUTE => up(MINUTE),
        s if s < HOUR => up(10 * MINUTE),
        s if s < 2 * DAY => up(HOUR),
        _ => up(DAY),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::widgets::format::{duration, late_age};

    #[test]
    fn the_time_until_the_next_try_reads_the_same_until_the_wake_up() {
        let next = Timestamp::from_second(1_000_000).unwrap();
        for ms in (1..4_000_000i64).step_by(777) {
            let now = next - SignedDuration::from_millis(ms);
            let wake = countdown(next, now).unwrap();
            let read = |at: Timestamp| {
                let left = next.duration_since(at);
                if left.is_positive() { duration(left) } else { "now".to_owned() }
            };
            assert!(wake > now && wake <= next, "{ms}");
            assert_ne!(read(wake), read(now), "{ms}");
            let before = (wake - SignedDuration::from_millis(2)).max(now);
            assert_eq!(read(before), read(now), "{ms}");
        }
        assert_eq!(countdown(next, next), None);
    }

    #[test]
    fn an_age_reads_the_same_until_the_next_step_and_otherwise_after_it() {
        for s in 0..(3 * 24 * 3600) {
            let age = SignedDuration::from_secs(s);
            let next = next_step(age);
            assert!(next > age);
            assert_ne!(late_age(next), late_age(age), "{s}");
            assert_eq!(late_age(next - SignedDuration::from_secs(1)), late_age(age), "{s}");
        }
    }
}
