//! Check-ins: the list with the story of the selected workload, in every state of its source.

use super::*;
use crate::backends::bootstrap::{Refusal, Report, Token, TokenState};
use crate::console::model::TextForm;
use crate::inventory::testing::Sample;
use crate::inventory::testing::checkins::{ago, change, report};
use crate::inventory::{Gap, GapKind, ObjectId, SourceId};

/// One refused, one failed, one late, one behind, one on its way, one that never reached the service.
fn needs_a_human() -> Sample {
    let mut s = Sample::healthy();
    let boot = &mut s.boot;
    change(boot, "eds", "jobs", |r| {
        let token = r.token.as_mut().expect("a token");
        (token.issued_at, token.redeemed_at) = (ago(2580), Some(ago(2515)));
        token.expires_at = Some(ago(780));
        r.reports.clear();
        let refused = |at, claim: &str| Refusal {
            at,
            reason: "claim-mismatch".into(),
            from: Some("10.20.50.22".into()),
            claim: Some(claim.into()),
        };
        r.refusals = vec![refused(ago(2300), "b2c4d6e8a0f1")];
    });
    change(boot, "sensors", "gw-07", |r| {
        let uuid = r.token.as_ref().and_then(|t| t.smbios_uuid.clone()).expect("a UUID");
        let code = ("image-denied", "image access denied");
        let said = report("pull", ago(360), 3, &uuid);
        r.reports.push(Report { ok: false, code: code.0.into(), detail: code.1.into(), ..said });
    });
    change(boot, "eds", "services", |r| {
        let token = r.token.as_mut().expect("a token");
        *token = Token {
            state: TokenState::Issued,
            issued_at: ago(1380),
            expires_at: Some(ago(-420)),
            redeemed_at: None,
            redeemed_from: None,
            ..token.clone()
        };
        r.reports.clear();
    });
    change(boot, "tdemo", "worker", |r| r.declared.as_mut().expect("declared").generation = 4);
    change(boot, "greenhse", "climate", |r| {
        let token = r.token.as_mut().expect("a token");
        (token.issued_at, token.redeemed_at) = (ago(180), Some(ago(120)));
        let uuid = token.smbios_uuid.clone().expect("a UUID");
        r.reports = vec![report("pull", ago(60), 1, &uuid)];
    });
    let vms = &mut s.resources().vms;
    vms.iter_mut().find(|vm| vm.vmid == 2080).expect("the VM").uptime_s = Some(1320);
    s
}

fn not_offered() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    let why = "https://10.20.25.20:8443 offers no bootstrap check-ins. That is not a fault.";
    s.boot.records = Err(Gap::new(GapKind::Off, why));
    s.join()
}

fn off() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    s.sources.set(SourceId::Boot, crate::inventory::SourceHealth::off());
    s.site.bootstrap = None;
    s.join_without(SourceId::Boot)
}

fn denied() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    let text = "https://10.20.25.20:8443 does not let this credential list check-ins";
    s.fail(SourceId::Boot, GapKind::Denied, text, false);
    s.join_without(SourceId::Boot)
}

fn stale() -> Arc<Inventory> {
    let mut s = needs_a_human();
    s.fail(SourceId::Boot, GapKind::NoAnswer, "https://10.20.25.20:8443: connection refused", true);
    s.join()
}

#[test]
fn the_list_in_every_state() {
    let states = [
        (testing::healthy(), "healthy"),
        (needs_a_human().join(), "needs-a-human"),
        (not_offered(), "not-offered"),
        (denied(), "denied"),
        (stale(), "stale"),
        (off(), "off"),
    ];
    for (inv, state) in states {
        for size in [COMPACT, DESIGN] {
            check(&list(Arc::clone(&inv), size, ListId::Checkins, Scope::All), "checkins", state);
        }
    }
}

#[test]
fn beside_the_other_panes() {
    for size in [COMPACT, DESIGN] {
        let inv = needs_a_human().join();
        check(&board(Arc::clone(&inv), size, "eds", ListId::Checkins), "board-checkins", "needs-a-human");
        check(&board(stale(), size, "eds", ListId::Checkins), "board-checkins", "stale");
        check(&board(not_offered(), size, "eds", ListId::Checkins), "board-checkins", "not-offered");
        let overview = model(Arc::clone(&inv), size, Screen::Overview, Focus::Pane(ListId::Attention));
        check(&overview, "overview", "checkins");
        check(&list(inv, size, ListId::Workloads, Scope::All), "workloads", "checkins");
    }
}

#[test]
fn described() {
    for (form, name) in [(TextForm::Describe, "describe-checkin"), (TextForm::Json, "json-checkin")] {
        let subject = ObjectId::CheckIn("eds".into(), "jobs".into());
        let screen = Screen::Text { subject, form, scroll: 0 };
        check(&model(needs_a_human().join(), DESIGN, screen, Focus::Pane(ListId::Checkins)), name, "needs-a-human");
    }
}
