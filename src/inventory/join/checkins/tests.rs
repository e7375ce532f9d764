//! States of check-ins: each on its own, every two that can hold at once; `precedence`: that there is always exactly one.

mod precedence;

use std::sync::Arc;

use jiff::SignedDuration;

use super::judge::{Case, Machine, ORDER};
use crate::backends::bootstrap::{Record, Refusal, Report, Token, TokenState};
use crate::inventory::testing::checkins::{self, ago, applied, change, report};
use crate::inventory::testing::{Sample, healthy, now};
use crate::inventory::{CheckInRow, CheckInState, Class, Gap, GapKind, Inventory, Presence, SourceId, Workload};

const OTHER: &str = "00000000-5050-4000-8000-000000005001";

fn row<'a>(inv: &'a Inventory, tenant: &str, workload: &str) -> &'a CheckInRow {
    inv.checkins.iter().find(|c| &*c.tenant == tenant && &*c.workload == workload).expect("the check-in")
}

/// What `eds/jobs` shows after its record was changed: state, class, word, next.
fn shown(edit: impl FnOnce(&mut Record)) -> (CheckInState, Class, String, String) {
    let mut s = Sample::healthy();
    change(&mut s.boot, "eds", "jobs", edit);
    of(&s.join())
}

fn of(inv: &Inventory) -> (CheckInState, Class, String, String) {
    let c = row(inv, "eds", "jobs");
    (c.state, c.class, c.word.to_string(), c.next.to_string())
}

fn told(state: CheckInState, class: Class, word: &str, next: &str) -> (CheckInState, Class, String, String) {
    (state, class, word.to_owned(), next.to_owned())
}

// What makes each state hold. The record is that of a workload whose generation runs.

fn replay(r: &mut Record) {
    let at = r.token.as_ref().unwrap().redeemed_at.unwrap_or_else(|| ago(600)) + SignedDuration::from_secs(200);
    let refused = |reason: &str| Refusal { at, reason: reason.into(), from: None, claim: Some("b2c4".into()) };
    r.refusals = vec![refused("claim-mismatch")];
}

fn foreign(r: &mut Record) {
    r.reports.push(report("health", ago(30), 9, OTHER));
}

fn failed(r: &mut Record) {
    let uuid = r.token.as_ref().unwrap().smbios_uuid.clone().unwrap();
    let error = Report {
        ok: false,
        code: "denied".into(),
        detail: "image access denied".into(),
        ..report("pull", ago(20), 2, &uuid)
    };
    r.reports.push(error);
}

fn expired(r: &mut Record) {
    issued(r, 3600);
    r.token.as_mut().unwrap().expires_at = Some(ago(1800));
}

fn behind(r: &mut Record) {
    r.declared.as_mut().unwrap().generation += 1;
}

fn delivered(r: &mut Record) {
    let token = r.token.as_mut().unwrap();
    (token.issued_at, token.redeemed_at) = (ago(120), Some(ago(60)));
}

fn awaiting(r: &mut Record) {
    issued(r, 300);
}

/// A token issued so many seconds ago and not used; what ran before it still runs.
fn issued(r: &mut Record, seconds: i64) {
    let token = r.token.as_mut().unwrap();
    *token = Token {
        state: TokenState::Issued,
        issued_at: ago(seconds),
        expires_at: Some(ago(seconds - 1800)),
        redeemed_at: None,
        redeemed_from: None,
        ..token.clone()
    };
    r.reports.retain(|report| report.at < ago(seconds));
}

type Edit = fn(&mut Record);

const HOLDS: [(CheckInState, Edit); 8] = [
    (CheckInState::ReplayRefused, replay),
    (CheckInState::Foreign, foreign),
    (CheckInState::Failed, failed),
    (CheckInState::Expired, expired),
    (CheckInState::Behind, behind),
    (CheckInState::Delivered, delivered),
    (CheckInState::Awaiting, awaiting),
    (CheckInState::Applied, |_| {}),
];

#[test]
fn a_report_that_does_not_say_what_runs_proves_nothing_applied() {
    let untold = |digest: Option<&str>, declared: &str| {
        let digest: Option<Arc<str>> = digest.map(Into::into);
        shown(|r| {
            r.declared.as_mut().unwrap().digest = declared.into();
            let uuid = r.token.as_ref().unwrap().smbios_uuid.clone().unwrap();
            r.reports.push(Report { generation: None, digest: digest.clone(), ..report("health", ago(20), 2, &uuid) });
        })
    };
    assert_eq!(untold(None, "sha256:a"), told(CheckInState::None, Class::Unknown, "unknown", ""));
    assert_eq!(untold(Some("sha256:a"), ""), told(CheckInState::None, Class::Unknown, "unknown", ""));
    assert_eq!(untold(Some("sha256:a"), "sha256:a").0, CheckInState::Applied);
    assert_eq!(untold(Some("sha256:b"), "sha256:a").0, CheckInState::Behind);
}

#[test]
fn each_state_alone_says_what_it_is_and_what_to_do() {
    use CheckInState as S;
    assert_eq!(shown(|_| {}), told(S::Applied, Class::Fine, "applied", ""));
    assert_eq!(shown(replay), told(S::ReplayRefused, Class::Fault, "replay refused", "revoke, or replace"));
    assert_eq!(shown(foreign), told(S::Foreign, Class::Warning, "foreign", "find the other machine"));
    assert_eq!(shown(failed), told(S::Failed, Class::Fault, "failed at pull", "image access denied"));
    assert_eq!(shown(expired), told(S::Expired, Class::Warning, "expired", "reissue the token"));
    assert_eq!(shown(behind), told(S::Behind, Class::Warning, "behind", "cold start or replace"));
    assert_eq!(shown(delivered), told(S::Delivered, Class::Progress, "delivered", ""));
    let revoked = |r: &mut Record| {
        issued(r, 300);
        r.reports.clear();
        r.token.as_mut().unwrap().state = TokenState::Revoked;
    };
    assert_eq!(shown(revoked), told(S::Expired, Class::Warning, "revoked", "reissue the token"));
    let no_token = |r: &mut Record| (r.token, r.reports) = (None, Vec::new());
    assert_eq!(shown(no_token), told(S::Awaiting, Class::Progress, "awaiting, no token", "issue a token"));
    let nothing = |r: &mut Record| (r.declared, r.token, r.reports) = (None, None, Vec::new());
    assert_eq!(shown(nothing), told(S::None, Class::Absent, "none declared", ""));
    let other_digest = |r: &mut Record| r.declared.as_mut().unwrap().digest = "f00d".into();
    assert_eq!(shown(other_digest), told(S::Behind, Class::Warning, "differs", "compare with what is declared"));
}

/// Of every two states that hold at once, the one that comes first in domain.md §7.6 is shown.
#[test]
fn of_two_states_that_hold_the_first_is_shown() {
    let inv = healthy();
    let vm = inv.workloads.iter().find(|w| w.vmid == 2081).unwrap();
    let mut pairs = 0;
    for (i, (first, a)) in HOLDS.iter().enumerate() {
        for (second, b) in HOLDS.iter().skip(i + 1) {
            let mut record = applied("eds", "jobs", 2081);
            b(&mut record);
            a(&mut record);
            let case = case(&record, Some(vm));
            if !case.holds(*first) || !case.holds(*second) {
                continue;
            }
            pairs += 1;
            assert_eq!(case.state(), *first, "{first:?} and {second:?}");
        }
    }
    assert!(pairs >= 20, "only {pairs} pairs could be made");
}

#[test]
fn the_order_is_that_of_the_states() {
    let mut sorted = ORDER;
    sorted.sort();
    assert_eq!(sorted, ORDER);
}

fn case<'a>(record: &'a Record, vm: Option<&'a Workload>) -> Case<'a> {
    Case {
        record,
        machine: Machine { vm: vm.map(Into::into), fresh: true, whole: true, read_at: Some(now()) },
        at: now(),
    }
}

/// Lets `eds/jobs` have started so many seconds ago.
fn started(s: &mut Sample, seconds: u64) {
    let vms = &mut s.resources().vms;
    vms.iter_mut().find(|vm| vm.vmid == 2081).expect("the VM").uptime_s = Some(seconds);
}

fn waiting(up: u64, issued_ago: i64, more: impl FnOnce(&mut Sample)) -> (CheckInState, Class, String, String) {
    let mut s = Sample::healthy();
    started(&mut s, up);
    change(&mut s.boot, "eds", "jobs", |r| {
        issued(r, issued_ago);
        r.reports.clear();
    });
    more(&mut s);
    of(&s.join())
}

#[test]
fn a_machine_that_runs_and_says_nothing_is_late_after_ten_minutes() {
    use CheckInState::Awaiting;
    let late = told(Awaiting, Class::Warning, "awaiting, late", "look at its console");
    let plain = told(Awaiting, Class::Progress, "awaiting", "");
    assert_eq!(waiting(1260, 1320, |_| {}), late);
    assert_eq!(waiting(540, 1320, |_| {}), plain, "it has not run for ten minutes");
    let stopped = |s: &mut Sample| {
        let vms = &mut s.resources().vms;
        let vm = vms.iter_mut().find(|vm| vm.vmid == 2081).unwrap();
        (vm.status, vm.uptime_s) = ("stopped".into(), None);
    };
    assert_eq!(waiting(0, 1320, stopped), told(Awaiting, Class::Progress, "awaiting", "start the VM"));
    let blind = |s: &mut Sample| s.fail(SourceId::Pve, GapKind::NoAnswer, "no answer", true);
    assert_eq!(waiting(1260, 1320, blind), plain, "whether it runs is not known");
    let cold = told(Awaiting, Class::Pending, "awaiting cold start", "cold start");
    assert_eq!(waiting(90_000, 1320, |_| {}), cold, "the token came while it ran");
    let rebound = |s: &mut Sample| {
        change(&mut s.boot, "eds", "jobs", |r| r.token.as_mut().unwrap().smbios_uuid = Some(OTHER.into()));
    };
    let other = told(Awaiting, Class::Warning, "awaiting, not its token", "reissue the token");
    assert_eq!(waiting(1260, 1320, rebound), other);
}

#[test]
fn an_exchange_without_a_report_is_stuck_after_ten_minutes_and_a_report_is_a_sign_of_life() {
    let stuck = |r: &mut Record| {
        delivered(r);
        let token = r.token.as_mut().unwrap();
        (token.issued_at, token.redeemed_at) = (ago(1900), Some(ago(1200)));
        r.reports.clear();
    };
    let expected = told(CheckInState::Delivered, Class::Warning, "delivered, stuck", "look at its console");
    assert_eq!(shown(stuck), expected);
    let alive = |r: &mut Record| {
        stuck(r);
        let uuid = r.token.as_ref().unwrap().smbios_uuid.clone().unwrap();
        r.reports.push(report("pull", ago(90), 2, &uuid));
    };
    assert_eq!(shown(alive), told(CheckInState::Delivered, Class::Progress, "delivered", ""));
}

#[test]
fn three_missed_reports_are_information_and_no_failure() {
    let quiet = |hours: i64| {
        move |r: &mut Record| {
            let uuid = r.token.as_ref().unwrap().smbios_uuid.clone().unwrap();
            r.reports = vec![report("health", ago(hours * 3600), 2, &uuid)];
        }
    };
    assert_eq!(shown(quiet(2)).2, "applied");
    assert_eq!(
        shown(quiet(3)),
        told(CheckInState::Applied, Class::Info, "applied, silent", "see whether its agent runs")
    );
}

#[test]
fn a_refusal_stands_until_it_is_acknowledged_or_a_new_exchange_followed() {
    let acknowledged = |r: &mut Record| {
        replay(r);
        r.acknowledged_at = Some(now());
    };
    assert_eq!(shown(acknowledged).0, CheckInState::Applied);
    let again = |r: &mut Record| {
        replay(r);
        r.acknowledged_at = Some(r.refusals[0].at - SignedDuration::from_secs(60));
    };
    assert_eq!(shown(again).0, CheckInState::ReplayRefused, "a refusal after the acknowledgement is another one");
    let before = |r: &mut Record| {
        replay(r);
        r.refusals[0].at = r.token.as_ref().unwrap().redeemed_at.unwrap() - SignedDuration::from_secs(60);
    };
    assert_eq!(shown(before).0, CheckInState::Applied);
    let late = |r: &mut Record| {
        replay(r);
        r.refusals[0].reason = "expired".into();
    };
    assert_eq!(shown(late).0, CheckInState::Applied, "who comes too late is no second holder");
    let copy = |r: &mut Record| {
        replay(r);
        r.refusals[0].reason = "identity-mismatch".into();
    };
    assert_eq!(shown(copy).0, CheckInState::Foreign);
}

#[test]
fn a_machine_whose_uuid_was_not_read_accuses_nobody() {
    let mut s = Sample::healthy();
    change(&mut s.boot, "eds", "jobs", foreign);
    s.pve.configs.remove(&2081);
    assert_eq!(of(&s.join()).0, CheckInState::Applied);
    let mut s = Sample::healthy();
    change(&mut s.boot, "eds", "jobs", foreign);
    s.fail(SourceId::Pve, GapKind::NoAnswer, "no answer", true);
    assert_eq!(of(&s.join()).0, CheckInState::Applied, "what Proxmox said before is not what is");
}

#[test]
fn a_replaced_machine_is_not_judged_by_what_the_old_one_said() {
    let replaced = |r: &mut Record| {
        r.reports.push(report("health", ago(4000), 2, OTHER));
        r.reports.retain(|report| report.smbios_uuid.as_deref() == Some(OTHER));
        issued(r, 60);
    };
    assert_eq!(shown(replaced).0, CheckInState::Awaiting);
}

#[test]
fn a_record_without_a_machine_and_a_machine_without_a_record() {
    let mut s = Sample::healthy();
    s.resources().vms.retain(|vm| vm.vmid != 2081);
    change(&mut s.boot, "eds", "jobs", |r| r.reports.truncate(1));
    let inv = s.join();
    assert_eq!(of(&inv), told(CheckInState::Applied, Class::Warning, "applied, no VM", "no VM of that name"));
    assert_eq!(row(&inv, "eds", "jobs").vmid, None);
    let mut s = Sample::healthy();
    s.resources().vms.retain(|vm| vm.vmid != 2081);
    assert_eq!(of(&s.join()).0, CheckInState::Foreign, "nobody is there, and somebody reports");
    let mut s = Sample::healthy();
    s.resources().vms.retain(|vm| vm.vmid != 2081);
    s.pve.guests_hidden = Some(Gap::new(GapKind::Denied, "VM.Audit"));
    assert_eq!(of(&s.join()).0, CheckInState::Applied, "hidden is not absent");
    let none = healthy();
    let web = none.workloads.iter().find(|w| &*w.name == "web").unwrap();
    assert_eq!(web.checkin.as_ref().map(|m| (m.class, &*m.word)), Ok((Class::Absent, "none declared")));
}

#[test]
fn a_list_with_holes_does_not_say_that_nothing_is_declared() {
    let mut s = Sample::healthy();
    let hole = Gap::new(GapKind::Failed, "records.jsonl, line 3: no sense in it");
    s.boot.holes = Some(hole.clone());
    let inv = s.join();
    let c = row(&inv, "radio", "web");
    assert_eq!((c.class, &*c.word), (Class::Unknown, "unknown"));
    let b = &inv.tenant("radio").unwrap().layers.bootstrap;
    assert_eq!((b.presence, &b.gap), (Presence::Unknown, &Some(hole)));
    assert_eq!(inv.tenant("eds").unwrap().layers.bootstrap.presence, Presence::Present);
}

/// Lets the node of `vmids` be out of reach, as Proxmox lists its guests then.
fn out_of_reach(s: &mut Sample, vmids: &[u32]) {
    for vm in s.resources().vms.iter_mut().filter(|vm| vmids.contains(&vm.vmid)) {
        (vm.name, vm.status, vm.uptime_s) = (None, "unknown".into(), None);
    }
    for vmid in vmids {
        s.pve.configs.insert(*vmid, Err(Gap::new(GapKind::NoAnswer, "595")));
    }
}

#[test]
fn a_guest_that_a_dead_node_leaves_without_a_name_may_be_any_record() {
    let mut s = Sample::healthy();
    out_of_reach(&mut s, &[2081]);
    let inv = s.join();
    let record = row(&inv, "eds", "jobs");
    assert_eq!((record.state, record.vmid), (CheckInState::Applied, None), "no machine is foreign, none is missing");
    let guest = row(&inv, "eds", "2081");
    assert_eq!((guest.class, &*guest.word), (Class::Unknown, "unknown"));
    let why = guest.gap.as_ref().expect("a reason");
    assert!(why.why.contains("its node") && why.why.contains("does not answer"), "{why:?}");
    let beside = inv.workloads.iter().find(|w| w.vmid == 2081).unwrap();
    assert_eq!(beside.checkin.as_ref().map(|m| m.class), Ok(Class::Unknown));
    assert_eq!(inv.tenant("eds").unwrap().layers.bootstrap.presence, Presence::Unknown);
    // Another tenant's machines have their names, and its records their machines.
    assert_eq!(inv.tenant("tdemo").unwrap().layers.bootstrap.presence, Presence::Present);
    assert_eq!((row(&inv, "radio", "web").class, &*row(&inv, "radio", "web").word), (Class::Absent, "none declared"));
}

#[test]
fn a_guest_without_a_name_has_none_declared_where_every_record_has_its_machine() {
    let web = healthy().workloads.iter().find(|w| &*w.tenant == "radio" && &*w.name == "web").unwrap().vmid;
    let mut s = Sample::healthy();
    out_of_reach(&mut s, &[web]);
    let inv = s.join();
    let guest = row(&inv, "radio", &web.to_string());
    assert_eq!((guest.class, &*guest.word), (Class::Absent, "none declared"), "{guest:?}");
}

#[test]
fn the_letter_b_is_the_worst_with_its_number() {
    let b = |inv: &Inventory, t: &str| {
        let l = &inv.tenant(t).expect("the tenant").layers.bootstrap;
        (l.presence, l.class, l.words.clone())
    };
    let inv = healthy();
    assert_eq!(b(&inv, "tdemo"), (Presence::Present, Class::Fine, "2 applied".into()));
    assert_eq!(b(&inv, "radio"), (Presence::Present, Class::Fine, "3 applied".into()), "one has nothing declared");
    assert_eq!(b(&inv, "bench1"), (Presence::Absent, Class::Absent, "none".into()));
    let mut s = Sample::healthy();
    started(&mut s, 1260);
    change(&mut s.boot, "eds", "jobs", |r| {
        issued(r, 1320);
        r.reports.clear();
    });
    change(&mut s.boot, "sensors", "gw-07", failed);
    change(&mut s.boot, "sensors", "gw-08", behind);
    let inv = s.join();
    assert_eq!(b(&inv, "eds"), (Presence::Differs, Class::Warning, "1 late".into()));
    assert_eq!(b(&inv, "sensors"), (Presence::Differs, Class::Fault, "1 failed".into()));
}

#[test]
fn failures_with_one_reason_are_one_row_of_the_overview() {
    let mut s = Sample::healthy();
    for gw in ["gw-01", "gw-02", "gw-03"] {
        change(&mut s.boot, "sensors", gw, failed);
    }
    change(&mut s.boot, "eds", "jobs", replay);
    let inv = s.join();
    let rows: Vec<_> = inv.attention.iter().map(|a| (a.class, &*a.place, &*a.what)).collect();
    assert_eq!(
        rows,
        [
            (Class::Fault, "3 workloads", "bootstrap failed at pull: image access denied"),
            (Class::Fault, "eds/jobs", "replay refused: two holders of one token"),
        ]
    );
}

#[test]
fn old_data_and_an_api_without_check_ins_conclude_nothing() {
    let mut s = Sample::healthy();
    change(&mut s.boot, "eds", "jobs", replay);
    s.fail(SourceId::Boot, GapKind::NoAnswer, "no answer", true);
    let inv = s.join();
    assert!(row(&inv, "eds", "jobs").last_report.is_some(), "rows stay as last seen");
    assert!(inv.checkins.iter().all(|c| (c.class, &*c.word) == (Class::Unknown, "unknown") && c.gap.is_some()));
    assert!(inv.checkins.iter().all(|c| c.state == CheckInState::None && c.next.is_empty()));
    assert_eq!(inv.tenant("eds").unwrap().layers.bootstrap.presence, Presence::Unknown);
    assert!(inv.workloads.iter().all(|w| w.checkin.is_err()));
    assert_eq!(inv.attention.len(), 1, "the source, and nothing of what it said before");
    let mut s = Sample::healthy();
    s.boot.records = Err(Gap::new(GapKind::Off, "this API offers no bootstrap check-ins. That is not a fault."));
    let inv = s.join();
    assert!(inv.tenants.iter().all(|t| t.layers.bootstrap.is_off()));
    assert_eq!((inv.attention.len(), inv.checkins.len()), (0, 0));
    assert_eq!(inv.checkins_gap.as_ref().map(|g| g.kind), Some(GapKind::Off));
}

#[test]
fn the_story_is_told_in_order_and_without_a_secret() {
    let mut s = Sample::healthy();
    change(&mut s.boot, "eds", "jobs", |r| {
        delivered(r);
        replay(r);
        failed(r);
    });
    let inv = s.join();
    let c = row(&inv, "eds", "jobs");
    let times: Vec<_> = c.events.iter().map(|e| e.at).collect();
    assert!(times.is_sorted());
    let story: Vec<_> = c.events.iter().map(|e| &*e.what).collect();
    for what in ["token", "redeem", "refused", "pull"] {
        assert!(story.contains(&what), "{story:?}");
    }
    let refused = c.events.iter().find(|e| &*e.what == "refused").unwrap();
    assert_eq!(&*refused.text, "claim-mismatch · claim b2c4…");
}

/// The rows come from the reading: while it stands, time may pass and nothing changes.
#[test]
fn rows_stand_still_between_readings() {
    let (a, b) = (healthy(), healthy());
    assert_eq!(a.checkins, b.checkins);
    let mut later = Sample::healthy();
    later.boot.at += SignedDuration::from_secs(30);
    assert_eq!(later.join().checkins, a.checkins);
    assert_eq!(checkins::applied("x", "y", 2040).tenant, "x");
}
