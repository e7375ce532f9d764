//! `ip -j -force -batch FILE`: one document a command, nothing for a command that failed (`facts/exit-node.md` §7).

use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::NotUnderstood;
use crate::backends::exit_node::clean;

/// What became of each command of a batch, in order: its document, or the words of its error. Documents stay text until
/// they are asked for: as trees, those of a large node are 20 MiB at once.
///
/// # Errors
/// When documents and failures do not add up to `commands`: then nothing can be said about which is whose.
pub fn parse(stdout: &str, stderr: &str, commands: usize) -> Result<Vec<Result<Box<RawValue>, String>>, NotUnderstood> {
    let failures = failures(stderr);
    // iproute2 6.1 opens an array and gives up when it fails on a table that does not exist.
    let whole: String = stdout.lines().filter(|line| line.trim() != "[").flat_map(|line| [line, "\n"]).collect();
    let mut documents = Vec::new();
    for document in Deserializer::from_str(&whole).into_iter::<Box<RawValue>>() {
        documents.push(document.map_err(|e| NotUnderstood::new(format!("not JSON: {e}")))?);
    }
    let failed = failures.iter().filter(|(line, _)| (1..=commands).contains(line)).count();
    if documents.len() + failed != commands || failed != failures.len() {
        let got = documents.len();
        return Err(NotUnderstood::new(format!("{commands} commands gave {got} documents and {failed} errors")));
    }
    let mut documents = documents.into_iter();
    let mut answers = Vec::with_capacity(commands);
    for line in 1..=commands {
        match failures.iter().find(|(failed, _)| *failed == line) {
            Some((_, why)) => answers.push(Err(why.clone())),
            None => answers.extend(documents.next().map(Ok)),
        }
    }
    Ok(answers)
}

/// Line number and words of each failure: the words come first, then `Command failed FILE:LINE`.
fn failures(stderr: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut said = Vec::new();
    for line in stderr.lines() {
        let number = line.strip_prefix("Command failed ").and_then(|rest| rest.rsplit(':').next()?.trim().parse().ok());
        match number {
            Some(number) => {
                let why = std::mem::take(&mut said).join("; ");
                found.push((number, if why.is_empty() { "failed without a word".to_owned() } else { why }));
            }
            None => said.push(error_words(line)),
        }
    }
    found
}

/// The kernel's words in a line of ip's stderr.
#[must_use]
pub fn error_words(line: &str) -> String {
    let line = clean::clean(line);
    let bare = line.strip_prefix("RTNETLINK answers: ").or_else(|| line.strip_prefix("Error: "));
    bare.unwrap_or(&line).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_leave_gaps_where_they_belong() {
        let stderr = "RTNETLINK answers: Invalid argument\nCommand failed /tmp/d.X/batch:2\n\
                      RTNETLINK answers: No route to host\nCommand failed -:4\n";
        let answers = parse("[{\"a\":1}]\n[]\n", stderr, 4).unwrap();
        let said: Vec<_> = answers.iter().map(|a| a.as_ref().map(|d| d.get()).map_err(String::as_str)).collect();
        assert_eq!(said, [Ok("[{\"a\":1}]"), Err("Invalid argument"), Ok("[]"), Err("No route to host")]);
    }

    #[test]
    fn the_lone_bracket_of_a_missing_table_is_no_document() {
        let stderr = "Error: ipv4: FIB table does not exist.\nDump terminated\nCommand failed -:1\n";
        let answers = parse("[\n[{\"b\":2}]\n", stderr, 2).unwrap();
        assert_eq!(answers[0].as_ref().unwrap_err(), "ipv4: FIB table does not exist; Dump terminated");
        assert_eq!(answers[1].as_ref().unwrap().get(), "[{\"b\":2}]");
    }

    #[test]
    fn what_does_not_add_up_is_not_guessed_at() {
        assert!(parse("[]\n", "", 2).is_err());
        assert!(parse("[]\n[]\n", "Command failed -:1\n", 2).is_err());
        assert!(parse("[]\n", "Command failed -:9\n", 2).is_err());
        assert!(parse("[] trailing", "", 1).is_err());
        assert!(parse("[{\"a\":", "", 1).is_err());
        assert!(parse("", "", 0).is_ok_and(|answers| answers.is_empty()));
    }
}
