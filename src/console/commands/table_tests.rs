use std::collections::BTreeSet;

use super::*;
use crate::console::lists;

#[test]
fn names_are_unique_and_docs_are_sentences() {
    let names: BTreeSet<_> = all().map(|c| c.name).collect();
    assert_eq!(names.len(), all().count());
    for command in all() {
        assert!(command.doc.ends_with('.') && !command.title.is_empty(), "{}", command.name);
        assert!(command.doc.starts_with(char::is_uppercase), "{}", command.name);
    }
}

#[test]
fn optional_arguments_come_last() {
    for command in all() {
        let first = command.args.iter().position(|a| a.optional).unwrap_or(command.args.len());
        assert!(command.args.iter().skip(first).all(|a| a.optional), "{}", command.name);
    }
}

#[test]
fn only_what_leads_to_a_plan_reaches_further_than_a_look() {
    assert!(all().all(|c| c.danger == Danger::Look || c.group == Group::Change));
}

#[test]
fn every_list_has_its_command() {
    for id in lists::ALL {
        assert!(all().any(|c| c.name == lists::def(id).word), "{}", lists::def(id).word);
    }
}
