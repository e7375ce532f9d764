//! Whether pasted results are of what was to be run.

use super::{Leg, Reading, Refusal};

/// The results and the leg of each; all of them have to fit one.
///
/// # Errors
/// [`Refusal::Other`] and [`Refusal::Source`], by the first that does not fit.
pub fn fit(readings: Vec<Reading>, legs: &[Leg]) -> Result<Vec<(usize, Reading)>, Refusal> {
    readings.into_iter().map(|reading| Ok((one(&reading, legs)?, reading))).collect()
}

fn one(reading: &Reading, legs: &[Leg]) -> Result<usize, Refusal> {
    let at = legs.iter().position(|leg| leg.ask.tried() == reading.tried);
    let Some((at, leg)) = at.and_then(|at| Some((at, legs.get(at)?))) else {
        let wanted: Vec<String> = legs.iter().map(|leg| leg.ask.tried().words()).collect();
        let wanted = if wanted.is_empty() { "nothing".to_owned() } else { wanted.join(", ") };
        return Err(Refusal::Other { got: reading.tried.words(), wanted });
    };
    match reading.source {
        Some(got) if !leg.from.nets.is_empty() && !leg.from.nets.iter().any(|net| net.contains(&got)) => {
            Err(Refusal::Source { got, wanted: leg.from.label() })
        }
        _ => Ok(at),
    }
}
