//! Numbers, ages and times as every screen writes them: one unit, no trailing precision, UTC.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A duration in one unit: `<10s 40s 4m 2h 3d`. Negative durations count as zero.
#[must_use]
pub fn duration(d: SignedDuration) -> String {
    match d.as_secs() {
        s if s < 10 => "<10s".into(),
        s if s < MINUTE => format!("{s}s"),
        s if s < HOUR => format!("{}m", s / MINUTE),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s => format!("{}d", s / DAY),
    }
}

/// The age of late data in coarse steps, so that it rarely changes: `<30s 30s 1m 2m … 10m 20m … 1h 2h … 2d`.
#[must_use]
pub fn late_age(d: SignedDuration) -> String {
    match d.as_secs() {
        s if s < 30 => "<30s".into(),
        s if s < MINUTE => "30s".into(),
        s if s < 10 * MINUTE => format!("{}m", s / MINUTE),
        s if s < HOUR => format!("{}m", s / (10 * MINUTE) * 10),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s => format!("{}d", s / DAY),
    }
}

/// The age that fresh data never exceeds: `<15s`, `<45s`, `<2m`.
#[must_use]
pub fn fresh_age(bound: SignedDuration) -> String {
    match bound.as_secs().max(1) {
        s if s < 2 * MINUTE => format!("<{s}s"),
        s => format!("<{}m", (s + MINUTE - 1) / MINUTE),
    }
}

/// Minute of day in UTC: `11:03Z`.
#[must_use]
pub fn minute(at: Timestamp) -> String {
    Offset::UTC.to_datetime(at).strftime("%H:%MZ").to_string()
}

/// A moment seen from `now`: `11:03Z` today, else the day, `24 Nov`; with the year when it is another one.
#[must_use]
pub fn when(at: Timestamp, now: Timestamp) -> String {
    let (at, now) = (Offset::UTC.to_datetime(at), Offset::UTC.to_datetime(now));
    if at.date() == now.date() {
        at.strftime("%H:%MZ").to_string()
    } else if at.year() == now.year() {
        at.strftime("%-d %b").to_string()
    } else {
        at.strftime("%-d %b %Y").to_string()
    }
}

/// A moment to the minute: `11:03Z` today, else with its day, `24 Nov 06:10Z`.
#[must_use]
pub fn moment(at: Timestamp, now: Timestamp) -> String {
    let day = when(at, now);
    let minute = minute(at);
    if day == minute { minute } else { format!("{day} {minute}") }
}

/// A moment to the second, as evidence has it: `11:03:20Z` today, else with its day, `24 Nov 06:10:02Z`.
#[must_use]
pub fn stamp(at: Timestamp, now: Timestamp) -> String {
    let day = when(at, now);
    let seconds = Offset::UTC.to_datetime(at).strftime("%H:%M:%SZ").to_string();
    if day == minute(at) { seconds } else { format!("{day} {seconds}") }
}

/// A count with separators: `1,284,551`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A count for a narrow column: with separators up to seven digits, then `12.8M`, `4.1G`.
#[must_use]
pub fn count_narrow(n: u64) -> String {
    if n < 10_000_000 { count(n) } else { scaled(to_f64(n), 1000.0, &["", "k", "M", "G", "T", "P", "E"]) }
}

/// Memory or disk in binary units: `610M`, `1.2G`, `64.0G`, `120G`; below one mebibyte `0M`.
#[must_use]
pub fn size(bytes: u64) -> String {
    let mib = to_f64(bytes) / (1024.0 * 1024.0);
    if mib < 1000.0 { format!("{mib:.0}M") } else { scaled(mib, 1024.0, &["M", "G", "T", "P"]) }
}

/// A rate of bytes in decimal units, the `/s` left to the column: `0 B`, `9.4 kB`, `212 kB`, `1.5 MB`.
#[must_use]
pub fn byte_rate(per_second: f64) -> String {
    let per_second = per_second.max(0.0);
    if per_second < 1000.0 {
        format!("{per_second:.0} B")
    } else {
        scaled(per_second, 1000.0, &["", " kB", " MB", " GB", " TB"])
    }
}

/// A rate of events: `0`, `0.4`, `12`, `1.2k`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    let per_second = per_second.max(0.0);
    if per_second >= 1000.0 {
        scaled(per_second, 1000.0, &["", "k", "M", "G"])
    } else if per_second > 0.0 && per_second < 9.95 && per_second.fract() > 0.05 {
        format!("{per_second:.1}")
    } else {
        format!("{per_second:.0}")
    }
}

/// A fraction as percent without decimals.
#[must_use]
pub fn percent(fraction: f64) -> String {
    format!("{:.0}%", (fraction * 100.0).max(0.0))
}

/// `n thing` with the plural `s`: `1 fault`, `2 faults`.
#[must_use]
pub fn plural(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// Bars of a trend, oldest first, scaled to the largest value; nothing at all is a flat line.
#[must_use]
pub fn trend(history: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = history.iter().copied().max().unwrap_or(0).max(1);
    let bar = |v: u64| {
        let step = usize::try_from(u128::from(v) * 7 / u128::from(top)).unwrap_or(7);
        BARS.get(step).copied().unwrap_or('█')
    };
    history.iter().map(|v| bar(*v)).collect()
}

/// Runs of numbers in order: `6, 8–62`.
#[must_use]
pub fn ranges(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for n in numbers {
        match runs.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(n) => *end = n,
            _ => runs.push((n, n)),
        }
    }
    let text = |(a, b): &(u32, u32)| match b - a {
        0 => a.to_string(),
        1 => format!("{a}, {b}"),
        _ => format!("{a}–{b}"),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
const fn to_f64(n: u64) -> f64 {
    n as f64
}

/// `value` with the first unit that leaves fewer than four digits: one decimal below 100, none above.
fn scaled(mut value: f64, base: f64, units: &[&str]) -> String {
    let mut units = units.iter().peekable();
    let mut unit = "";
    while let Some(next) = units.next() {
        unit = next;
        if value < 999.5 || units.peek().is_none() {
            break;
        }
        value /= base;
    }
    if value < 99.95 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: i64) -> SignedDuration {
        SignedDuration::from_secs(seconds)
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn durations_have_one_unit() {
        let all = [0, 9, 10, 59, 60, 3599, 3600, 86_400, 172_800, -5].map(|n| duration(s(n)));
        assert_eq!(all, ["<10s", "<10s", "10s", "59s", "1m", "59m", "1h", "24h", "2d", "<10s"]);
    }

    #[test]
    fn late_ages_come_in_steps() {
        let all = [16, 31, 60, 119, 599, 600, 1199, 1200, 3599, 3600, 7300, 200_000].map(|n| late_age(s(n)));
        assert_eq!(all, ["<30s", "30s", "1m", "1m", "9m", "10m", "10m", "20m", "50m", "1h", "2h", "2d"]);
    }

    #[test]
    fn fresh_data_shows_its_bound() {
        assert_eq!([15, 45, 119, 150].map(|n| fresh_age(s(n))), ["<15s", "<45s", "<119s", "<3m"]);
    }

    #[test]
    fn moments_name_the_day_only_when_it_is_another() {
        let now = at("2026-11-29T11:03:20Z");
        assert_eq!(when(at("2026-11-29T10:58:00Z"), now), "10:58Z");
        assert_eq!(when(at("2026-11-24T06:10:00Z"), now), "24 Nov");
        assert_eq!(when(at("2025-11-24T06:10:00Z"), now), "24 Nov 2025");
        assert_eq!(moment(at("2026-11-24T06:10:00Z"), now), "24 Nov 06:10Z");
        assert_eq!(moment(at("2026-11-29T06:10:00Z"), now), "06:10Z");
        assert_eq!(stamp(at("2026-11-29T06:10:02Z"), now), "06:10:02Z");
        assert_eq!(stamp(at("2026-11-24T06:10:02Z"), now), "24 Nov 06:10:02Z");
    }

    #[test]
    fn counts_are_grouped_and_shortened() {
        assert_eq!([0, 999, 1000, 1_284_551].map(count), ["0", "999", "1,000", "1,284,551"]);
        assert_eq!(count_narrow(9_918_400), "9,918,400");
        assert_eq!(count_narrow(12_800_000), "12.8M");
        assert_eq!(count_narrow(u64::MAX), "18.4E");
    }

    #[test]
    fn sizes_are_binary_and_rates_decimal() {
        let mib = 1024 * 1024;
        let all = [0, 610 * mib, 999 * mib, 1024 * mib, 1229 * mib, 64 * 1024 * mib, 120 * 1024 * mib].map(size);
        assert_eq!(all, ["0M", "610M", "999M", "1.0G", "1.2G", "64.0G", "120G"]);
        assert_eq!(
            [0.0, 999.0, 9_400.0, 212_000.0, 1_500_000.0].map(byte_rate),
            ["0 B", "999 B", "9.4 kB", "212 kB", "1.5 MB"]
        );
        assert_eq!([0.0, 0.4, 12.0, 148.4, 1_200.0].map(rate), ["0", "0.4", "12", "148", "1.2k"]);
        assert_eq!(percent(0.021), "2%");
    }

    #[test]
    fn trends_scale_to_their_largest_value() {
        assert_eq!(trend(&[0, 1, 7]), "▁▂█");
        assert_eq!(trend(&[0, 0]), "▁▁");
        assert_eq!(trend(&[u64::MAX, 0]), "█▁");
    }

    #[test]
    fn free_numbers_are_given_as_runs() {
        assert_eq!(ranges([6].into_iter().chain(8..=62)), "6, 8–62");
        assert_eq!(ranges([1, 2, 4]), "1, 2, 4");
        assert_eq!(ranges([]), "");
    }
}
