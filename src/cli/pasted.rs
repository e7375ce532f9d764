//! `--pasted FILE`: results that somebody ran in a workload or on another segment, beside what is read.

use std::io::{Read, Write};
use std::path::Path;

use super::Failure;
use super::args::Format;
use crate::diagnose::evidence::{Evidence, Item};
use crate::diagnose::facts::Facts;
use crate::diagnose::pasted::{Block, Refusal, document, fit, item, read};
use crate::diagnose::rules::matrix::{About, Matrix};
use crate::runtime::clock;
use crate::runtime::who::user;

/// What a file of results may hold, in bytes: as many as a document has, of the usual size.
const LARGEST: u64 = 8 << 20;

/// What stands above a table of this site, and the cause for which it may be empty.
pub(super) fn about(site: &str, cause: Option<String>) -> About {
    About { site: site.to_owned(), by: user(), version: env!("CARGO_PKG_VERSION").to_owned(), cause }
}

/// The results in `file` (`-` = standard input), each of a form that can be read.
///
/// # Errors
/// When it cannot be read, or a result in it cannot: with its line and the reason.
pub(super) fn blocks(file: &Path) -> Result<Vec<Block>, Failure> {
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let io = |e: std::io::Error| {
        Failure::usage(format!("{name}: {e}"), "name a file with pasted results, or - for standard input")
    };
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().take(LARGEST + 1).read_to_end(&mut bytes).map_err(io)?;
    } else {
        std::fs::File::open(file).map_err(io)?.take(LARGEST + 1).read_to_end(&mut bytes).map_err(io)?;
    }
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::usage(format!("{name} is larger than {} MiB", LARGEST >> 20), "paste less"));
    }
    let short = file.file_name().map_or_else(|| name.clone(), |name| name.to_string_lossy().into_owned());
    let short = if file == Path::new("-") { name.clone() } else { short };
    let text = String::from_utf8_lossy(&bytes);
    let all =
        document(&text, &short, &user(), clock::system()()).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    for block in &all {
        drop(read(&block.text).map_err(|why| refused(block, &why))?);
    }
    Ok(all)
}

fn refused(block: &Block, why: &Refusal) -> Failure {
    let from = crate::text::clean(&block.given.from).into_owned();
    Failure::usage(format!("{}:{}: not taken from {from}: {why}", block.given.via, block.line), why.help())
}

/// Puts `blocks` beside what was read; all of them have to fit what is to be run there.
///
/// # Errors
/// The first that does not fit, with its line and the reason.
pub(super) fn add(evidence: &mut Evidence, blocks: &[Block]) -> Result<(), Failure> {
    if blocks.is_empty() {
        return Ok(());
    }
    let matrix = Matrix::of(&Facts::of(evidence));
    let mut items: Vec<Item> = Vec::new();
    for (n, block) in (1..).zip(blocks) {
        let legs = matrix.legs_of(&block.given.from);
        if legs.is_empty() {
            let from = crate::text::clean(&block.given.from).into_owned();
            let known: Vec<&str> = matrix.senders.iter().map(|sender| sender.name.as_str()).collect();
            return Err(Failure::usage(
                format!("{}:{}: nothing is to be run in {from}", block.given.via, block.line),
                format!("`from:` names a tenant, a segment or an exit node: {}", known.join(", ")),
            ));
        }
        let fitting = read(&block.text).and_then(|readings| fit(readings, &legs));
        let fitting = fitting.map_err(|why| match why {
            Refusal::Other { got, .. } => {
                let wanted = format!("one of the {} legs of {}", legs.len(), block.given.from);
                refused(block, &Refusal::Other { got, wanted })
            }
            why => refused(block, &why),
        })?;
        for (_, reading) in fitting {
            super::open::note(&format!("{}:{}: read as {}", block.given.via, block.line, reading.words()));
        }
        items.push(item(&block.given, n, &block.text));
    }
    evidence.items.extend(items);
    Ok(())
}

/// The pasted results for people; nothing where there are none.
///
/// # Errors
/// When it cannot be written.
pub(super) fn people_above(out: &mut dyn Write, matrix: &Matrix, format: Format) -> Result<(), Failure> {
    if format != Format::Table {
        return Ok(());
    }
    for shown in &matrix.pasted {
        let words: Vec<String> = shown.results.iter().map(|result| result.reading.words()).collect();
        let old = if shown.aged { " (too old to count)" } else { "" };
        let given = &shown.given;
        writeln!(out, "pasted by {} from {}, {}{old}: {}", given.by, given.from, given.at, words.join(", "))?;
    }
    Ok(())
}
