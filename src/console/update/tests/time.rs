use super::*;

fn wake(effects: &[Effect]) -> Option<Timestamp> {
    effects.iter().find_map(|e| match e {
        Effect::WakeAt(at) => Some(*at),
        _ => None,
    })
}

fn at(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

/// The first whole minute after `from`.
fn minute(from: Timestamp) -> Timestamp {
    Timestamp::from_second((from.as_second() / 60 + 1) * 60).unwrap()
}

#[test]
fn without_a_picture_only_the_clock_changes() {
    let mut model = model((120, 40));
    assert_eq!(wake(&start(&mut model)), Some(minute(now())));
}

#[test]
fn fresh_sources_add_the_moment_at_which_they_would_be_late_and_nothing_else() {
    let mut model = model((120, 40));
    start(&mut model);
    update(&mut model, Msg::Inventory(healthy()));
    let late = now() + SignedDuration::from_millis(15_001);
    assert_eq!(model.kept.wake, Some(late.min(minute(now()))));
    assert!(update(&mut model, Msg::Now(at(1))).is_empty(), "a wish that stands is not repeated");
    let effects = update(&mut model, Msg::Now(late));
    assert_eq!(wake(&effects), Some(at(30).min(minute(late))), "then the first step of its age");
}

#[test]
fn the_age_of_a_stale_source_wakes_at_its_steps() {
    let mut model = model((120, 40));
    start(&mut model);
    let mut sample = Sample::healthy();
    sample.fail(SourceId::Pve, GapKind::NoAnswer, "no answer", true);
    sample.fail(SourceId::Exit, GapKind::NoAnswer, "no answer", true);
    sample.fail(SourceId::Boot, GapKind::NoAnswer, "no answer", true);
    sample.fail(SourceId::Dns, GapKind::NoAnswer, "no answer", true);
    sample.fail(SourceId::Fw, GapKind::NoAnswer, "no answer", true);
    update(&mut model, Msg::Inventory(sample.join()));
    assert_eq!(model.kept.wake, Some(at(60).min(minute(now()))), "4m becomes 5m");
}

#[test]
fn seconds_count_only_while_a_first_answer_is_awaited_on_screen() {
    let mut model = model((120, 40));
    start(&mut model);
    let mut sample = Sample::healthy();
    let started =
        crate::inventory::SourceHealth::starting(SignedDuration::from_secs(10), SignedDuration::from_secs(10), now());
    sample.sources.set(SourceId::Pve, started.clone());
    sample.sources.set(SourceId::Exit, started);
    update(&mut model, Msg::Inventory(sample.join_without_data()));
    assert_eq!(model.kept.wake, Some(at(1)));
}

#[test]
fn the_board_follows_the_rail_once_its_cursor_rests() {
    let mut model = given((120, 40));
    let effects = press(&mut model, "down");
    let rest = now() + SignedDuration::from_millis(150);
    assert_eq!(wake(&effects), Some(rest));
    assert_eq!(model.board.as_deref(), Some("tdemo"));
    update(&mut model, Msg::Now(now() + SignedDuration::from_millis(100)));
    press(&mut model, "down");
    update(&mut model, Msg::Now(rest));
    assert_eq!(model.board.as_deref(), Some("tdemo"), "it has not rested yet");
    let effects = update(&mut model, Msg::Now(rest + SignedDuration::from_millis(100)));
    assert_eq!(model.board.as_deref(), Some("greenhse"));
    assert!(wake(&effects).is_some_and(|at| at > model.now));
    assert_eq!(model.follow_at, None);
}

#[test]
fn time_never_runs_backwards() {
    let mut model = given((120, 40));
    update(&mut model, Msg::Now(at(5)));
    update(&mut model, Msg::Now(at(3)));
    assert_eq!(model.now, at(5));
}

#[test]
fn the_demand_is_what_the_frame_shows_and_is_sent_once() {
    let mut model = given((120, 40));
    let demand = |effects: &[Effect]| match effects {
        [Effect::Demand(d)] => d.clone(),
        other => panic!("{other:?}"),
    };
    let first = demand(&draw(&mut model));
    assert_eq!(first.vmids, [2040, 2041]);
    assert_eq!(first.tenants, [Arc::from("tdemo")]);
    assert!(!first.live_counters);
    assert!(draw(&mut model).is_empty());
    update(&mut model, Msg::Inventory(healthy()));
    assert!(draw(&mut model).is_empty(), "another picture of the same is no other demand");
    run_line(&mut model, "vrfs");
    update(&mut model, Msg::Repaint);
    assert!(demand(&draw(&mut model)).live_counters);
}

#[test]
fn a_frozen_picture_stands_still_and_catches_up() {
    let mut model = given((120, 40));
    press(&mut model, "f");
    update(&mut model, Msg::Inventory(Sample::large(3, 2).join()));
    assert!(model.picture().unwrap().tenant("tdemo").is_some());
    press(&mut model, "f");
    assert!(model.picture().unwrap().tenant("tdemo").is_none());
    assert!(matches!(model.selected(), Some(ObjectId::Tenant(_))));
    assert_eq!(model.board.as_deref().map(|b| model.picture().unwrap().tenant(b).is_some()), Some(true));
}

#[test]
fn a_drawn_frame_tells_where_lists_begin() {
    let mut model = given((80, 24));
    run_line(&mut model, "workloads");
    update(&mut model, Msg::Repaint);
    draw(&mut model);
    press(&mut model, "G");
    draw(&mut model);
    let top = state(&model, ListId::Workloads, Scope::All).top;
    assert!(top > 0 && top < 42, "{top}");
    press(&mut model, "up");
    draw(&mut model);
    assert_eq!(state(&model, ListId::Workloads, Scope::All).top, top, "the window moves only when it must");
}

#[test]
fn records_of_all_tenants_ask_for_the_names_on_screen() {
    let mut model = model((80, 24));
    start(&mut model);
    update(&mut model, Msg::Inventory(healthy()));
    run_line(&mut model, "records");
    update(&mut model, Msg::Inventory(healthy()));
    draw(&mut model);
    let tenants: Vec<&str> = model.kept.demand.tenants.iter().map(|t| &**t).collect();
    assert!(tenants.contains(&"tdemo") && tenants.contains(&"eds"), "{tenants:?}");
    assert!(tenants.len() < 6, "only what is on screen: {tenants:?}");
}
