use super::*;
use crate::console::complete;

fn workloads(model: &Model) -> usize {
    state(model, ListId::Workloads, Scope::All).order.len()
}

fn all_workloads() -> Model {
    let mut model = given((120, 40));
    run_line(&mut model, "workloads");
    update(&mut model, Msg::Repaint);
    model
}

#[test]
fn a_filter_narrows_while_typing_and_stays_through_refreshes() {
    let mut model = all_workloads();
    assert_eq!(workloads(&model), 42);
    type_text(&mut model, "/state:running !gw");
    assert_eq!(workloads(&model), 18);
    press(&mut model, "enter");
    assert!(matches!(model.overlay, Overlay::None));
    update(&mut model, Msg::Inventory(healthy()));
    assert_eq!((workloads(&model), state(&model, ListId::Workloads, Scope::All).total), (18, 42));
    press(&mut model, "esc");
    assert_eq!(workloads(&model), 42);
    assert_eq!(model.stack.len(), 2, "escape cleared the filter and went no further");
}

#[test]
fn escape_in_the_filter_line_brings_the_former_filter_back() {
    let mut model = all_workloads();
    type_text(&mut model, "/gw");
    press(&mut model, "enter");
    let cursor = model.selected().cloned();
    type_text(&mut model, "/zzz");
    assert_eq!(workloads(&model), 0);
    assert_eq!(model.selected(), None, "nothing is selected that is not on screen");
    press(&mut model, "esc");
    assert_eq!(state(&model, ListId::Workloads, Scope::All).filter, "gw");
    assert_eq!(model.selected().cloned(), cursor, "the cursor is where it was");
}

#[test]
fn a_filter_that_is_not_understood_says_so_and_hides_nothing() {
    let mut model = all_workloads();
    type_text(&mut model, "/stat:running");
    assert!(said(&model).starts_with("no column \"stat\" here"), "{}", said(&model));
    assert_eq!(workloads(&model), 42);
}

#[test]
fn pasted_text_is_never_keys() {
    let mut model = all_workloads();
    assert!(update(&mut model, Msg::Input(Input::Paste("q\nq".into()))).is_empty());
    assert_eq!(said(&model), "nothing here takes text; what was pasted is dropped");
    press(&mut model, "/");
    update(&mut model, Msg::Input(Input::Paste("gw-0\u{202e}\u{1b}[31m\n1\t".into())));
    assert!(matches!(&model.overlay, Overlay::Filter { field, .. }
        if !field.value().contains(['\u{202e}', '\u{1b}', '\n', '\t']) && field.value().starts_with("gw-0")));
}

#[test]
fn sort_turns_around_and_unknown_values_stay_last() {
    let mut model = all_workloads();
    run_line(&mut model, "sort name");
    let first = model.list_state(ListId::Workloads, &Scope::All).unwrap().order[0];
    assert_eq!(&*model.picture().unwrap().workloads[first as usize].name, "app");
    run_line(&mut model, "sort name");
    assert!(state(&model, ListId::Workloads, Scope::All).sort.descending);
    press(&mut model, "s up enter");
    assert_eq!(state(&model, ListId::Workloads, Scope::All).sort.column, "tenant");
    run_line(&mut model, "sort nmae");
    assert!(said(&model).contains("did you mean \"name\"?"));
}

#[test]
fn columns_are_switched_and_one_stays() {
    let mut model = all_workloads();
    press(&mut model, "C space");
    let hidden = |m: &Model| state(m, ListId::Workloads, Scope::All).hidden.clone();
    assert_eq!(hidden(&model), BTreeSet::from(["tenant"]));
    press(&mut model, "enter esc");
    assert!(hidden(&model).is_empty());
    for column in lists::def(ListId::Workloads).columns {
        run_line(&mut model, &format!("columns {}", column.key));
    }
    assert_eq!(said(&model), "one column has to stay");
    assert_eq!(hidden(&model).len(), lists::def(ListId::Workloads).columns.len() - 1);
}

#[test]
fn marks_are_by_identity_and_pruned_with_a_word() {
    let mut model = all_workloads();
    press(&mut model, "space down space");
    update(&mut model, Msg::Inventory(healthy()));
    assert_eq!(state(&model, ListId::Workloads, Scope::All).marks.len(), 2);
    assert_eq!(commands::actions(&model).title, "2 workloads");
    let mut sample = Sample::healthy();
    sample.resources().vms.retain(|vm| vm.vmid != 2041);
    update(&mut model, Msg::Inventory(sample.join()));
    assert_eq!(state(&model, ListId::Workloads, Scope::All).marks, BTreeSet::from([ObjectId::Workload(2040)]));
    assert_eq!(said(&model), "1 marked row of Workloads is gone");
    press(&mut model, "esc");
    assert!(state(&model, ListId::Workloads, Scope::All).marks.is_empty());
}

#[test]
fn marks_outlive_a_source_that_cannot_be_read() {
    let mut model = all_workloads();
    press(&mut model, "space");
    update(&mut model, Msg::Inventory(Sample::healthy().join_without_data()));
    assert_eq!(workloads(&model), 0);
    assert_eq!(model.selected(), None);
    update(&mut model, Msg::Inventory(healthy()));
    assert_eq!(state(&model, ListId::Workloads, Scope::All).marks.len(), 1);
    assert_eq!(model.selected(), Some(&ObjectId::Workload(2040)));
}

#[test]
fn the_cursor_falls_to_the_nearest_row_that_is_left() {
    let mut model = all_workloads();
    press(&mut model, "down down down");
    assert_eq!(model.selected(), Some(&ObjectId::Workload(2081)));
    let mut sample = Sample::healthy();
    sample.resources().vms.retain(|vm| vm.vmid != 2081);
    update(&mut model, Msg::Inventory(sample.join()));
    assert_eq!(model.selected(), Some(&ObjectId::Workload(2120)));
}

#[test]
fn the_command_line_completes_commands_and_objects() {
    let mut model = given((120, 40));
    press(&mut model, "down");
    type_text(&mut model, ":ref");
    assert_eq!(complete::rest(&model), "resh ");
    press(&mut model, "right");
    let labels: Vec<_> = complete::candidates(&model).into_iter().map(|c| c.label).collect();
    assert_eq!(labels, ["PVE", "DNS", "FW", "EXIT", "BOOT", "REG"]);
    type_text(&mut model, "exit");
    assert_eq!(press(&mut model, "enter"), [Effect::Refresh(Some(SourceId::Exit))]);
    assert_eq!(model.history, ["refresh exit"]);
    press(&mut model, ": up");
    assert!(matches!(&model.overlay, Overlay::Command { field, .. } if field.value() == "refresh exit"));
    press(&mut model, "down");
    type_text(&mut model, "tenant ");
    assert_eq!(complete::candidates(&model)[0].label, "eds", "the selected one is first");
    press(&mut model, "tab tab enter");
    assert_eq!(model.board.as_deref(), Some("tdemo"));
}

#[test]
fn a_candidate_that_cannot_run_says_why() {
    let mut model = given((120, 40));
    type_text(&mut model, ":sto");
    let stop = complete::candidates(&model).into_iter().find(|c| c.label == "stop").unwrap();
    assert!(stop.disabled.unwrap().contains("no change is running"));
    press(&mut model, "enter");
    assert!(said(&model).contains("no command \"sto\""));
}

#[test]
fn the_actions_menu_narrows_and_runs() {
    let mut model = given((120, 40));
    press(&mut model, "enter a");
    let menu = commands::actions(&model);
    assert_eq!(menu.title, "tdemo/app");
    assert_eq!(menu.rows[0].command.name, "open");
    type_text(&mut model, "yaml");
    assert_eq!(commands::actions(&model).rows.len(), 1);
    press(&mut model, "enter");
    assert!(matches!(model.screen(), Screen::Text { form: TextForm::Yaml, .. }));
}

#[test]
fn help_searches_and_closes() {
    let mut model = given((120, 40));
    press(&mut model, "? /");
    type_text(&mut model, "clipboard");
    let rows: usize = commands::help(&model).sections.iter().map(|s| s.rows.len()).sum();
    assert_eq!(rows, 2, "copy, and hand over");
    press(&mut model, "esc");
    assert!(matches!(model.overlay, Overlay::None));
}

#[test]
fn help_scrolls_to_its_last_line_and_back_at_once() {
    for size in [(80, 24), (120, 40)] {
        let mut model = given(size);
        let shown = |m: &Model| view(m).buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
        press(&mut model, "?");
        draw(&mut model);
        let first = shown(&model);
        press(&mut model, "pgdn pgdn pgdn pgdn pgdn pgdn pgdn pgdn pgdn pgdn");
        assert!(shown(&model).contains("previous candidate"), "{size:?}");
        let end = shown(&model);
        press(&mut model, "up");
        assert_ne!(shown(&model), end, "{size:?}");
        press(&mut model, "pgup pgup pgup pgup pgup pgup pgup pgup pgup pgup");
        assert_eq!(shown(&model), first, "{size:?}");
    }
}

#[test]
fn a_click_selects_a_second_one_opens_and_a_head_sorts() {
    let mut model = all_workloads();
    draw(&mut model);
    let place = |model: &Model, wanted: &dyn Fn(&crate::console::msg::Hit) -> bool| {
        let (rect, _) = model.hits.iter().find(|(_, hit)| wanted(hit)).cloned().unwrap();
        (rect.x, rect.y)
    };
    let click = |model: &mut Model, (x, y): (u16, u16)| {
        let kind = crate::terminal::MouseKind::Down(crate::terminal::Button::Left);
        let mouse = crate::terminal::Mouse { kind, x, y, ctrl: false, alt: false, shift: false };
        update(model, Msg::Input(Input::Mouse(mouse)))
    };
    use crate::console::msg::Hit;
    let row = place(&model, &|h| matches!(h, Hit::Row(_, ObjectId::Workload(2121))));
    click(&mut model, row);
    assert_eq!(model.selected(), Some(&ObjectId::Workload(2121)));
    assert_eq!(model.stack.len(), 2);
    click(&mut model, row);
    assert!(matches!(model.screen(), Screen::Text { subject: ObjectId::Workload(2121), .. }));
    press(&mut model, "esc");
    draw(&mut model);
    let head = place(&model, &|h| matches!(h, Hit::Column(_, "name")));
    click(&mut model, head);
    assert_eq!(state(&model, ListId::Workloads, Scope::All).sort.column, "name");
    assert_eq!(model.selected(), Some(&ObjectId::Workload(2121)), "sorting keeps the cursor on its object");
}

#[test]
fn where_a_bundle_goes_is_edited_as_in_a_shell() {
    let mut model = all_workloads();
    let field = tui_input::Input::new("bundles/egress tdemo".into());
    model.overlay = Overlay::Save { field, saving: crate::console::model::Saving::Asked };
    let value = |model: &Model| match &model.overlay {
        Overlay::Save { field, .. } => field.value().to_owned(),
        _ => panic!("the prompt was closed"),
    };
    press(&mut model, "backspace");
    assert_eq!(value(&model), "bundles/egress tdem");
    press(&mut model, "ctrl-w");
    assert_eq!(value(&model), "bundles/egress ");
    press(&mut model, "ctrl-u");
    press(&mut model, "backspace");
    assert_eq!(value(&model), "", "only esc closes it");
    type_text(&mut model, "here");
    assert_eq!(value(&model), "here");
}
