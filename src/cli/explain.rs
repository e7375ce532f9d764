//! `explain DIR`: findings from an evidence bundle, without a network.

use std::path::Path;

use super::args::Format;
use super::{Code, Failure, contract, findings};
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Check, Wanted, report};
use crate::diagnose::evidence::load;

/// Runs the verb.
pub(super) fn run(dir: &Path, format: Format) -> Result<Code, Failure> {
    let evidence = load(dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    let asked = evidence.question.as_deref().and_then(Wanted::asked);
    let whole = asked.as_ref().is_some_and(|wanted| wanted.check == Check::Contract);
    // What a check left is judged as the check judged it: of whom it was asked about.
    let (report, evidence) = match asked {
        Some(wanted) => {
            let Diagnosis { report, evidence, .. } = Diagnosis::of(&wanted, evidence, Vec::new());
            (report, evidence)
        }
        None => (report(&evidence), evidence.into()),
    };
    let clauses = contract::of(&report, &evidence);
    findings::show(&mut std::io::stdout(), &report, clauses.as_deref(), whole, evidence.at(), format)
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
