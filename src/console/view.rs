//! stub
use super::{Model, Screenful};
/// stub
pub fn view(model: &Model) -> Screenful {
    let area = ratatui::layout::Rect::new(0, 0, model.size.0, model.size.1);
    Screenful {
        buffer: ratatui::buffer::Buffer::empty(area),
        cursor: None,
        cursor_visible: false,
        scroll: None,
        hits: Vec::new(),
    }
}
