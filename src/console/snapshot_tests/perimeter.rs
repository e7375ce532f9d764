//! The perimeter's panes: healthy, with a rule that must not exist, denied in part and as a whole, stale, off.

use super::*;
use crate::inventory::testing::{Sample, perimeter};
use crate::inventory::{Gap, GapKind, ObjectId, SourceId};

const REFUSED: &str =
    "not permitted: firewall/filter/get needs the privilege \"Firewall: Rules [new]\" (page-filter-api)";

/// Vendor devices reach the tenants; one rule is saved and not loaded, one is switched off; a forward is gone, another
/// leads elsewhere, one is left over.
fn broken() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    let set = Arc::make_mut(s.fw.rules.as_mut().expect("rules"));
    let sides = ("10.20.31.0/24", "10.20.128.0/18");
    set.rules.push(perimeter::rule(60, "opt5", "any", sides, "temp camera vendor"));
    let mut waiting = perimeter::rule(61, "opt11", "TCP", ("10.20.45.0/24", "10.20.130.0/24:443"), "dev -> eds web");
    (waiting.loaded, waiting.hits) = (Some(false), None);
    let mut off = perimeter::rule(62, "opt10", "UDP", ("10.20.50.0/24", "any:514"), "old log host");
    (off.enabled, off.loaded, off.hits) = (false, Some(false), None);
    set.rules.extend([waiting, off]);
    let mut forwards = s.fw.forwards.as_ref().expect("forwards").to_vec();
    forwards.retain(|f| f.domain != "129.20.10.in-addr.arpa");
    forwards.iter_mut().filter(|f| f.domain.starts_with("eds.")).for_each(|f| f.enabled = false);
    let left = crate::backends::opnsense::model::Forward {
        uuid: "left".into(),
        domain: "gone.mobile.deevnet.net".into(),
        ..forwards[0].clone()
    };
    forwards.push(left);
    s.fw.forwards = Ok(forwards.into());
    s.join()
}

fn denied() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    s.fail(SourceId::Fw, GapKind::Denied, REFUSED, false);
    s.fw = crate::inventory::FwReading::empty(testing::now());
    s.join_without(SourceId::Fw)
}

/// Rules may not be read, the rest may.
fn partly() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    let gap = Gap::new(GapKind::Denied, REFUSED);
    s.fw.rules = Err(gap.clone());
    let mut health = s.sources.get(SourceId::Fw).clone();
    health.gaps = vec![gap];
    s.sources.set(SourceId::Fw, health);
    s.join()
}

fn stale() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    s.fail(SourceId::Fw, GapKind::NoAnswer, "https://10.20.99.1: connection refused", true);
    s.join()
}

fn off() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    s.site.opnsense = None;
    s.sources.set(SourceId::Fw, crate::inventory::SourceHealth::off());
    s.join_without(SourceId::Fw)
}

#[test]
fn panes_and_lists() {
    type Picture = fn() -> Arc<Inventory>;
    let pictures: [(Picture, &str); 6] = [
        (testing::healthy, "healthy"),
        (broken, "must-not-exist"),
        (denied, "denied"),
        (partly, "part-denied"),
        (stale, "stale"),
        (off, "off"),
    ];
    for (picture, state) in pictures {
        let inv = picture();
        for size in [COMPACT, DESIGN] {
            check(&board(Arc::clone(&inv), size, "tdemo", ListId::Rules), "board-rules", state);
            check(&list(Arc::clone(&inv), size, ListId::Rules, Scope::All), "rules", state);
            check(&list(Arc::clone(&inv), size, ListId::Forwards, Scope::All), "forwards", state);
        }
        check(
            &model(inv, DESIGN, Screen::Overview, Focus::Pane(ListId::Attention)),
            "overview",
            &format!("fw-{state}"),
        );
    }
}

#[test]
fn the_selected_rule_is_told_below() {
    let mut all = list(broken(), DESIGN, ListId::Rules, Scope::Tenant("eds".into()));
    let bad = "7c1d0e52-93b4-4f0e-9a55-000000000060";
    let key = (ListId::Rules, Scope::Tenant("eds".into()));
    all.lists.get_mut(&key).expect("its state").cursor = Some(ObjectId::Rule(bad.into()));
    check(&refreshed(all), "rules", "touching");
    for (subject, name) in
        [(ObjectId::Rule(bad.into()), "rule"), (ObjectId::Forward("129.20.10.in-addr.arpa".into()), "forward")]
    {
        let screen = Screen::Text { subject, form: crate::console::model::TextForm::Describe, scroll: 0 };
        check(&model(broken(), DESIGN, screen, Focus::Rail), "describe", name);
    }
}
