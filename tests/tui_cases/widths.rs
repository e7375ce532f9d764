//! TUI-03: wide and combining characters keep columns straight.

use std::collections::BTreeSet;

use deevnet_console::console::list::{Align, Column, Cutting, Cx, ListDef, ListId, Scope, SortKey};
use deevnet_console::console::lists::def;
use deevnet_console::console::model::Screen;
use deevnet_console::console::theme::{self, Depth};
use deevnet_console::console::view;
use deevnet_console::console::widgets::canvas::Canvas;
use deevnet_console::console::widgets::table::{Table, Turn};
use deevnet_console::inventory::Inventory;
use ratatui::layout::Rect;

use crate::{all, picture};

const CASE: &str = include_str!("../data/cases/TUI-03/rows.json");

/// State, id and name of a row.
type Row = (String, u32, String);

fn case() -> Vec<Row> {
    let rows = all(CASE).into_iter().map(|row| {
        let id = u32::try_from(row[1].as_u64().unwrap()).unwrap();
        (row[0].as_str().unwrap().to_owned(), id, row[2].as_str().unwrap().to_owned())
    });
    rows.collect()
}

/// Other names whose width is not their length.
fn others() -> Vec<Row> {
    let names = [
        "ｆｕｌｌｗｉｄｔｈ-ｎａｍｅ-ｏｆ-ａ-ｇｕｅｓｔ".to_owned(),
        "한국어서버이름이깁니다-정말".to_owned(),
        format!("z{}", "\u{301}\u{317}\u{489}".repeat(40)),
        "🇨🇭🇯🇵🇺🇳🇩🇪🇫🇷🇮🇹🇪🇸🇵🇹🇳🇱🇧🇪".to_owned(),
        "❤\u{fe0f}☎\u{fe0f}1\u{fe0f}\u{20e3}-keycaps-and-hearts".to_owned(),
        "👨\u{200d}👩\u{200d}👧\u{200d}👦👍\u{1f3fd}".repeat(6),
        "क्षिप्रा-ಕನ್ನಡ-தமிழ்-ไทยภาษา-ខ្មែរ".to_owned(),
        "שלום-مرحبا-mixed-\u{202e}rtl".to_owned(),
        "a日b本c語d".repeat(9),
        "\u{3000}\u{3000}ideographic\u{3000}spaces".to_owned(),
        "ﷺ-one-very-wide-sign".to_owned(),
    ];
    let states = ["running", "stopped"].into_iter().cycle();
    states.zip(names).zip(6001..).map(|((state, name), id)| (state.to_owned(), id, name)).collect()
}

fn inventory(rows: &[Row]) -> std::sync::Arc<Inventory> {
    picture::joined(picture::reading(rows.iter().map(|(state, id, name)| picture::guest(*id, name, state)).collect()))
}

/// The columns of the case, in its order.
const COLUMNS: [Column; 3] = [
    column("state", Align::Left, Cutting::Never),
    column("vmid", Align::Right, Cutting::Never),
    column("name", Align::Left, Cutting::End),
];

const fn column(key: &'static str, align: Align, cutting: Cutting) -> Column {
    Column { key, title: "", min: 4, max: 40, align, cutting, keep: 255 }
}

/// The list of guests with the columns of the case only.
static OF_CASE: ListDef = ListDef {
    id: ListId::Workloads,
    title: "",
    word: "",
    sources: &[],
    columns: &COLUMNS,
    sort: "vmid",
    len: |inv| inv.workloads.len(),
    id_of: |inv, i| (def(ListId::Workloads).id_of)(inv, i),
    tenant_of: |_, _| None,
    cell: |cx, i, key| (def(ListId::Workloads).cell)(cx, i, key),
    sort_key: |_, _, _| SortKey::None,
    gap: |_| None,
    detail: |_, _| Vec::new(),
    empty: "",
};

/// A list of guests in a pane of `width` columns.
fn drawn(list: &'static ListDef, rows: &[Row], width: u16, ascii: bool) -> Vec<String> {
    let inv = inventory(rows);
    let look = theme::load("dark", &[], Depth::Ansi16, ascii).unwrap();
    let height = u16::try_from(rows.len()).unwrap() + 1;
    let mut canvas = Canvas::new((width, height), &look);
    let order: Vec<u32> = (0..u32::try_from(inv.workloads.len()).unwrap()).collect();
    let table = Table {
        def: list,
        cx: Cx { inv: &inv, now: picture::now() },
        order: &order,
        at: Some(1),
        top: 0,
        marks: None,
        hidden: &|key| !["name", "vmid", "state"].contains(&key),
        sort: None,
        focused: true,
        stale: false,
        head: true,
        turn: Turn::HalfPage,
    };
    table.draw(&mut canvas, Rect::new(0, 0, width, height));
    picture::rows(&canvas.finish().buffer).split_off(1)
}

/// Each row shows state and id, in the same columns, and cuts a long name with an ellipsis.
#[track_caller]
fn assert_straight(rows: &[Row], lines: &[String], ellipsis: char) {
    assert_eq!(lines.len(), rows.len());
    let mut columns = BTreeSet::new();
    for (line, (state, id, name)) in lines.iter().zip(rows) {
        let before = |part: &str| {
            deevnet_console::text::width(
                &line[..line.find(part).unwrap_or_else(|| panic!("{part} is not in {line:?}"))],
            )
        };
        columns.insert((before(&id.to_string()) + id.to_string().len(), before(state)));
        let whole = deevnet_console::text::clean(name);
        let whole = if ellipsis == '~' { deevnet_console::text::to_ascii(&whole) } else { whole };
        assert!(line.contains(&*whole) || line.contains(ellipsis), "{line:?} cuts {whole:?} without saying so");
    }
    assert_eq!(columns.len(), 1, "columns are not straight: {lines:#?}");
}

#[test]
fn state_and_id_are_seen_in_twenty_four_columns() {
    let rows = case();
    let lines = drawn(&OF_CASE, &rows, 24, false);
    assert_straight(&rows, &lines, '…');
    let wide = lines.iter().find(|line| line.contains("5002")).unwrap();
    assert!(wide.contains('日') && wide.contains('…') && !wide.contains('ー'), "{wide:?}");
}

#[test]
fn so_they_are_in_other_widths_and_with_other_names() {
    let rows: Vec<Row> = case().into_iter().chain(others()).collect();
    // The console's own list lets the VMID go only where a name would become unreadable.
    for (list, least) in [(&OF_CASE, 20), (def(ListId::Workloads), 33)] {
        for width in least..=60 {
            assert_straight(&rows, &drawn(list, &rows, width, false), '…');
            assert_straight(&rows, &drawn(list, &rows, width, true), '~');
        }
    }
}

#[test]
fn whole_screens_are_straight() {
    let rows: Vec<Row> = case().into_iter().chain(others()).collect();
    for size in [(72, 40), (80, 40), (99, 40), (100, 40), (120, 40), (161, 50)] {
        let screen = Screen::List { list: ListId::Workloads, scope: Scope::All };
        let model = picture::showing(inventory(&rows), size, Some(screen));
        let lines = picture::rows(&view(&model).buffer);
        for (state, id, _) in &rows {
            let line = lines.iter().find(|line| line.contains(&format!(" {id} ")));
            // A detail may hold it too, but the list comes first.
            assert!(line.is_some_and(|line| line.contains(state.as_str())), "{id} at {size:?}: {lines:#?}");
        }
    }
}
