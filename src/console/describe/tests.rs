use std::sync::Arc;

use super::*;
use crate::console::keymap::Keymap;
use crate::console::lists;
use crate::console::theme::Look;
use crate::inventory::testing::{Sample, healthy, now};
use crate::inventory::{GapKind, SourceId};

/// Every object of a picture.
fn objects(inv: &Inventory) -> Vec<ObjectId> {
    let of = |list| {
        let def = lists::def(list);
        (0..(def.len)(inv)).filter_map(move |i| (def.id_of)(inv, i)).collect::<Vec<_>>()
    };
    lists::ALL.into_iter().flat_map(of).collect()
}

fn given(inv: Arc<Inventory>) -> Model {
    let mut model = Model::new("mobile", (120, 40), now(), Arc::new(Look::default()), Arc::new(Keymap::default()));
    crate::console::update(&mut model, crate::console::Msg::Inventory(inv));
    model
}

fn text(model: &Model, id: &ObjectId, form: TextForm) -> String {
    plain(&lines(model, id, form))
}

#[test]
fn every_object_has_a_text_and_a_value_that_reads_back() {
    let mut stale = Sample::healthy();
    stale.fail(SourceId::Exit, GapKind::Denied, "sudo refused", true);
    for inv in [healthy(), stale.join()] {
        let model = given(Arc::clone(&inv));
        let all = objects(&inv);
        assert!(all.len() > 100);
        for id in all {
            assert!(lines(&model, &id, TextForm::Describe).len() > 2, "{id:?}");
            let json: Value = serde_json::from_str(&text(&model, &id, TextForm::Json)).unwrap();
            let yaml: Value = serde_yaml_ng::from_str(&text(&model, &id, TextForm::Yaml)).unwrap();
            assert_eq!(json, yaml, "{id:?}");
            assert!(json["kind"].is_string() && json["unknown"].is_object(), "{id:?}");
        }
    }
}

#[test]
fn the_unknown_is_null_with_its_reason() {
    let mut sample = Sample::healthy();
    sample.pve.configs.clear();
    let inv = sample.join();
    let id = ObjectId::Workload(2040);
    let value = value(&inv, &id, now()).unwrap();
    assert!(value["mac"].is_null());
    assert!(value["unknown"]["mac"].as_str().is_some_and(|why| why.contains("not read")), "{value}");
    let model = given(inv);
    assert!(text(&model, &id, TextForm::Describe).contains("MAC: not read: "));
}

#[test]
fn derived_and_observed_stand_side_by_side_where_they_differ() {
    let mut sample = Sample::healthy();
    let config = sample.pve.configs.get_mut(&2040).unwrap().as_mut().unwrap();
    Arc::make_mut(config).ipconfigs.get_mut(&0).unwrap().ip = Some("10.20.129.99/24".into());
    let model = given(sample.join());
    let id = ObjectId::Workload(2040);
    let shown = text(&model, &id, TextForm::Describe);
    assert!(shown.contains("derived 10.20.129.10") && shown.contains("observed 10.20.129.99"), "{shown}");
    let value = value(model.picture().unwrap(), &id, now()).unwrap();
    assert_eq!(value["differs"].as_array().map(Vec::len), Some(1), "{value}");
}

#[test]
fn text_of_others_is_clean_in_every_form() {
    let mut inv = Inventory::clone(&healthy());
    let nasty = "a\u{1b}[31m\u{202e}b\u{7}\nc";
    for w in &mut inv.workloads {
        w.lock = Some(nasty.into());
        w.nameserver = Ok(Some(nasty.into()));
    }
    for v in &mut inv.vnets {
        v.alias = Some(nasty.into());
    }
    let model = given(Arc::new(inv));
    for id in [ObjectId::Workload(2040), ObjectId::Vnet(model.picture().unwrap().vnets[0].vnet.clone())] {
        for form in [TextForm::Describe, TextForm::Yaml, TextForm::Json] {
            for line in text(&model, &id, form).lines() {
                assert!(crate::text::is_clean(line), "{form:?}: {line:?}");
            }
        }
    }
}

#[test]
fn an_object_that_is_gone_says_so() {
    let model = given(healthy());
    let shown = text(&model, &ObjectId::Workload(99_999), TextForm::Yaml);
    assert!(shown.contains("not in the newest picture"), "{shown}");
}

#[test]
fn labels_fit_their_column() {
    let model = given(healthy());
    let inv = model.picture().cloned().unwrap();
    for id in objects(&inv).into_iter().filter(|id| !matches!(id, ObjectId::Route(..))) {
        for line in lines(&model, &id, TextForm::Describe) {
            if let TextLine::Pair { label, .. } = line {
                assert!(crate::text::width(&label) < 18, "{id:?}: {label}");
            }
        }
    }
}
