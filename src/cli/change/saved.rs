//! Plans in files, at the command line.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::cli::{Code, Failure};
use crate::provision::plan::{Preview, Question};
use crate::provision::saved::{self, Asked, Saved};

/// Writes a plan into a new file that its owner alone can read.
///
/// # Errors
/// When there is a file already, or it cannot be written.
pub(super) fn write(file: &Path, asked: &Asked, preview: &Preview) -> Result<(), Failure> {
    let failed = |why: std::io::Error| {
        let help = "give a file that is not there yet, in a directory that you may write";
        Failure::usage(format!("plan {}: {why}", file.display()), help)
    };
    let text = saved::text(asked, preview).map_err(|e| failed(e.into()))?;
    let mut out = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map_err(failed)?;
    out.write_all(text.as_bytes()).and_then(|()| out.sync_all()).map_err(failed)
}

/// Reads a plan that was saved.
///
/// # Errors
/// When it cannot be read, or is none.
pub(super) fn read(file: &Path) -> Result<Saved, Failure> {
    let failed = |why: String| Failure::usage(format!("plan {}: {why}", file.display()), "`plan … -o FILE` saves one");
    let length = std::fs::metadata(file).map_err(|e| failed(e.to_string()))?.len();
    if length > saved::MOST {
        return Err(failed(format!("{length} bytes are too many for a plan")));
    }
    let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
    saved::read(&text).map_err(failed)
}

/// A length of time as people say it.
fn long(length: SignedDuration) -> String {
    match (length.as_hours() / 24, length.as_hours(), length.as_mins()) {
        (days @ 2.., ..) => format!("{days} days"),
        (_, hours @ 2.., _) => format!("{hours} h"),
        (_, _, minutes @ 2..) => format!("{minutes} min"),
        _ => format!("{} s", length.as_secs()),
    }
}

/// When it was looked at, in words; refused where that is too long ago, unless it was said that it may be.
///
/// # Errors
/// That it is too old.
pub(super) fn age(saved: &Saved, now: Timestamp, old: bool) -> Result<String, Failure> {
    let age = saved.age(now);
    let ahead = age < SignedDuration::ZERO;
    let text = match ahead {
        true => format!("the plan was saved at {}, which is ahead of this clock", saved.preview.at),
        false => format!("the plan was saved {} ago", long(age)),
    };
    if !old && (ahead || age > saved::GOOD_FOR) {
        let help = "make the plan again; or give --old, if it is still what you want";
        return Err(Failure { code: Code::Refused, text, help: Some(help.to_owned()) });
    }
    Ok(text)
}

/// How a plan that was saved is carried out.
pub(super) fn way(file: &Path, preview: &Preview) -> String {
    let name = match preview.question() {
        Question::Name(_) => format!(" --confirm {}", shell(&preview.plan.subject.name)),
        _ => String::new(),
    };
    let file = shell(&file.display().to_string());
    format!(
        "the plan is saved in {file}; within a day `deevnet-console apply {file} --write --yes{name}` makes it again, and \
         carries it out if it is the same"
    )
}

/// A word as a shell takes it.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::plan::{Plan, Subject};

    #[test]
    fn a_plan_of_the_day_before_needs_a_word_and_one_of_tomorrow_too() {
        let at: Timestamp = "2026-11-29T12:00:00Z".parse().expect("a time");
        let subject = Subject { name: "shop".to_owned(), tenant: None };
        let plan = Plan {
            site: "mobile".to_owned(),
            title: "Onboard shop".to_owned(),
            subject,
            steps: Vec::new(),
            reach: None,
        };
        let asked = Asked { plan: "onboard".to_owned(), words: vec!["shop".to_owned()] };
        let text = saved::text(&asked, &Preview { plan, looks: Vec::new(), at }).expect("a text");
        let kept = saved::read(&text).expect("a plan");
        let hours = |hours| at + SignedDuration::from_hours(hours);
        assert_eq!(age(&kept, hours(3), false).expect("good"), "the plan was saved 3 h ago");
        let old = age(&kept, hours(50), false).expect_err("too old");
        assert!(old.code == Code::Refused && old.text.contains("2 days ago"), "{}", old.text);
        assert!(old.help.is_some_and(|help| help.contains("--old")));
        assert!(age(&kept, hours(50), true).is_ok());
        assert!(age(&kept, hours(-1), false).is_err_and(|why| why.text.contains("ahead of this clock")));
    }

    #[test]
    fn a_length_of_time_is_said_in_the_largest_unit_that_tells_something() {
        for (seconds, text) in [(5, "5 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (200_000, "2 days")] {
            assert_eq!(long(SignedDuration::from_secs(seconds)), text);
        }
        assert_eq!(shell("plan 1.json"), "'plan 1.json'");
        assert_eq!(shell("/tmp/p.json"), "/tmp/p.json");
        assert_eq!(shell("it's"), r"'it'\''s'");
    }
}
