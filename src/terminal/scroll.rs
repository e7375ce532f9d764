//! Finds out that a list scrolled, from the text of its rows.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
};

use super::row::Row;

/// Rows that must find their place by moving before a move is worth its bytes.
const WORTH: usize = 3;

/// By how many rows the list in `area` moved up (positive) or down (negative), if moving it saves work.
///
/// Only the text is compared: the selection changes the style of two rows and must not hide that they moved.
pub(super) fn detect(before: &Buffer, next: &Buffer, area: Rect) -> Option<i32> {
    let whole = next.area;
    if area.x != whole.x || area.width != whole.width || area.intersection(whole) != area || area.height < 2 {
        return None;
    }
    let rows = area.top()..area.bottom();
    let mut old: HashMap<u64, Option<u16>> = HashMap::new();
    let mut in_place = 0;
    for y in rows.clone() {
        let key = text_of(before, y);
        in_place += usize::from(key == text_of(next, y));
        // Equal rows, such as blank ones, do not tell where they came from.
        old.entry(key).and_modify(|at| *at = None).or_insert(Some(y));
    }
    if in_place == usize::from(area.height) {
        return None;
    }
    let mut votes: HashMap<i32, usize> = HashMap::new();
    for y in rows {
        if let Some(Some(from)) = old.get(&text_of(next, y)) {
            *votes.entry(i32::from(*from) - i32::from(y)).or_default() += 1;
        }
    }
    let (shift, count) = votes.into_iter().max_by_key(|(shift, count)| (*count, -shift.abs(), *shift))?;
    (shift != 0 && count >= in_place + WORTH).then_some(shift)
}

/// Does to the remembered screen what the terminal does on SU and SD.
pub(super) fn shift_rows(screen: &mut Buffer, area: Rect, shift: i32) {
    let width = usize::from(screen.area.width);
    let first = usize::from(area.top() - screen.area.y) * width;
    let last = first + usize::from(area.height) * width;
    let Some(cells) = screen.content.get_mut(first..last) else { return };
    let moved = (usize::try_from(shift.unsigned_abs()).unwrap_or(usize::MAX)).saturating_mul(width).min(cells.len());
    let blank = if shift > 0 {
        cells.rotate_left(moved);
        cells.iter_mut().rev().take(moved)
    } else {
        cells.rotate_right(moved);
        // Same iterator type for both ends: the first `moved` cells, from the back.
        cells.split_at_mut(moved).0.iter_mut().rev().take(moved)
    };
    blank.for_each(Cell::reset);
}

fn text_of(buffer: &Buffer, y: u16) -> u64 {
    let mut hasher = DefaultHasher::new();
    for cell in Row::of(buffer, y).cells() {
        cell.symbol().hash(&mut hasher);
    }
    hasher.finish()
}
