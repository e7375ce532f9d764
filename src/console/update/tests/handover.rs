//! What a tenant's people are handed over: the sheet, and the secret of their key, which nothing on screen ever shows.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::console::change::{Order, Page, Sheet, Told, Whispered, page};
use crate::console::model::Saving;
use crate::provision::handover::{Keys, Listing};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::site::secret::Secret;

const CANARY: &str = "c4n4ryc4n4ryc4n4ry==";

fn keys() -> Keys {
    let zone = |zone: &str| Listing {
        zone: zone.to_owned(),
        listed: Some((vec!["tdemo".to_owned(), "tdemo-2".to_owned()], vec!["10.20.99.0/24".to_owned()])),
    };
    let there = ["tdemo", "tdemo-2"].map(|key| (key.to_owned(), "hmac-sha256".to_owned())).to_vec();
    Keys { zones: vec![zone("tdemo.mobile.deevnet.net"), zone("129.20.10.in-addr.arpa")], there }
}

fn tell(model: &mut Model, told: Told) -> Vec<Effect> {
    let id = model.changes.count;
    update(model, Msg::Change(id, Box::new(told)))
}

fn order(effects: &[Effect]) -> Option<&Order> {
    effects.iter().find_map(|e| if let Effect::Change(order) = e { Some(order) } else { None })
}

/// The sheet of the tenant under the cursor.
fn opened() -> Model {
    let mut m = given((80, 24));
    let asked = press(&mut m, "H");
    let zones = ["tdemo.mobile.deevnet.net", "129.20.10.in-addr.arpa"];
    assert!(matches!(order(&asked), Some(Order::Keys { zones: asked, .. }) if *asked == zones), "{asked:?}");
    assert!(matches!(page(&m), Some(Page::Text { of: Sheet::HandOver, .. })));
    m
}

fn known() -> Model {
    let mut m = opened();
    tell(&mut m, Told::Keys(Ok(keys())));
    m
}

#[test]
fn a_key_that_is_not_known_is_not_fetched() {
    let mut m = opened();
    for key in ["2", "3"] {
        assert!(order(&press(&mut m, key)).is_none(), "{key}");
        assert!(said(&m).contains("the key is not known"), "{}", said(&m));
    }
    tell(&mut m, Told::Keys(Err(Trouble::new(TroubleKind::NotReached, "10.20.25.21:8081 refuses connections"))));
    assert!(order(&press(&mut m, "2")).is_none());
    assert!(said(&m).contains("refuses connections"), "{}", said(&m));
    // An answer to an older question is nobody's.
    let mut m = known();
    update(&mut m, Msg::Change(0, Box::new(Told::Keys(Err(Trouble::new(TroubleKind::Unknown, "old"))))));
    assert!(m.changes.handover.as_ref().unwrap().keys.as_ref().unwrap().is_ok());
}

#[test]
fn the_newest_key_goes_into_a_file_that_is_named_and_refusals_can_be_mended() {
    let mut m = known();
    assert!(order(&press(&mut m, "2")).is_none(), "a file is asked for first");
    let asked = press(&mut m, "enter");
    let saving = |m: &Model| matches!(&m.overlay, Overlay::Save { saving: Saving::Running, .. });
    let named = |order: Option<&Order>, file: &str| matches!(order, Some(Order::Secret { key, to: Some(path), .. }) if key == "tdemo-2" && path == Path::new(file));
    assert!(named(order(&asked), "tdemo-2.key"), "{asked:?}");
    assert!(order(&press(&mut m, "enter")).is_none(), "once");
    update(&mut m, Msg::Change(0, Box::new(Told::Kept(Err("of an older order".to_owned())))));
    update(&mut m, Msg::Saved { dir: "tdemo-2.key".into(), result: Err("of a bundle".to_owned()) });
    assert!(saving(&m), "that was about something else: {:?}", m.overlay);
    tell(&mut m, Told::Kept(Err("tdemo-2.key is there already".to_owned())));
    assert!(matches!(&m.overlay, Overlay::Save { saving: Saving::Refused(why), .. } if why.contains("already")));
    type_text(&mut m, "x");
    assert!(named(order(&press(&mut m, "enter")), "tdemo-2.keyx"));
    tell(&mut m, Told::Kept(Ok("key tdemo-2 is in /tmp/tdemo-2.keyx".to_owned())));
    assert!(matches!(m.overlay, Overlay::None) && said(&m).contains("/tmp/tdemo-2.keyx"), "{}", said(&m));
}

#[test]
fn the_sheet_is_saved_and_copied_without_a_secret() {
    let mut m = known();
    press(&mut m, "1");
    let asked = press(&mut m, "enter");
    let Some(Order::Keep { path, text, .. }) = order(&asked) else { panic!("{asked:?}") };
    assert_eq!(path, Path::new("tdemo-handover.md"));
    assert!(text.contains("update key: tdemo-2, hmac-sha256") && text.contains("taken still"), "{text}");
    let mut m = known();
    let copied = press(&mut m, "c");
    assert!(copied.iter().any(|e| matches!(e, Effect::Copy(text) if text.starts_with("# Tenant tdemo"))), "{copied:?}");
}

#[test]
fn the_secret_goes_to_the_clipboard_and_nowhere_else() {
    let mut m = known();
    let asked = press(&mut m, "3");
    assert!(matches!(order(&asked), Some(Order::Secret { key, to: None, .. }) if key == "tdemo-2"), "{asked:?}");
    let whispered = Whispered(Arc::new(Secret::new(CANARY.to_owned())));
    let effects = tell(&mut m, Told::Secret(whispered.clone()));
    let got = effects.iter().any(|e| matches!(e, Effect::CopySecret(own) if *own == whispered));
    assert!(got, "{effects:?}");
    drop(effects);
    assert_eq!(Arc::strong_count(&whispered.0), 1, "the model keeps none of it");
    let shown: String = view(&m).buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
    assert!(!shown.contains(&CANARY[..8]) && !format!("{whispered:?}{:?}", m.changes.handover).contains(&CANARY[..8]));
}

/// What became of a secret that was waited for when this was done.
fn copied(meanwhile: impl FnOnce(&mut Model)) -> (bool, Model) {
    let mut m = known();
    let asked = press(&mut m, "3");
    let Some(Order::Secret { id, to: None, .. }) = order(&asked) else { panic!("{asked:?}") };
    let id = *id;
    meanwhile(&mut m);
    let told = Told::Secret(Whispered(Arc::new(Secret::new(CANARY.to_owned()))));
    let effects = update(&mut m, Msg::Change(id, Box::new(told)));
    (effects.iter().any(|e| matches!(e, Effect::CopySecret(_))), m)
}

#[test]
fn a_secret_that_comes_late_leaves_the_clipboard_alone() {
    assert!(copied(|_| ()).0);
    for (what, meanwhile) in [
        ("the sheet was left", (|m| drop(press(m, "esc"))) as fn(&mut Model)),
        ("something else was copied", |m| drop(press(m, "c"))),
        ("it was left, and come back to", |m| {
            press(m, "esc");
            press(m, "H");
        }),
    ] {
        let (copied, m) = copied(meanwhile);
        assert!(!copied && said(&m).contains("too late"), "{what}: {}", said(&m));
    }
    let newer = |m: &mut Model| {
        press(m, "1");
        press(m, "enter");
    };
    assert!(!copied(newer).0, "something newer is awaited");
}

#[test]
fn a_prompt_of_a_bundle_does_not_hear_of_a_sheet() {
    let mut m = known();
    press(&mut m, "2");
    press(&mut m, "enter");
    let id = m.changes.count;
    press(&mut m, "esc");
    press(&mut m, "esc");
    let field = tui_input::Input::new("bundle".to_owned());
    m.overlay = Overlay::Save { field, saving: Saving::Running };
    update(&mut m, Msg::Change(id, Box::new(Told::Kept(Ok("key tdemo-2 is in /tmp/tdemo-2.key".to_owned())))));
    assert!(matches!(&m.overlay, Overlay::Save { saving: Saving::Running, .. }), "{:?}", m.overlay);
    assert!(said(&m).contains("/tmp/tdemo-2.key"), "a file with a secret is always told: {}", said(&m));
}
