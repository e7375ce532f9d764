//! The table as Markdown, for a change record: what was looked at, when and by whom, what it means, what was not run.

use std::fmt::Write as _;

use super::super::packets::{MISSES, Packets};
use super::{Config, Matrix, Traffic};
use crate::diagnose::pasted::Came;

/// What stands above the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Site.
    pub site: String,
    /// Who asked.
    pub by: String,
    /// Version of this program.
    pub version: String,
    /// The cause for which there may be nothing to tell, in one sentence.
    pub cause: Option<String>,
}

/// Most cells that are told in a sentence each, and most legs whose commands are listed.
const MOST: usize = 200;

fn mark(config: Config) -> &'static str {
    match config {
        Config::Blocked => "✓",
        Config::Weak => "!",
        Config::Open => "✗",
        Config::Unknown => "?",
    }
}

fn second(traffic: &Traffic) -> &'static str {
    match traffic {
        Traffic::NotRun | Traffic::Aged => "◇",
        Traffic::Partly { .. } => "…",
        Traffic::Blocked => "✓",
        Traffic::Open { .. } => "✗",
        Traffic::Unclear { .. } | Traffic::Contradictory { .. } => "?",
    }
}

const fn third(packets: &Packets) -> &'static str {
    match packets {
        Packets::Isolated(_) => "✓",
        Packets::Answered(_) => "✗",
        Packets::NotProven(_) => "?",
    }
}

fn escaped(text: &str) -> String {
    crate::text::clean(text).replace('|', "\\|")
}

/// The table of `matrix` as Markdown.
#[must_use]
pub fn markdown(matrix: &Matrix, about: &About) -> String {
    let mut out = String::new();
    let at =
        matrix.at.map_or_else(|| "at an unknown time".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string());
    // Writing to a string cannot fail.
    let _ = writeln!(out, "**Isolation of tenants**, site {}, {at}\n", escaped(&about.site));
    let read: Vec<&str> = matrix.nodes.iter().filter(|n| !matrix.unread.contains(n)).map(String::as_str).collect();
    let mut nodes = if read.is_empty() { "none".to_owned() } else { read.join(", ") };
    if !matrix.unread.is_empty() {
        let _ = write!(nodes, "; NOT read: {}", matrix.unread.join(", "));
    }
    let _ = writeln!(out, "- run by {}, deevnet-console {}", escaped(&about.by), about.version);
    let _ = writeln!(out, "- exit nodes read: {}", escaped(&nodes));
    let _ = writeln!(
        out,
        "- {} ordered pairs of tenants, {} of them looked up on an exit node; {} cells, {} unknown, {} proven by traffic, \
         {} not",
        matrix.pairs(),
        matrix.looked_up,
        matrix.iter().count(),
        matrix.count(Config::Unknown),
        matrix.proven(),
        matrix.not_run()
    );
    if let Some(cause) = about.cause.as_ref().filter(|_| matrix.iter().next().is_none()) {
        let _ = writeln!(out, "\n**There is no pair to tell of.** {}", escaped(cause));
        return crate::text::clean_lines(&out);
    }
    out.push_str(
        "\nFirst mark, routes and rules: ✓ blocked, ! one of two barriers gone, ✗ open, ? unknown. Second mark, traffic from a \
         workload, as pasted by a person: ✓ every leg timed out, ✗ something answered, … some legs run, ? decides nothing, ◇ \
         not run here. A refused connection counts as an answer. Third mark, where there is one, packets that an exit node sent \
         from the tenant's VRF: ✓ none got there and the probe works, ✗ something answered, ? not proven. No cell is proven by \
         configuration alone.\n\n",
    );
    table(&mut out, matrix);
    sentences(&mut out, matrix);
    packets(&mut out, matrix);
    keys(&mut out, matrix);
    pasted(&mut out, matrix);
    not_run(&mut out, matrix);
    crate::text::clean_lines(&out)
}

fn table(out: &mut String, matrix: &Matrix) {
    let shown: Vec<usize> =
        (0..matrix.targets.len()).filter(|c| matrix.iter().any(|(_, column, _)| column == *c)).collect();
    out.push_str("| from \\ to |");
    for column in &shown {
        let _ = write!(out, " {} |", escaped(matrix.targets.get(*column).map_or("", |target| &target.name)));
    }
    out.push_str("\n| --- |");
    out.push_str(&" --- |".repeat(shown.len()));
    out.push('\n');
    for (row, sender) in matrix.senders.iter().enumerate() {
        if !matrix.iter().any(|(r, ..)| r == row) {
            continue;
        }
        let _ = write!(out, "| {} |", escaped(&sender.name));
        for column in &shown {
            match matrix.cell(row, *column) {
                Some(cell) => {
                    let third = cell.packets.iter().map(|came| format!(" {}", third(came))).collect::<String>();
                    let _ = write!(out, " {} {}{third} |", mark(cell.config), second(&cell.traffic));
                }
                None => out.push_str(" – |"),
            }
        }
        out.push('\n');
    }
}

/// Every cell that is not as it ought to be, in a sentence.
fn sentences(out: &mut String, matrix: &Matrix) {
    let quiet = |traffic: &Traffic| matches!(traffic, Traffic::NotRun | Traffic::Blocked);
    let told: Vec<_> =
        matrix.iter().filter(|(.., cell)| cell.config != Config::Blocked || !quiet(&cell.traffic)).collect();
    if !told.is_empty() {
        out.push_str("\nNot as it ought to be, or not known:\n\n");
    }
    for (row, column, cell) in told.iter().take(MOST) {
        let _ = write!(out, "- {} {}: {}", mark(cell.config), matrix.name(*row, *column), cell.sentence);
        if quiet(&cell.traffic) {
            out.push('\n');
        } else {
            let _ = writeln!(out, " Traffic: {}.", cell.traffic.words());
        }
    }
    if let Some(more) = told.len().checked_sub(MOST).filter(|more| *more > 0) {
        let _ = writeln!(out, "- and {more} more");
    }
}

/// What packets came to that exit nodes sent, pair by pair: what is proven as a count, everything else in words.
fn packets(out: &mut String, matrix: &Matrix) {
    let sent: Vec<_> = matrix.iter().filter_map(|(r, c, cell)| Some((r, c, cell.packets.as_ref()?))).collect();
    if sent.is_empty() {
        if matrix.pairs() > 0 {
            out.push_str("\nPackets from the tenants' VRFs to other tenants: none were sent\n");
        }
        return;
    }
    let isolated = sent.iter().filter(|(.., came)| matches!(came, Packets::Isolated(_))).count();
    let _ = writeln!(
        out,
        "\nPackets from the tenants' VRFs to other tenants: {isolated} of {} pairs isolated by packets ({MISSES})",
        sent.len()
    );
    let mut told = sent.iter().filter(|(.., came)| !matches!(came, Packets::Isolated(_)));
    for (n, (row, column, came)) in told.by_ref().take(MOST).enumerate() {
        let gap = if n == 0 { "\n" } else { "" };
        let _ = writeln!(
            out,
            "{gap}- {} {}: {}",
            third(came),
            escaped(&matrix.name(*row, *column)),
            escaped(&came.words())
        );
    }
    let more = told.count();
    if more > 0 {
        let _ = writeln!(out, "- and {more} more");
    }
}

/// What each tenant's update key came to on the zones of every other, where keys were tried.
fn keys(out: &mut String, matrix: &Matrix) {
    let tried: Vec<_> =
        matrix.iter().filter_map(|(row, column, cell)| Some((row, column, cell.keys.as_ref()?))).collect();
    if tried.is_empty() {
        if matrix.pairs() > 0 {
            out.push_str(
                "\nUpdate keys on the zones of others: not run here, which takes their secrets: \
                 `deevnet-console check isolation --matrix --keys`\n",
            );
        }
        return;
    }
    out.push_str("\nUpdate keys on the zones of others:\n\n");
    for (row, column, way) in tried.iter().take(MOST) {
        let _ = writeln!(out, "- {}: {}", escaped(&matrix.name(*row, *column)), escaped(&way.words()));
    }
    if let Some(more) = tried.len().checked_sub(MOST).filter(|more| *more > 0) {
        let _ = writeln!(out, "- and {more} more");
    }
}

fn pasted(out: &mut String, matrix: &Matrix) {
    if !matrix.pasted.is_empty() {
        out.push_str("\nPasted results (a person's word, not measured here):\n\n");
    }
    for shown in &matrix.pasted {
        let given = &shown.given;
        let old = if shown.aged { ", too old to count" } else { "" };
        let _ = writeln!(
            out,
            "- {}, run in {}, pasted by {} by way of {}{old}",
            given.at.strftime("%Y-%m-%d %H:%M:%SZ"),
            escaped(&given.from),
            escaped(&given.by),
            escaped(&given.via)
        );
        for result in &shown.results {
            let counts = match result.came {
                Some(Came::Right) => "as it ought to be",
                Some(Came::Wrong) => "NOT as it ought to be",
                Some(Came::Unclear) => "decides nothing",
                None => "is of no leg here",
            };
            let _ =
                writeln!(out, "  - {}: {counts}. `{}`", result.reading.words(), result.reading.line.replace('`', "'"));
        }
    }
}

/// What was not run, and the commands; each once.
fn not_run(out: &mut String, matrix: &Matrix) {
    let mut left: Vec<(String, Vec<String>)> = Vec::new();
    let mut count = 0;
    for (row, column, cell) in matrix.iter() {
        if matches!(cell.traffic, Traffic::Blocked | Traffic::Open { .. }) {
            continue;
        }
        count += 1;
        for leg in matrix.legs(row, column) {
            let Some(command) = leg.ask.command() else { continue };
            let place = match left.iter_mut().find(|(place, _)| *place == leg.from.words) {
                Some((_, commands)) => commands,
                None => {
                    left.push((leg.from.words.clone(), Vec::new()));
                    let Some((_, commands)) = left.last_mut() else { continue };
                    commands
                }
            };
            if !place.contains(&command) {
                place.push(command);
            }
        }
    }
    if count == 0 {
        return;
    }
    let _ = writeln!(out, "\nNot run here, in {count} cells, since only a workload or another segment can. To be run:");
    let mut told = 0;
    for (place, commands) in &left {
        let _ = writeln!(out, "\n- {}:", escaped(place));
        for command in commands {
            if told == MOST {
                out.push_str("  - and more: the table of one tenant lists its own\n");
                return;
            }
            told += 1;
            let _ = writeln!(out, "  - `{command}`");
        }
    }
}
