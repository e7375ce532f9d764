//! `explain DIR`: findings from an evidence bundle, without a network.

use std::path::Path;

use super::args::Format;
use super::{Code, Failure, check, contract, verdict};
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Check, Wanted, report};
use crate::diagnose::evidence::load;
use crate::diagnose::facts::Facts;
use crate::diagnose::rules::matrix::Matrix;

/// Runs the verb.
pub(super) fn run(dir: &Path, table: bool, format: Format) -> Result<Code, Failure> {
    let evidence = load(dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    let asked = evidence.question.as_deref().and_then(Wanted::asked);
    let cells = asked.as_ref().is_some_and(|wanted| wanted.check == Check::Isolation);
    let whole = asked.as_ref().is_some_and(|wanted| wanted.check == Check::Contract);
    let tenant = asked.as_ref().and_then(|wanted| wanted.tenant.clone());
    // What a check left is judged as the check judged it: of whom it was asked about.
    let (report, evidence) = match asked {
        Some(wanted) => {
            let Diagnosis { report, evidence, .. } = Diagnosis::of(&wanted, evidence, Vec::new());
            (report, evidence)
        }
        None => (report(&evidence), evidence.into()),
    };
    let facts = Facts::of(&evidence);
    let matrix = check::of_tenant(Matrix::of(&facts), tenant.as_deref());
    let out = &mut std::io::stdout();
    if table {
        let site = facts.site.as_ref().map_or("not named", |site| site.name.as_str());
        let printed = check::table(out, (&facts, &report), &matrix, (site, tenant.as_deref()), format);
        return verdict(printed, check::code(&report, &matrix));
    }
    let clauses = contract::of(&report, &evidence);
    let told = check::Told { report: &report, matrix: &matrix, clauses: clauses.as_deref(), whole, cells };
    check::show(out, &told, evidence.at(), format)
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
