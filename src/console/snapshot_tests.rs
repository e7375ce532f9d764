//! Snapshots of every screen: a text grid and a style grid, so that a lost glyph, word or style fails.
//!
//! One file a picture, `snapshots/SCREEN__WxH__STATE.snap`. The style grid has one letter a cell; the legend says what
//! each stands for.

mod changes;
mod checkins;
mod diagnose;
mod grid;
mod hostile;
mod isolation;
mod perimeter;
mod resolve;
mod rules;
mod screens;
mod sizes;
mod states;

use std::sync::Arc;

use super::keymap::Keymap;
use super::list::{ListId, Scope};
use super::model::{Focus, Model, Overlay, Screen};
use super::msg::Msg;
use super::theme::{self, Depth, Look};
use super::update::{self, update};
use super::view::view;
use crate::inventory::{Inventory, testing};

const COMPACT: (u16, u16) = (80, 24);
const DESIGN: (u16, u16) = (120, 40);

fn look(name: &str, depth: Depth, ascii: bool) -> Arc<Look> {
    Arc::new(theme::load(name, &[], depth, ascii).expect("an embedded theme"))
}

/// A model of the site `mobile` that shows `screen` of `inv`.
fn model(inv: Arc<Inventory>, size: (u16, u16), screen: Screen, focus: Focus) -> Model {
    let look = look("dark", Depth::True, false);
    let mut model = Model::new("mobile", size, testing::now(), look, Arc::new(Keymap::default()));
    update::start(&mut model);
    model.stack = vec![Screen::Tenants];
    if screen != Screen::Tenants {
        model.stack.push(screen);
        model.parked.push(Focus::Rail);
    }
    model.focus = focus;
    update(&mut model, Msg::Inventory(inv));
    model
}

fn tenants(inv: Arc<Inventory>, size: (u16, u16)) -> Model {
    model(inv, size, Screen::Tenants, Focus::Rail)
}

fn board(inv: Arc<Inventory>, size: (u16, u16), tenant: &str, pane: ListId) -> Model {
    let mut model = model(inv, size, Screen::Board { tenant: tenant.into() }, Focus::Pane(pane));
    model.tab = pane;
    refreshed(model)
}

fn list(inv: Arc<Inventory>, size: (u16, u16), list: ListId, scope: Scope) -> Model {
    model(inv, size, Screen::List { list, scope }, Focus::Pane(list))
}

/// The model after its own picture came in again: what was changed by hand is computed anew.
fn refreshed(mut model: Model) -> Model {
    if let Some(inv) = model.inv.clone() {
        update(&mut model, Msg::Inventory(inv));
    }
    model
}

fn with(mut model: Model, overlay: Overlay) -> Model {
    model.overlay = overlay;
    refreshed(model)
}

fn filtered(mut model: Model, text: &str) -> Model {
    let key = model.focused().expect("a list with the keys");
    model.lists.get_mut(&key).expect("its state").filter = text.into();
    refreshed(model)
}

/// Compares the picture of `model` with `snapshots/NAME__WxH__STATE.snap`.
fn check(model: &Model, name: &str, state: &str) {
    let (w, h) = model.size;
    let screen = view(model);
    grid::assert_whole(&screen.buffer, (w, h));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("{name}__{w}x{h}__{state}"), grid::render(&screen)));
}
