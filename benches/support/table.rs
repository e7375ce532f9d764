//! Rows of the budget table, printed as they are measured.

use std::time::Duration;

/// The head of the table.
pub fn head() {
    println!("{:<52} {:>16} {:>12} {:>18}  ok", "what", "required", "aimed at", "measured");
    println!("{}", "-".repeat(106));
}

/// One budget: `required` and `aimed` are upper bounds in the unit of `measured`.
pub fn row(what: &str, unit: &str, required: Option<f64>, aimed: Option<f64>, measured: f64) {
    let bound = |bound: Option<f64>| bound.map_or_else(|| "-".into(), |n| format!("≤ {} {unit}", short(n)));
    let ok = match (required, aimed) {
        (Some(required), _) if measured > required => "NO",
        (_, Some(aimed)) if measured > aimed => "yes, not the aim",
        (None, None) => "",
        _ => "yes",
    };
    let measured = format!("{} {unit}", short(measured));
    println!("{what:<52} {:>16} {:>12} {measured:>18}  {ok}", bound(required), bound(aimed));
}

/// A line that is no number.
pub fn note(what: &str, text: &str) {
    println!("{what:<52} {text}");
}

fn short(n: f64) -> String {
    if n >= 100.0 || n.fract() == 0.0 { format!("{n:.0}") } else { format!("{n:.2}") }
}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The value below which `part` of all lie.
pub fn percentile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index"
    )]
    let at = ((sorted.len().saturating_sub(1)) as f64 * part).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}
