use proptest::prelude::*;

use super::*;
use crate::console::list::ListId;
use crate::console::lists::def;

fn columns() -> &'static [Column] {
    def(ListId::Workloads).columns
}

fn row(cells: &[&str]) -> RowText {
    RowText::new(cells.iter().map(|c| (*c).to_owned()))
}

fn wants(filter: &str, row: &RowText) -> bool {
    Judge::default().wants(&parse(filter, columns()).0, row)
}

/// tenant, name, vmid, node, state, address, origin
fn services() -> RowText {
    row(&["eds", "services", "2080", "hv02", "running", "10.20.130.10", "derived"])
}

#[test]
fn words_are_fuzzy_and_joined_by_and() {
    assert!(wants("", &services()));
    assert!(wants("srv", &services()));
    assert!(wants("EDS serv", &services()));
    assert!(!wants("eds radio", &services()));
    assert!(!wants("edss", &services()), "letters of different cells are no word");
}

#[test]
fn letters_strewn_over_a_sentence_are_no_match() {
    let row = row(&["a replies to six tenants are dropped on the way out of the node"]);
    assert!(!wants("radio", &row));
    assert!(wants("dropped", &row));
}

#[test]
fn a_sign_negates_and_a_column_binds() {
    assert!(!wants("!services", &services()));
    assert!(wants("!radio state:run", &services()));
    assert!(wants("STATE:Running", &services()));
    assert!(!wants("state:eds", &services()));
    assert!(!wants("state:!run", &services()) && !wants("!state:run", &services()));
    assert!(wants("!state:!run", &services()));
}

#[test]
fn quotes_keep_words_together_and_signs_as_text() {
    let row = row(&["eds", "a b", "", "", "not read", "", "!x state:y"]);
    assert!(wants("\"a b\"", &row) && !wants("\"b a\"", &row));
    assert!(wants("state:\"not read\"", &row));
    assert!(wants("\"!x\"", &row) && wants("\"state:y\"", &row));
}

#[test]
fn what_is_not_finished_asks_for_nothing() {
    for filter in ["!", "state:", "!state:", "\"", "\"\"", "  "] {
        let (query, problems) = parse(filter, columns());
        assert!(query.is_empty() && problems.is_empty(), "{filter}");
    }
}

#[test]
fn an_unknown_column_is_reported_and_left_out() {
    let (query, problems) = parse("stat:running eds", columns());
    assert_eq!(problems, ["no column \"stat\" here, that word is left out; did you mean \"state\"?"]);
    assert!(Judge::default().wants(&query, &services()));
    assert!(parse("zzz:1", columns()).1[0].contains("columns: tenant name"));
}

#[test]
fn an_address_with_colons_is_text() {
    let row = row(&["02:de:20:00:08:20"]);
    assert!(wants("02:de", &row));
    assert!(parse("02:de", columns()).1.is_empty());
}

#[test]
fn case_and_accents_do_not_matter() {
    assert!(wants("cafe", &row(&["Café"])) && wants("CAFÉ", &row(&["cafe"])));
}

#[test]
fn marks_lie_in_the_cell() {
    let (query, _) = parse("serv state:run !x", columns());
    assert_eq!(query.marks(1, "Services"), vec![0usize..4]);
    assert_eq!(query.marks(4, "running"), vec![0usize..3]);
    assert!(query.marks(1, "running").is_empty());
}

proptest! {
    #[test]
    fn no_filter_panics(filter in "\\PC{0,40}", cells in prop::collection::vec("\\PC{0,30}", 0..8)) {
        let (query, _) = parse(&filter, columns());
        let row = RowText::new(cells.clone());
        let _ = Judge::default().wants(&query, &row);
        for cell in &cells {
            for range in query.marks(1, cell) {
                prop_assert!(cell.get(range).is_some());
            }
        }
    }

    #[test]
    fn a_negated_word_alone_is_the_complement(
        word in "[a-z0-9.]{1,8}",
        cells in prop::collection::vec("[a-z0-9. ]{0,12}", 0..8),
    ) {
        let row = RowText::new(cells);
        prop_assert_ne!(wants(&word, &row), wants(&format!("!{word}"), &row));
    }

    #[test]
    fn words_narrow_one_another(
        a in "[a-z!:]{0,8}",
        b in "[a-z!:]{0,8}",
        cells in prop::collection::vec("[a-z]{0,12}", 0..8),
    ) {
        let row = RowText::new(cells);
        prop_assert_eq!(wants(&format!("{a} {b}"), &row), wants(&a, &row) && wants(&b, &row));
    }

    #[test]
    fn a_part_of_a_cell_always_matches(cell in "[a-z0-9]{1,20}", from in 0usize..20, len in 1usize..20) {
        let part: String = cell.chars().skip(from).take(len).collect();
        prop_assert!(wants(&part, &RowText::new([cell])));
    }

    #[test]
    fn no_shortcut_changes_a_verdict(
        word in "[a-e0-2é.]{1,5}",
        quoted in any::<bool>(),
        cells in prop::collection::vec("[a-e0-2éÉ. -]{0,12}", 0..6),
    ) {
        let mut judge = Judge::default();
        let long = |cell: &String| {
            let (cell, word) = (fold(cell), fold(&word));
            cell.contains(&word) || !quoted && judge.fuzzy(&cell, &word)
        };
        let expected = cells.iter().any(long);
        let filter = if quoted { format!("\"{word}\"") } else { word.clone() };
        prop_assert_eq!(wants(&filter, &RowText::new(cells)), expected);
    }
}
