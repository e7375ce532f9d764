//! What is said of a cell.

use crate::console::describe::TextLine;
use crate::console::model::Model;
use crate::console::widgets::format::{self, plural};
use crate::diagnose::pasted::{Came, Leg};
use crate::diagnose::rules::matrix::{Cell, Config, Matrix, Shown, Traffic};
use crate::diagnose::rules::packets::{MISSES, Packets};
use crate::inventory::Class;

/// Class of the first mark.
#[must_use]
pub const fn class(config: Config) -> Class {
    match config {
        Config::Blocked => Class::Fine,
        Config::Weak => Class::Warning,
        Config::Open => Class::Fault,
        Config::Unknown => Class::Unknown,
    }
}

/// Class of the second mark.
#[must_use]
pub const fn second(traffic: &Traffic) -> Class {
    match traffic {
        Traffic::NotRun | Traffic::Aged => Class::NotRun,
        Traffic::Partly { .. } => Class::Progress,
        Traffic::Blocked => Class::Fine,
        Traffic::Open { .. } => Class::Fault,
        Traffic::Unclear { .. } | Traffic::Contradictory { .. } => Class::Unknown,
    }
}

/// Class of the third mark, which stands where packets were sent.
#[must_use]
pub const fn third(packets: &Packets) -> Class {
    match packets {
        Packets::Isolated(_) => Class::Fine,
        Packets::Answered(_) => Class::Fault,
        Packets::NotProven(_) => Class::Unknown,
    }
}

/// Class of what a pasted result says about its leg.
#[must_use]
pub const fn said(came: Option<Came>) -> (Class, &'static str) {
    match came {
        Some(Came::Right) => (Class::Fine, "as it ought to be"),
        Some(Came::Wrong) => (Class::Fault, "not as it ought to be"),
        Some(Came::Unclear) => (Class::Unknown, "decides nothing"),
        None => (Class::Unknown, "is of no leg here"),
    }
}

/// Faults, warnings, cells that are unknown, cells without traffic: what stands at the right of the breadcrumb.
#[must_use]
pub fn counts(matrix: &Matrix) -> Vec<(Class, String)> {
    if matrix.iter().next().is_none() {
        return vec![(Class::Unknown, "no pair looked at".to_owned())];
    }
    let open = matrix.iter().filter(|(.., cell)| is_open(cell)).count();
    let mut out = vec![(if open > 0 { Class::Fault } else { Class::Fine }, format!("{open} open"))];
    let mut more = |class, count: usize, words: &str| {
        if count > 0 {
            out.push((class, format!("{count} {words}")));
        }
    };
    more(Class::Warning, matrix.count(Config::Weak), "with one barrier gone");
    more(Class::Unknown, matrix.count(Config::Unknown), "unknown");
    let unproven = matrix.iter().filter(|(.., cell)| matches!(cell.packets, Some(Packets::NotProven(_)))).count();
    more(Class::Unknown, unproven, "not proven by packets");
    more(Class::NotRun, matrix.not_run(), "not run here");
    out
}

fn is_open(cell: &Cell) -> bool {
    let answered = matches!(cell.packets, Some(Packets::Answered(_)));
    cell.config == Config::Open || answered || matches!(cell.traffic, Traffic::Open { .. })
}

/// The sentence of the message line: the worst cell, else how many are proven.
#[must_use]
pub fn sentence(matrix: &Matrix) -> (Class, String) {
    let all = matrix.iter().count();
    let proven = format!("{} of {} proven by traffic", matrix.proven(), plural(all, "cell"));
    let worst = matrix.worst().and_then(|(row, column)| Some((matrix.cell(row, column)?, matrix.name(row, column))));
    match worst {
        None if all == 0 => (Class::Unknown, "there is no pair of tenants to look at".to_owned()),
        None => (Class::Fine, format!("every barrier stands by routes and rules · {proven}")),
        Some((cell, name)) => match (cell.config, &cell.traffic) {
            (Config::Open, _) => (Class::Fault, format!("{name} is open: {}", cell.sentence)),
            (_, Traffic::Open { what }) => (Class::Fault, format!("{name} got through, as pasted: {what}")),
            _ if matches!(cell.packets, Some(Packets::Answered(_))) => {
                (Class::Fault, format!("{name}: {}", packets(cell)))
            }
            (Config::Weak, _) => (Class::Warning, format!("{name} has one barrier left · {proven}")),
            (_, Traffic::Contradictory { .. }) => (Class::Unknown, format!("{name}: {}", cell.traffic.words())),
            (Config::Unknown, _) => (Class::Unknown, format!("{name}: {}", cell.sentence)),
            _ => (Class::Unknown, format!("{name}: packets {}", packets(cell))),
        },
    }
}

/// What packets came to, in words; empty where none were sent.
fn packets(cell: &Cell) -> String {
    cell.packets.as_ref().map(Packets::words).unwrap_or_default()
}

/// The commands of legs, one a line, with where each is run.
#[must_use]
pub fn commands(legs: &[Leg]) -> String {
    let mut out = String::new();
    let mut place = "";
    for leg in legs {
        let Some(command) = leg.ask.command() else { continue };
        if leg.from.words != place {
            place = &leg.from.words;
            out.push_str(&format!("# {place}\n"));
        }
        out.push_str(&command);
        out.push('\n');
    }
    out
}

fn pair(label: &str, value: impl Into<String>, class: Option<Class>) -> TextLine {
    TextLine::Pair { label: label.to_owned(), value: value.into(), class }
}

/// Everything about the cell under the cursor.
#[must_use]
pub fn sheet(model: &Model) -> Vec<TextLine> {
    let (Some(matrix), Some((row, column))) = (super::matrix(model), super::cursor(model)) else {
        return vec![TextLine::Plain("It is not in the newest table.".to_owned())];
    };
    let Some(cell) = matrix.cell(row, column) else {
        return vec![TextLine::Plain("There is nothing to ask here.".to_owned())];
    };
    let mut out = vec![
        TextLine::Head(cell.sentence.clone()),
        pair("routes and rules", cell.config.word(), Some(class(cell.config))),
        pair("traffic", cell.traffic.words(), Some(second(&cell.traffic))),
    ];
    if let Some(came) = &cell.packets {
        out.push(pair("packets", came.words(), Some(third(came))));
        out.push(pair("", format!("not seen: {MISSES}"), None));
    }
    out.push(TextLine::Head("Facts".to_owned()));
    out.extend(cell.facts.iter().map(|fact| TextLine::Plain(format!("  {fact}"))));
    let legs = matrix.legs(row, column);
    out.push(TextLine::Head("To be run, since it cannot be run from here".to_owned()));
    if legs.is_empty() {
        out.push(TextLine::Plain("  nothing: no address to try is known".to_owned()));
    }
    let mut place = "";
    for leg in &legs {
        if leg.from.words != place {
            place = &leg.from.words;
            out.push(TextLine::Plain(format!("  {place}")));
        }
        let wants = match leg.wants {
            crate::diagnose::pasted::Wants::Nothing => "has to time out",
            crate::diagnose::pasted::Wants::Answer => "has to answer: it shows that the sender has a network",
        };
        let command = leg.ask.command().unwrap_or_else(|| "a name in it would have to be quoted".to_owned());
        out.push(pair("", format!("$ {command}"), None));
        out.push(pair("", format!("  {wants}"), None));
    }
    let sender = matrix.senders.get(row);
    let mine: Vec<&Shown> =
        matrix.pasted.iter().filter(|p| sender.is_some_and(|s| s.whence.is(&p.given.from))).collect();
    if !mine.is_empty() {
        out.push(TextLine::Head("Pasted: a person's word, not measured here".to_owned()));
    }
    for shown in mine {
        out.push(TextLine::Plain(format!("  {}", pasted_by(shown))));
        for result in &shown.results {
            let (class, counts) = said(result.came);
            out.push(pair("", format!("{} · {counts} · {}", result.reading.words(), result.reading.line), Some(class)));
        }
    }
    out
}

/// `10:47Z from tdemo/app, pasted by amy`.
#[must_use]
pub fn pasted_by(shown: &Shown) -> String {
    let old = if shown.aged { " · too old to count" } else { "" };
    format!("{} from {} · pasted by {}{old}", format::minute(shown.given.at), shown.given.from, shown.given.by)
}

/// `names` in at most `most` cells each, no two alike.
#[must_use]
pub fn short_names(names: &[&str], most: usize) -> Vec<String> {
    let cut = |name: &str| -> String {
        let count = name.chars().count();
        if count <= most {
            return name.to_owned();
        }
        let keep = most.saturating_sub(1);
        let (head, tail) = (keep.div_ceil(2), keep / 2);
        let start: String = name.chars().take(head).collect();
        let end: String = name.chars().skip(count - tail).collect();
        format!("{start}…{end}")
    };
    let mut out: Vec<String> = names.iter().map(|name| cut(name)).collect();
    for n in 0..out.len() {
        let twice = out.iter().take(n).any(|have| Some(have) == out.get(n));
        if let (true, Some(own)) = (twice, out.get_mut(n)) {
            // Names that are alike at both ends are told apart by their number.
            let number = format!("…{}", n + 1);
            let keep = most.saturating_sub(number.chars().count());
            *own = own.chars().take(keep).collect::<String>() + &number;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::short_names;

    #[test]
    fn short_names_stay_apart() {
        assert_eq!(short_names(&["eds", "greenhouse"], 10), ["eds", "greenhouse"]);
        let long = ["production-alpha-1", "production-alpha-2", "production-beta-1", "production-gamma-1"];
        let short = short_names(&long, 8);
        let unlike: std::collections::BTreeSet<&String> = short.iter().collect();
        assert_eq!(unlike.len(), long.len(), "{short:?}");
        assert!(short.iter().all(|name| name.chars().count() <= 8), "{short:?}");
    }
}
