//! Activity: tasks of Proxmox, and everything the message line ever said.

use ratatui::layout::Rect;

use super::list::{self, Options};
use crate::console::list::{ListId, Scope};
use crate::console::view::ctx::Ctx;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::console::widgets::format;
use crate::console::widgets::frame::{Titles, rule};

/// Draws the screen into `area`.
pub fn draw(canvas: &mut Canvas<'_>, ctx: &Ctx<'_>, area: Rect) {
    let messages = if area.height >= 24 { area.height / 3 } else { 5.min(area.height / 3) };
    let opts = Options { below: Some(messages), ..Options::default() };
    let rest = list::draw(canvas, ctx, area, (ListId::Tasks, &Scope::All), opts);
    let all = &ctx.model.messages;
    let title = format!("messages · {}", all.len());
    rule(canvas, Rect { height: 1, ..rest }, &Titles { right: vec![Bit::muted("newest first")], ..Titles::new(title) });
    if all.is_empty() {
        canvas.bits((rest.x + 2, rest.y + 1), rest.width.saturating_sub(3), &[Bit::muted("Nothing was said yet.")]);
    }
    for (y, (at, notice)) in (rest.y + 1..rest.bottom()).zip(all.iter().rev()) {
        let time = format!("{:<7} ", format::when(*at, ctx.cx.now));
        let bits = [Bit::muted(time), canvas.glyph(notice.class), Bit::text(" "), Bit::text(notice.text.clone())];
        canvas.bits((rest.x + 2, y), rest.width.saturating_sub(3), &bits);
    }
}
