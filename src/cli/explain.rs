//! `explain DIR`: findings from an evidence bundle, without a network.

use std::path::Path;

use super::args::Format;
use super::{Code, Failure, check, findings};
use crate::diagnose::collect::report;
use crate::diagnose::evidence::load;
use crate::diagnose::facts::Facts;
use crate::diagnose::rules::matrix::Matrix;

/// Runs the verb.
pub(super) fn run(dir: &Path, table: bool, format: Format) -> Result<Code, Failure> {
    let evidence = load(dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    let (report, facts) = (report(&evidence), Facts::of(&evidence));
    let matrix = Matrix::of(&facts);
    let out = &mut std::io::stdout();
    if table {
        let site = facts.site.as_ref().map_or("not named", |site| site.name.as_str());
        check::table(out, &facts, &matrix, (site, None), format)?;
        return Ok(findings::code(&report));
    }
    check::show(out, &report, &matrix, evidence.at(), format)
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
