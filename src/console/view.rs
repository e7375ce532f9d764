//! `view`: the picture of a model. Pure: the same model gives the same cells.

pub mod ctx;
pub mod field;
mod footer;
mod header;
pub(in crate::console) mod overlay;
mod paste;

use std::sync::Arc;

use ratatui::layout::Rect;

use super::list::{Cx, ListId, Scope};
use super::model::{Layout, Model, Screen};
use super::msg::Screenful;
use super::screens;
use super::widgets::canvas::{Bit, Canvas};
use ctx::Ctx;

/// Draws the model.
#[must_use]
pub fn view(model: &Model) -> Screenful {
    let mut canvas = Canvas::new(model.size, &model.look);
    if model.layout() == Layout::TooSmall {
        screens::too_small::draw(&mut canvas, model);
        return canvas.finish();
    }
    let (width, height) = model.size;
    header::header(&mut canvas, model, 0);
    header::breadcrumb(&mut canvas, model, 1);
    let message = footer::message(&canvas, model);
    let end = height - 1 - message.rows();
    body(&mut canvas, model, Rect::new(0, 2, width, end - 2));
    footer::draw(&mut canvas, message, end);
    footer::hints(&mut canvas, model, height - 1);
    overlay::draw(&mut canvas, model);
    canvas.finish()
}

/// What drawing looks at; `None` before the first picture.
#[must_use]
pub fn ctx(model: &Model) -> Option<Ctx<'_>> {
    let inv = model.picture()?;
    Some(Ctx { model, cx: Cx { inv, now: model.now } })
}

fn body(canvas: &mut Canvas<'_>, model: &Model, area: Rect) {
    // Plans and runs need no picture.
    if let Screen::Change(page) = model.screen() {
        return screens::change::draw(canvas, model, area, page);
    }
    let Some(ctx) = ctx(model) else {
        let text = Rect { x: 2, y: area.y + 1, width: area.width - 4, height: 2 };
        canvas.flow(text, &[Bit::muted("Reading the site. Keys work meanwhile.")]);
        return;
    };
    let ctx = &ctx;
    let plain = screens::list::Options::default();
    match model.screen() {
        Screen::Tenants if model.layout() <= Layout::Compact => {
            screens::list::draw(canvas, ctx, area, (ListId::Tenants, &Scope::All), plain);
        }
        Screen::Board { tenant } if model.layout() <= Layout::Compact => compact_board(canvas, ctx, area, tenant),
        Screen::Tenants | Screen::Board { .. } => screens::board::draw(canvas, ctx, area),
        Screen::List { list: ListId::Vrfs, scope } => screens::vrfs::draw(canvas, ctx, area, scope),
        Screen::List { list: ListId::Checkins, scope } => screens::checkins::draw(canvas, ctx, area, scope),
        Screen::List { list: ListId::Records, scope } => screens::records::draw(canvas, ctx, area, scope),
        Screen::List { list: ListId::Rules, scope } => screens::rules::draw(canvas, ctx, area, scope),
        Screen::List { list, scope } => {
            screens::list::draw(canvas, ctx, area, (*list, scope), plain);
        }
        Screen::Overview => screens::overview::draw(canvas, ctx, area),
        Screen::Fabric => screens::fabric::draw(canvas, ctx, area),
        Screen::Activity => screens::activity::draw(canvas, ctx, area),
        Screen::Sources => {
            screens::list::draw(canvas, ctx, area, (ListId::Sources, &Scope::All), plain);
        }
        Screen::Text { subject, form, scroll } => screens::text::draw(canvas, ctx, area, (subject, *form), *scroll),
        Screen::Resolve { scroll } => screens::resolve::draw(canvas, ctx, area, *scroll),
        Screen::Change(_) => {}
        Screen::Isolation { .. } => screens::isolation::draw(canvas, ctx, area),
        Screen::Cell { .. } => screens::isolation::cell(canvas, ctx, area),
        Screen::Diagnose { .. } => screens::diagnose::draw(canvas, ctx, area),
        Screen::Finding { .. } => screens::diagnose::finding(canvas, ctx, area),
        Screen::Evidence { .. } => screens::evidence::draw(canvas, ctx, area),
    }
}

/// One pane at full width under its tab bar.
fn compact_board(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect, tenant: &Arc<str>) {
    screens::tabs::draw(canvas, ctx, Rect { height: 1, ..area }, tenant);
    let rest = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let scope = Scope::Tenant(Arc::clone(tenant));
    let opts = screens::list::Options { tabbed: true, ..screens::list::Options::default() };
    screens::list::draw(canvas, ctx, rest, (ctx.model.tab, &scope), opts);
}
