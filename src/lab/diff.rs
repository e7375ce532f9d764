//! Unified diffs, as `diff -u` prints them: the shortest edit (Myers 1986) in hunks with three lines of context.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Lines around a change.
const CONTEXT: usize = 3;
/// Edits beyond which the middle is replaced as a whole.
const LIMIT: i64 = 400;

/// A line and what becomes of it: ` ` stays, `-` goes, `+` comes.
type Edit<'a> = (char, &'a str);

/// Hunks that lead from `old` to `new`; `None` when they are equal.
pub(super) fn hunks(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let room = a.len().min(b.len()) - head;
    let tail = a.iter().rev().zip(b.iter().rev()).take(room).take_while(|(x, y)| x == y).count();
    let middle = |lines: &[&'_ str]| lines.len() - tail;
    let mut edits: Vec<Edit<'_>> = a.iter().take(head).map(|line| (' ', *line)).collect();
    edits.extend(shortest(a.get(head..middle(&a)).unwrap_or_default(), b.get(head..middle(&b)).unwrap_or_default()));
    edits.extend(a.iter().skip(a.len() - tail).map(|line| (' ', *line)));
    Some(print(&edits))
}

fn shortest<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<Edit<'a>> {
    let replaced = || a.iter().map(|line| ('-', *line)).chain(b.iter().map(|line| ('+', *line))).collect();
    if a.is_empty() || b.is_empty() {
        return replaced();
    }
    let ends = (length(a), length(b));
    let mut furthest = BTreeMap::from([(1, 0)]);
    let mut trace = Vec::new();
    for d in 0..=LIMIT {
        trace.push(furthest.clone());
        for k in (-d..=d).step_by(2) {
            let mut x = if comes(&furthest, d, k) { at(&furthest, k + 1) } else { at(&furthest, k - 1) + 1 };
            while line(a, x).is_some_and(|text| Some(text) == line(b, x - k)) {
                x += 1;
            }
            furthest.insert(k, x);
            if x >= ends.0 && x - k >= ends.1 {
                return walk_back(&trace, a, b);
            }
        }
    }
    replaced()
}

/// Whether the path to diagonal `k` in round `d` ends with a line that comes.
fn comes(furthest: &BTreeMap<i64, i64>, d: i64, k: i64) -> bool {
    k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1))
}

fn walk_back<'a>(trace: &[BTreeMap<i64, i64>], a: &[&'a str], b: &[&'a str]) -> Vec<Edit<'a>> {
    let (mut x, mut y) = (length(a), length(b));
    let mut out = Vec::new();
    let rounds = i64::try_from(trace.len()).unwrap_or(0);
    for (furthest, d) in trace.iter().rev().zip((0..rounds).rev()) {
        let k = x - y;
        let added = comes(furthest, d, k);
        let before = if added { k + 1 } else { k - 1 };
        let (to_x, to_y) = (at(furthest, before), at(furthest, before) - before);
        while x > to_x && y > to_y {
            x -= 1;
            y -= 1;
            out.extend(line(a, x).map(|text| (' ', text)));
        }
        if d > 0 && added {
            y -= 1;
            out.extend(line(b, y).map(|text| ('+', text)));
        } else if d > 0 {
            x -= 1;
            out.extend(line(a, x).map(|text| ('-', text)));
        }
    }
    out.reverse();
    out
}

fn at(furthest: &BTreeMap<i64, i64>, k: i64) -> i64 {
    furthest.get(&k).copied().unwrap_or(0)
}

fn length(lines: &[&str]) -> i64 {
    i64::try_from(lines.len()).unwrap_or(i64::MAX)
}

fn line<'a>(lines: &[&'a str], at: i64) -> Option<&'a str> {
    lines.get(usize::try_from(at).ok()?).copied()
}

fn print(edits: &[Edit<'_>]) -> String {
    let changes: Vec<usize> =
        edits.iter().enumerate().filter(|(_, (mark, _))| *mark != ' ').map(|(at, _)| at).collect();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for change in changes {
        let (from, to) = (change.saturating_sub(CONTEXT), (change + 1 + CONTEXT).min(edits.len()));
        match ranges.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => ranges.push((from, to)),
        }
    }
    let mut out = String::new();
    for (from, to) in ranges {
        let (before, hunk) = (edits.get(..from).unwrap_or_default(), edits.get(from..to).unwrap_or_default());
        let _ = writeln!(out, "@@ -{} +{} @@", range(before, hunk, '+'), range(before, hunk, '-'));
        for (mark, text) in hunk {
            let _ = writeln!(out, "{mark}{text}");
        }
    }
    out
}

/// `start,count` of the side that does not have the lines marked `without`.
fn range(before: &[Edit<'_>], hunk: &[Edit<'_>], without: char) -> String {
    let count = |edits: &[Edit<'_>]| edits.iter().filter(|(mark, _)| *mark != without).count();
    match (count(before), count(hunk)) {
        (start, 0) => format!("{start},0"),
        (start, 1) => (start + 1).to_string(),
        (start, lines) => format!("{},{lines}", start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::hunks;

    /// What `patch` would make of `old`.
    fn patched(old: &str, diff: &str) -> String {
        let old: Vec<&str> = old.lines().collect();
        let (mut out, mut at) = (Vec::new(), 0);
        for line in diff.lines() {
            let (mark, text) = line.split_at(1);
            match mark {
                "@" => {
                    let numbers: Vec<usize> = text[3..]
                        .split([' ', '+', '-'])
                        .next()
                        .unwrap()
                        .split(',')
                        .map(|n| n.parse().unwrap())
                        .collect();
                    let start = if numbers.get(1) == Some(&0) { numbers[0] } else { numbers[0] - 1 };
                    out.extend(&old[at..start]);
                    at = start;
                }
                "+" => out.push(text),
                _ => {
                    assert_eq!(old[at], text, "{diff}");
                    at += 1;
                    if mark == " " {
                        out.push(text);
                    }
                }
            }
        }
        out.extend(&old[at..]);
        out.iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn a_diff_leads_from_the_old_text_to_the_new() {
        let letters = |text: &str| text.chars().map(|c| format!("{c}\n")).collect::<String>();
        let texts =
            ["", "a", "abcabba", "cbabac", "abcdefghijklmnopqrstuvwxyz", "abXdefghijklmnopqrsYuvwxyz", "zzz", "azaz"];
        for old in texts.map(letters) {
            for new in texts.map(letters) {
                match hunks(&old, &new) {
                    None => assert_eq!(old, new),
                    Some(text) => assert_eq!(patched(&old, &text), new, "{text}"),
                }
            }
        }
    }

    #[test]
    fn it_is_short_and_has_three_lines_around() {
        let old: String = (0..40).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n7\n", "\nseven\n").replace("\n30\n", "\n");
        let wanted = "@@ -5,7 +5,7 @@\n 4\n 5\n 6\n-7\n+seven\n 8\n 9\n 10\n\
                      @@ -28,7 +28,6 @@\n 27\n 28\n 29\n-30\n 31\n 32\n 33\n";
        assert_eq!(hunks(&old, &new).unwrap(), wanted);
        assert_eq!(hunks("", "x\n").unwrap(), "@@ -0,0 +1 @@\n+x\n");
    }
}
