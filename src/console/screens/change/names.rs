//! Names of steps in a column: cut so that what tells them apart stays on screen.

use ratatui::layout::Rect;

use super::folded;
use crate::console::theme::Role;
use crate::console::widgets::canvas::{Bit, Canvas};
use crate::provision::plan::Plan;
use crate::text::{Charset, Cut, cut};

/// The names of a plan's steps, each in at most `cells`.
pub fn of(canvas: &Canvas<'_>, plan: &Plan, cells: usize) -> Vec<String> {
    let all: Vec<String> =
        plan.steps.iter().map(|step| canvas.plain(&step.object.ensure().name()).into_owned()).collect();
    apart(&all, cells, canvas.charset())
}

/// Title and first rows of what is told of one step: its name stands there whole, whatever a column cut.
pub fn whole(canvas: &Canvas<'_>, area: Rect, (at, name): (usize, &str), right: &[Bit]) -> (String, Vec<Vec<Bit>>) {
    let title = format!("step {} · {name}", at + 1);
    if canvas.width(&title) + canvas.bits_width(right) + 6 <= area.width {
        return (title, Vec::new());
    }
    (format!("step {}", at + 1), folded(canvas, area, name, Role::Title))
}

/// Characters in which two cut names have to differ to be told apart at a glance.
const GLANCE: usize = 3;

/// A name is cut in its middle: its end tells as much as its head. Where two would look alike then, each is shown from where they
/// begin to differ.
fn apart(all: &[String], cells: usize, charset: Charset) -> Vec<String> {
    let short: Vec<String> = all.iter().map(|name| cut(name, cells, Cut::Middle, charset).into_owned()).collect();
    let telling = |(name, own): (&String, &String)| {
        let others = all.iter().zip(&short).filter(|(other, _)| *other != name);
        let alike = others.filter(|(_, short)| name != own && differing(own, short) < GLANCE);
        let differ = alike.map(|(other, _)| shared(name, other)).max();
        let Some(rest) = differ.and_then(|from| name.get(from..)) else { return own.clone() };
        let head: String = cut(name, (cells / 3).max(1), Cut::End, charset).into_owned();
        let room = cells.saturating_sub(crate::text::width(&head));
        format!("{head}{}", cut(rest, room, Cut::End, charset))
    };
    all.iter().zip(&short).map(telling).collect()
}

/// Places at which two cut names differ.
fn differing(one: &str, other: &str) -> usize {
    let (a, b) = (one.chars().count(), other.chars().count());
    one.chars().zip(other.chars()).filter(|(a, b)| a != b).count() + a.abs_diff(b)
}

/// Bytes that two names begin with together.
fn shared(one: &str, other: &str) -> usize {
    let same = one.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
    same.map_or_else(|| one.len().min(other.len()), |((at, _), _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_names_apart_stays() {
        let all = [
            "default route of vrf_demo in frr.conf.local of dv02hyp002p02",
            "default route of vrf_demo on dv02hyp002p02",
            "zone 129.20.10.in-addr.arpa",
            "VM 2040 demo-app from fedora-tenant-44",
            "VM 2040 demo-app",
            "default route of vrf_demo on dv02hyp002p02",
        ]
        .map(str::to_owned);
        let short = apart(&all, 26, Charset::Unicode);
        assert_eq!(short[0], "default…in frr.conf.local…");
        assert_eq!(short[1], "default…on dv02hyp002p02");
        assert_eq!(short[2], "zone 129.20.1…in-addr.arpa");
        assert_eq!(short[3], "VM 2040 demo-…ra-tenant-44");
        assert_eq!(short[4], "VM 2040 demo-app");
        assert_eq!(short[5], short[1], "one name, twice");
        let wide = apart(&all, 32, Charset::Unicode);
        assert_eq!(wide[0], "default r…in frr.conf.local of …", "a letter at the cut is no difference");
        assert_eq!(wide[1], "default r…on dv02hyp002p02");
        assert!(short.iter().all(|name| crate::text::width(name) <= 26), "{short:?}");
        assert_eq!(apart(&all, 80, Charset::Unicode), all);
    }
}
