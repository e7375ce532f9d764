//! The story of a delivery, oldest first: what the source recorded, and the starts that Proxmox knows of.

use std::sync::Arc;

use jiff::Timestamp;

use super::judge::{Case, same};
use super::words;
use crate::backends::bootstrap::{Refusal, Report, Token, TokenState};
use crate::backends::proxmox::model::Task;
use crate::inventory::{CheckInEvent, Class, Texts};
use crate::text::clean;

/// Events kept of one workload, the newest.
const KEPT: usize = 40;

fn event(at: Timestamp, class: Class, what: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> CheckInEvent {
    CheckInEvent { at, class, what: what.into(), text: text.into() }
}

/// All that is known to have happened.
pub(super) fn of(case: &Case<'_>, tasks: &[Task], texts: &Texts) -> Vec<CheckInEvent> {
    let record = case.record;
    let mut out: Vec<CheckInEvent> = record.token.iter().flat_map(|t| token(case, t)).collect();
    let since = record.token.as_ref().map(|t| t.issued_at);
    out.extend(starts(case, tasks, since));
    out.extend(record.refusals.iter().map(refusal));
    out.extend(record.reports.iter().map(|r| report(case, r)));
    out.extend(record.acknowledged_at.map(|at| event(at, Class::Info, "acknowledged", "somebody saw the refusals")));
    out.sort_by_key(|e| e.at);
    let newest = out.split_off(out.len().saturating_sub(KEPT));
    let mut kept = Vec::with_capacity(newest.len());
    kept.extend(newest.into_iter().map(|e| CheckInEvent { what: texts.of(e.what), text: texts.of(e.text), ..e }));
    kept
}

fn token(case: &Case<'_>, token: &Token) -> Vec<CheckInEvent> {
    let until = token.expires_at.map(|at| format!(", valid until {}", words::when(at, case.at))).unwrap_or_default();
    let generation = token.generation.map(|g| format!(" for generation {g}")).unwrap_or_default();
    let mut out = vec![event(
        token.issued_at,
        Class::Fine,
        "token",
        format!("issued{generation}{until} · {}", bound(case, token)),
    )];
    if let Some(at) = token.redeemed_at {
        let from = source(token.redeemed_from.as_deref());
        out.push(event(at, Class::Fine, "redeem", format!("exchanged for the configuration{from}")));
    }
    let ran_out = token.expires_at.filter(|at| *at <= case.at && token.redeemed_at.is_none());
    if let (Some(at), TokenState::Issued | TokenState::Expired) = (ran_out, token.state) {
        out.push(event(at, Class::Warning, "expired", "the token ran out unused"));
    }
    out
}

/// Which machine a token is for, and whether that is the one Proxmox has.
fn bound(case: &Case<'_>, token: &Token) -> String {
    match (token.smbios_uuid.as_deref(), case.machine.uuid()) {
        (Some(bound), Some(uuid)) if same(bound, uuid) => format!("UUID {} matches", words::brief(bound)),
        (Some(bound), Some(uuid)) => format!("UUID {}, the VM has {}", words::brief(bound), words::brief(uuid)),
        (Some(bound), None) => format!("UUID {}, the VM's is not known", words::brief(bound)),
        (None, _) => "bound to no UUID".to_owned(),
    }
}

/// Where a request came from, and what that is worth.
fn source(from: Option<&str>) -> String {
    from.map(|f| format!(" · from {f}, the exit node")).unwrap_or_default()
}

fn refusal(r: &Refusal) -> CheckInEvent {
    let claim = r.claim.as_deref().map(|c| format!(" · claim {c}…")).unwrap_or_default();
    event(r.at, Class::Fault, "refused", format!("{}{claim}{}", r.reason, source(r.from.as_deref())))
}

fn report(case: &Case<'_>, r: &Report) -> CheckInEvent {
    let generation = r.generation.map(|g| format!("generation {g}"));
    let error = (!r.ok).then(|| {
        let code =
            if r.code.is_empty() || r.code == *words::said(r) { String::new() } else { format!(" ({})", r.code) };
        format!("{}{code}", words::said(r))
    });
    let detail = (r.ok && !r.detail.is_empty()).then(|| r.detail.clone());
    let other = r.smbios_uuid.as_deref().filter(|theirs| case.machine.uuid().is_some_and(|ours| !same(ours, theirs)));
    let other = other.map(|uuid| format!("from another machine, UUID {}", words::brief(uuid)));
    let parts: Vec<String> = [error, generation, detail, other].into_iter().flatten().collect();
    let text = if parts.is_empty() { "ok".to_owned() } else { parts.join(" · ") };
    event(r.at, if r.ok { Class::Fine } else { Class::Fault }, r.phase.as_str(), text)
}

/// Starts of the machine since its token was issued.
fn starts(case: &Case<'_>, tasks: &[Task], since: Option<Timestamp>) -> Vec<CheckInEvent> {
    let Some((vm, since)) = case.machine.vm.zip(since) else { return Vec::new() };
    let id = vm.vmid.to_string();
    let own = tasks.iter().filter(|t| t.kind == "qmstart" && t.id == id);
    own.filter_map(|t| {
        let at = t.started.filter(|at| *at >= since)?;
        let (class, text) = match t.status.as_deref() {
            None => (Class::Progress, "runs".to_owned()),
            Some("OK") => (Class::Fine, "task OK".to_owned()),
            Some(other) => (Class::Warning, clean(other).into_owned()),
        };
        Some(event(at, class, "start", text))
    })
    .collect()
}
