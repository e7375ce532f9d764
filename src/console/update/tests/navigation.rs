use super::*;

#[test]
fn the_first_picture_puts_the_cursor_on_the_first_tenant_and_shows_its_board() {
    let model = given((120, 40));
    assert_eq!(model.selected(), Some(&tenant("tdemo")));
    assert_eq!(model.board.as_deref(), Some("tdemo"));
    assert_eq!(model.visible_lists().len(), 7);
    assert_eq!(state(&model, ListId::Workloads, of("tdemo")).order.len(), 2);
}

#[test]
fn before_the_first_picture_keys_are_harmless() {
    let mut model = model((120, 40));
    start(&mut model);
    for keys in ["enter", "down", "d", "y", "e", "c", "t", "n", "space", "a", "s", "esc", "G", "/ x enter", "esc"] {
        press(&mut model, keys);
    }
    assert_eq!(model.stack, [Screen::Tenants]);
}

#[test]
fn enter_goes_into_the_board_and_escape_comes_back() {
    let mut model = given((120, 40));
    press(&mut model, "down enter");
    assert_eq!((model.board.as_deref(), model.focus), (Some("eds"), Focus::Pane(ListId::Workloads)));
    press(&mut model, "tab");
    assert_eq!(model.focus, Focus::Pane(ListId::VrfFacts));
    press(&mut model, "backtab backtab backtab");
    assert_eq!(model.focus, Focus::Pane(ListId::Rules), "from the rail backwards to the last pane");
    press(&mut model, "esc");
    assert_eq!((model.focus, model.stack.len()), (Focus::Rail, 1));
    press(&mut model, "esc");
    assert_eq!(said(&model), "this is the first screen; q quits");
}

#[test]
fn at_compact_width_the_board_is_a_screen_of_its_own() {
    let mut model = given((80, 24));
    press(&mut model, "down enter");
    assert_eq!(model.screen(), &Screen::Board { tenant: "eds".into() });
    assert_eq!(model.visible_lists(), [(ListId::Workloads, of("eds"))]);
    press(&mut model, "tab");
    assert_eq!(model.visible_lists(), [(ListId::Records, of("eds"))]);
    press(&mut model, "esc enter");
    assert_eq!(model.visible_lists(), [(ListId::Records, of("eds"))], "opened at the tab used last");
    press(&mut model, "esc");
    assert_eq!(model.selected(), Some(&tenant("eds")));
}

#[test]
fn crossing_a_hundred_columns_keeps_tenant_pane_and_cursor() {
    let mut model = given((120, 40));
    press(&mut model, "down enter down");
    let cursor = model.selected().cloned();
    resize(&mut model, 80, 24);
    assert_eq!(model.screen(), &Screen::Board { tenant: "eds".into() });
    assert_eq!(model.selected().cloned(), cursor);
    resize(&mut model, 120, 40);
    assert_eq!((model.stack.len(), model.board.as_deref()), (1, Some("eds")));
    assert_eq!(model.focus, Focus::Pane(ListId::Workloads));
    assert_eq!(model.selected().cloned(), cursor);
}

#[test]
fn a_terminal_that_is_too_small_changes_nothing_and_only_leaving_works() {
    let mut model = given((120, 40));
    press(&mut model, "down enter");
    type_text(&mut model, "/jobs");
    let before = (model.stack.clone(), model.focus, model.lists.clone(), model.board.clone());
    resize(&mut model, 60, 12);
    press(&mut model, "down");
    press(&mut model, "esc x");
    assert_eq!(press(&mut model, "q"), [Effect::Quit]);
    resize(&mut model, 120, 40);
    assert_eq!((model.stack.clone(), model.focus, model.lists.clone(), model.board.clone()), before);
    assert!(matches!(&model.overlay, Overlay::Filter { field, .. } if field.value() == "jobs"));
}

#[test]
fn zoom_and_scope_keep_the_cursor_on_its_object() {
    let mut model = given((120, 40));
    press(&mut model, "down enter down");
    let cursor = model.selected().cloned().unwrap();
    press(&mut model, "z");
    assert_eq!(model.screen(), &Screen::List { list: ListId::Workloads, scope: of("eds") });
    assert_eq!(model.selected(), Some(&cursor));
    press(&mut model, "t");
    assert_eq!(model.screen(), &Screen::List { list: ListId::Workloads, scope: Scope::All });
    assert_eq!(model.selected(), Some(&cursor));
    press(&mut model, "t");
    assert_eq!(model.visible_lists(), [(ListId::Workloads, of("eds"))]);
    press(&mut model, "z");
    assert_eq!((model.screen(), model.focus), (&Screen::Tenants, Focus::Pane(ListId::Workloads)));
    press(&mut model, "tab z");
    assert_eq!(model.screen(), &Screen::List { list: ListId::Vrfs, scope: Scope::All });
    assert!(matches!(model.selected(), Some(ObjectId::Vrf(t, _)) if &**t == "eds"));
}

#[test]
fn places_start_from_the_tenant_list() {
    let mut model = given((120, 40));
    press(&mut model, "enter z g o");
    assert_eq!(model.stack, [Screen::Tenants, Screen::Overview]);
    press(&mut model, "g f g s");
    assert_eq!(model.stack, [Screen::Tenants, Screen::Sources]);
    press(&mut model, "esc");
    assert_eq!(model.stack, [Screen::Tenants]);
}

#[test]
fn the_line_goes_to_tenants_workloads_and_lists() {
    for size in [(120, 40), (80, 24)] {
        let mut model = given(size);
        run_line(&mut model, "workload eds/jobs");
        assert_eq!(model.focused(), Some((ListId::Workloads, of("eds"))), "{size:?}");
        assert_eq!(model.selected(), Some(&ObjectId::Workload(2081)));
        run_line(&mut model, "vnets sensors");
        assert_eq!(model.focused(), Some((ListId::Vnets, of("sensors"))));
        run_line(&mut model, "tenant sensers");
        assert_eq!(said(&model), "there is no tenant \"sensers\"; did you mean \"sensors\"?");
        run_line(&mut model, "workload app");
        assert_eq!(said(&model), "several tenants have \"app\"; write e.g. tdemo/app");
        run_line(&mut model, "worklods");
        assert_eq!(said(&model), "there is no command \"worklods\": did you mean \"workloads\"?");
        run_line(&mut model, "tenant");
        assert_eq!(said(&model), "tenant wants TENANT: tenant TENANT");
    }
}

#[test]
fn what_is_not_known_is_not_said_to_be_absent() {
    let mut model = model((120, 40));
    let mut sample = Sample::healthy();
    sample.fail(SourceId::Pve, GapKind::NoAnswer, "no answer", false);
    update(&mut model, Msg::Inventory(sample.join_without_data()));
    run_line(&mut model, "tenant eds");
    assert!(said(&model).starts_with("whether there is a tenant \"eds\" is not known"), "{}", said(&model));
    run_line(&mut model, "workload 2080");
    assert!(said(&model).starts_with("whether there is \"2080\" is not known"), "{}", said(&model));
}

#[test]
fn a_finding_opens_where_it_can_be_dealt_with() {
    let mut sample = Sample::healthy();
    sample.fail(SourceId::Exit, GapKind::NoAnswer, "ssh: no route to host", true);
    let mut model = given((120, 40));
    update(&mut model, Msg::Inventory(sample.join()));
    press(&mut model, "g o");
    let inv = model.picture().cloned().unwrap();
    let at = inv.attention.iter().position(|a| a.target == ObjectId::Source(SourceId::Exit)).unwrap();
    for _ in 0..at {
        press(&mut model, "down");
    }
    press(&mut model, "enter");
    assert_eq!(model.screen(), &Screen::Sources);
    assert_eq!(model.selected(), Some(&ObjectId::Source(SourceId::Exit)));
    press(&mut model, "esc");
    assert_eq!(model.screen(), &Screen::Overview);
}

#[test]
fn the_next_finding_is_a_row_that_differs_or_worse() {
    let mut model = given((120, 40));
    press(&mut model, "n");
    let nothing = said(&model).to_owned();
    let mut sample = Sample::healthy();
    let (_, last) = sample.pve.sdn.as_mut().unwrap().subnets.iter_mut().next_back().unwrap();
    for s in last.iter_mut().flat_map(|s| s.configured.iter_mut().chain(s.running.iter_mut())) {
        s.snat = false;
    }
    update(&mut model, Msg::Inventory(sample.join()));
    press(&mut model, "n");
    let inv = model.picture().cloned().unwrap();
    let Some(ObjectId::Tenant(name)) = model.selected().cloned() else { panic!("no tenant") };
    let worst = inv.tenant(&name).unwrap().layers.all().iter().map(|(_, _, l)| l.class).max();
    assert!(worst >= Some(Class::Differs), "{name}");
    assert!(nothing.is_empty() || nothing.contains("differs, warns or fails"), "{nothing}");
}

#[test]
fn describe_yaml_and_json_are_forms_of_one_screen() {
    let mut model = given((120, 40));
    press(&mut model, "enter d");
    let form = |m: &Model| match m.screen() {
        Screen::Text { form, .. } => *form,
        other => panic!("{other:?}"),
    };
    assert_eq!(form(&model), TextForm::Describe);
    press(&mut model, "y");
    assert_eq!(form(&model), TextForm::Yaml);
    press(&mut model, "y");
    assert_eq!(form(&model), TextForm::Json);
    let effects = press(&mut model, "e");
    assert!(matches!(effects.as_slice(), [Effect::Edit { text, suffix: "json" }] if text.starts_with('{')));
    press(&mut model, "y");
    assert_eq!((form(&model), model.stack.len()), (TextForm::Yaml, 2));
    press(&mut model, "esc");
    assert_eq!(model.focus, Focus::Pane(ListId::Workloads));
}

#[test]
fn a_text_scrolls_no_further_than_its_end() {
    let mut model = given((80, 24));
    press(&mut model, "enter d");
    draw(&mut model);
    press(&mut model, "end");
    let scroll = |m: &Model| match m.screen() {
        Screen::Text { scroll, .. } => *scroll,
        _ => 0,
    };
    let end = scroll(&model);
    assert!(end > 0);
    let last = crate::console::describe::lines(&model, &ObjectId::Workload(2040), TextForm::Describe).pop();
    let Some(crate::console::describe::TextLine::Pair { label, .. }) = last else { panic!("{last:?}") };
    let shown: String = view(&model).buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
    assert!(shown.contains(&format!("  {label} ")), "the last line is on screen: {label}");
    press(&mut model, "down pgdn");
    assert_eq!(scroll(&model), end);
    press(&mut model, "home");
    assert_eq!(scroll(&model), 0);
}

#[test]
fn copies_are_the_row_the_marks_or_the_table() {
    let mut model = given((120, 40));
    press(&mut model, "enter");
    let copied = |effects: Vec<Effect>| match effects.as_slice() {
        [Effect::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    let row = copied(press(&mut model, "c"));
    assert!(row.contains("app\t2040") && row.lines().count() == 1, "{row}");
    press(&mut model, "space down space");
    assert_eq!(copied(press(&mut model, "c")).lines().count(), 2);
    let table = copied(run_line(&mut model, "copy table"));
    assert!(table.starts_with("| TENANT |") && table.lines().count() == 4, "{table}");
}
