//! Snapshots of every screen: a text grid and a style grid, so that a lost glyph, word or style fails.
//!
//! One file a picture, `snapshots/SCREEN__WxH__STATE.snap`. The style grid has one letter a cell; the legend says what
//! each stands for.

mod grid;
mod screens;
mod states;

use std::sync::Arc;

use super::keymap::Keymap;
use super::list::{ListId, Scope};
use super::model::{Focus, Model, Screen};
use super::theme::{self, Depth, Look};
use super::view::view;
use crate::inventory::{Inventory, testing};

fn look(name: &str, depth: Depth, ascii: bool) -> Arc<Look> {
    Arc::new(theme::load(name, &[], depth, ascii).expect("an embedded theme"))
}

/// A model of the site `mobile` that shows `screen` of `inv`.
fn model(inv: Arc<Inventory>, size: (u16, u16), screen: Screen) -> Model {
    let look = look("dark", Depth::True, false);
    let mut model = Model::new("mobile", size, testing::now(), look, Arc::new(Keymap::default()));
    model.inv = Some(inv);
    model.stack.push(screen);
    model
}

fn board(inv: Arc<Inventory>, size: (u16, u16), tenant: &str, pane: ListId) -> Model {
    let mut model = model(inv, size, Screen::Board { tenant: tenant.into() });
    model.board = Some(tenant.into());
    model.focus = Focus::Pane(pane);
    model.tab = pane;
    model
}

fn list(inv: Arc<Inventory>, size: (u16, u16), list: ListId, scope: Scope) -> Model {
    let mut model = model(inv, size, Screen::List { list, scope });
    model.focus = Focus::Pane(list);
    model
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
