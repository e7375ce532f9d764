//! `explain DIR`: findings from an evidence bundle, without a network.

use std::path::Path;

use super::args::Format;
use super::{Code, Failure, findings};
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Wanted, report};
use crate::diagnose::evidence::load;

/// Runs the verb.
pub(super) fn run(dir: &Path, format: Format) -> Result<Code, Failure> {
    let evidence = load(dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    let at = evidence.at();
    let asked = evidence.question.as_deref().and_then(Wanted::asked);
    // What a check left is judged as the check judged it: of whom it was asked about.
    let report = match asked {
        Some(wanted) => Diagnosis::of(&wanted, evidence, Vec::new()).report,
        None => report(&evidence),
    };
    findings::show(&mut std::io::stdout(), &report, at, format)
}

#[cfg(test)]
mod tests {
    use crate::diagnose::catalogue;

    /// The generated part of `docs/findings.md`. `UPDATE_DOCS=1` writes it.
    #[test]
    fn the_catalogue_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/findings.md");
        crate::console::file::check_generated(path, &catalogue::markdown());
    }
}
