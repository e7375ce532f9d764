//! What is said of a delivery: state, token and next step in a few words.

use std::sync::Arc;

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::judge::{Case, Flag};
use crate::backends::bootstrap::{Token, TokenState};
use crate::inventory::{CheckInState, Class};

/// Class of a state with its flag.
pub(crate) fn class(state: CheckInState, flag: Option<Flag>) -> Class {
    let own = match state {
        CheckInState::ReplayRefused | CheckInState::Failed => Class::Fault,
        CheckInState::Foreign | CheckInState::Expired | CheckInState::Behind => Class::Warning,
        CheckInState::Delivered | CheckInState::Awaiting => Class::Progress,
        CheckInState::Applied => Class::Fine,
        CheckInState::None => Class::Absent,
    };
    let of_flag = match flag {
        Some(Flag::Late | Flag::Stuck | Flag::OtherInstance | Flag::NoMachine) => Class::Warning,
        Some(Flag::ColdStart) => Class::Pending,
        Some(Flag::Silent) => Class::Info,
        Some(Flag::Untold) => Class::Unknown,
        _ => own,
    };
    own.max(of_flag)
}

/// The state in words.
pub(crate) fn word(case: &Case<'_>, state: CheckInState, flag: Option<Flag>) -> Arc<str> {
    let plain = match state {
        CheckInState::ReplayRefused => "replay refused".to_owned(),
        CheckInState::Foreign => "foreign".to_owned(),
        CheckInState::Failed => case.failed().map_or_else(|| "failed".to_owned(), |r| format!("failed at {}", r.phase)),
        CheckInState::Expired if flag == Some(Flag::Revoked) => "revoked".to_owned(),
        CheckInState::Expired => "expired".to_owned(),
        CheckInState::Behind if flag == Some(Flag::Differs) => "differs".to_owned(),
        CheckInState::Behind => "behind".to_owned(),
        CheckInState::Delivered => "delivered".to_owned(),
        CheckInState::Awaiting => "awaiting".to_owned(),
        CheckInState::Applied => "applied".to_owned(),
        CheckInState::None if flag == Some(Flag::Untold) => "unknown".to_owned(),
        CheckInState::None => "none declared".to_owned(),
    };
    let more = match flag {
        Some(Flag::Late) => ", late",
        Some(Flag::Stuck) => ", stuck",
        Some(Flag::Silent) => ", silent",
        Some(Flag::ColdStart) => " cold start",
        Some(Flag::NoToken) => ", no token",
        Some(Flag::OtherInstance) => ", not its token",
        Some(Flag::NoMachine) if state != CheckInState::Foreign => ", no VM",
        _ => "",
    };
    format!("{plain}{more}").into()
}

/// What to do next; empty where nothing is to be done.
pub(crate) fn next(case: &Case<'_>, state: CheckInState, flag: Option<Flag>) -> Arc<str> {
    match (state, flag) {
        (CheckInState::ReplayRefused, _) => "revoke, or replace".into(),
        (CheckInState::Foreign, _) => "find the other machine".into(),
        (_, Some(Flag::NoMachine)) => "no VM of that name".into(),
        (CheckInState::Failed, _) => case.failed().map_or_else(|| "".into(), said),
        (CheckInState::Expired, _) | (_, Some(Flag::OtherInstance)) => "reissue the token".into(),
        (CheckInState::Behind, Some(Flag::Differs)) => "compare with what is declared".into(),
        (CheckInState::Behind, _) => "cold start or replace".into(),
        (_, Some(Flag::Late | Flag::Stuck)) => "look at its console".into(),
        (_, Some(Flag::ColdStart)) => "cold start".into(),
        (_, Some(Flag::Stopped)) => "start the VM".into(),
        (_, Some(Flag::NoToken)) => "issue a token".into(),
        (_, Some(Flag::Silent)) => "see whether its agent runs".into(),
        _ => "".into(),
    }
}

/// An error in the agent's words: its detail, else its code, else that none was given.
pub(crate) fn said(report: &crate::backends::bootstrap::Report) -> Arc<str> {
    let words = [&report.detail, &report.code].into_iter().find(|t| !t.is_empty());
    words.map_or_else(|| "no reason given".into(), |t| Arc::from(t.as_str()))
}

/// The token in words, e.g. `7m left`.
pub(crate) fn token(token: &Token, at: Timestamp) -> Arc<str> {
    match (token.state, token.redeemed_at, token.expires_at) {
        (TokenState::Revoked, _, _) => "revoked".into(),
        (_, Some(redeemed), _) => format!("redeemed {}", when(redeemed, at)).into(),
        (TokenState::Redeemed, None, _) => "redeemed".into(),
        (TokenState::Issued, None, Some(expires)) if expires > at => {
            format!("{} left", left(expires.duration_since(at))).into()
        }
        (TokenState::Issued, None, None) => "issued".into(),
        (_, None, Some(expires)) => format!("expired {}", when(expires, at)).into(),
        (_, None, None) => "expired".into(),
    }
}

/// A duration that is still to come, in one unit.
fn left(d: SignedDuration) -> String {
    match d.as_mins() {
        0 => "<1m".to_owned(),
        m if m < 120 => format!("{m}m"),
        m => format!("{}h", m / 60),
    }
}

/// A moment seen from `now`: the minute today, else the day.
pub(super) fn when(at: Timestamp, now: Timestamp) -> String {
    let (at, now) = (Offset::UTC.to_datetime(at), Offset::UTC.to_datetime(now));
    let form = if at.date() == now.date() { "%H:%MZ" } else { "%-d %b" };
    at.strftime(form).to_string()
}

/// The first part of a UUID, by which people tell machines apart.
pub(super) fn brief(uuid: &str) -> &str {
    uuid.split('-').next().unwrap_or(uuid)
}
