//! Approval: the one place where leave to change something is granted.

use jiff::Timestamp;

use super::journal::{Record, Who};
use super::plan::{GOOD_FOR, Look, Plan, Preview, Question};
use super::trouble::{Trouble, TroubleKind};
use crate::backends::permit::Permit;
use crate::site::Site;

/// How somebody said yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// On the screen, after the plan was shown; with what was typed where a name was asked for.
    Dialog {
        /// What was typed.
        typed: Option<String>,
    },
    /// By `--write --yes`; with the name given to `--confirm`.
    Flags {
        /// `--write`.
        write: bool,
        /// `--yes`.
        yes: bool,
        /// `--confirm NAME`.
        confirm: Option<String>,
    },
}

/// Why a plan does not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The site file says so.
    #[error("site {0} is read-only")]
    ReadOnly(String),
    /// The plan was made for another site.
    #[error("the plan was made for site {made}, this is {here}")]
    OtherSite {
        /// The plan's.
        made: String,
        /// This one.
        here: String,
    },
    /// What it was made from is not known any more.
    #[error("the plan was looked at {0} ago")]
    Old(String),
    /// Something it touches could not be told, or is known to stand against it.
    #[error("step {number}, {name}{}: {why}", if *.known { "" } else { ", could not be told" })]
    Untold {
        /// The step, from 1.
        number: usize,
        /// Its object.
        name: String,
        /// Why.
        why: String,
        /// Whether that is known, and no source failed to tell.
        known: bool,
        /// What to do.
        help: Option<String>,
    },
    /// Nobody said yes.
    #[error("nothing is changed without {0}")]
    Unasked(&'static str),
    /// No name was typed, or another.
    #[error("{because}; the name {name} has to be typed back{}", other(.typed.as_deref()))]
    NameNeeded {
        /// Why a name is asked for.
        because: String,
        /// The name.
        name: String,
        /// What was typed instead.
        typed: Option<String>,
    },
}

fn other(typed: Option<&str>) -> String {
    typed.map(|typed| format!(", and {typed:?} is another")).unwrap_or_default()
}

impl Refusal {
    /// What to do.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::ReadOnly(_) => {
                "set read_only = false in the site file, if this console is to change it; a lock that a change \
                                  still holds can be given back all the same, by a plan of its own that asks first"
                    .to_owned()
            }
            Self::OtherSite { made, .. } => format!("use --site {made}"),
            Self::Old(_) => "look at it again: what it was made from may have changed".to_owned(),
            Self::Untold { known: true, help, .. } => {
                help.as_deref().unwrap_or("see to it, then make the plan again").to_owned()
            }
            Self::Untold { known: false, .. } => "make it answer, then make the plan again".to_owned(),
            Self::Unasked(flag) => format!("look at the plan, then give {flag}"),
            Self::NameNeeded { name, .. } => format!("type {name}, or give --confirm {name}"),
        }
    }
}

/// A plan that somebody saw and said yes to, with what was seen then. There is no other way to a permit.
#[derive(Debug)]
pub struct ApprovedPlan {
    preview: Preview,
    riders: Vec<String>,
}

impl ApprovedPlan {
    /// Takes the answer to a plan's question.
    ///
    /// # Errors
    /// Why it does not run: [`Refusal`].
    pub fn of(preview: Preview, site: &Site, consent: &Consent, now: Timestamp) -> Result<Self, Refusal> {
        // What has to be done follows from what was seen; a saved plan may say otherwise.
        let preview = preview.judged();
        if preview.plan.site != site.name {
            return Err(Refusal::OtherSite { made: preview.plan.site.clone(), here: site.name.clone() });
        }
        let question = preview.question();
        // What was held before the site became read-only keeps others from their work until it is given back.
        if question != Question::Nothing && site.read_only && !preview.only_gives_back() {
            return Err(Refusal::ReadOnly(site.name.clone()));
        }
        let age = now.duration_since(preview.at);
        if age > GOOD_FOR || preview.at > now {
            return Err(Refusal::Old(format!("{} min", age.as_mins())));
        }
        if let Some((number, why)) = preview.untold().next() {
            let name = preview.plan.steps.get(number).map(|s| s.object.ensure().name()).unwrap_or_default();
            let known = why.kind.is_known();
            let help = why.help.clone();
            return Err(Refusal::Untold { number: number + 1, name, why: why.to_string(), known, help });
        }
        answered(&question, &preview.plan.subject.name, consent)?;
        let riders = preview.riders();
        Ok(Self { preview, riders })
    }

    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.preview.plan
    }

    /// What was seen when it was approved.
    #[must_use]
    pub const fn preview(&self) -> &Preview {
        &self.preview
    }

    /// What of others was approved to go along.
    #[must_use]
    pub fn riders(&self) -> &[String] {
        &self.riders
    }

    /// The same consent for a plan that takes the place of this one. It may reach no further, and ask for nothing more.
    ///
    /// # Errors
    /// What it would do that nobody said yes to.
    pub(super) fn instead(&self, preview: Preview) -> Result<Self, Trouble> {
        let preview = preview.judged();
        let refused = |text: String| {
            Trouble::new(TroubleKind::Moved, text).with_help("make the plan again, and look at what it does now")
        };
        if let Some((number, why)) = preview.untold().next() {
            let name = preview.plan.steps.get(number).map(|s| s.object.ensure().name()).unwrap_or_default();
            return Err(refused(format!("{}: step {}, {name}: {why}", preview.plan.title, number + 1)));
        }
        let riders = preview.riders();
        let new: Vec<&str> = riders.iter().filter(|own| !self.riders.contains(own)).map(String::as_str).collect();
        if !new.is_empty() {
            return Err(refused(format!("{} would take along {}", preview.plan.title, new.join(", "))));
        }
        let further = preview.danger() > self.preview.danger();
        if further || (preview.final_because().is_some() && self.preview.final_because().is_none()) {
            return Err(refused(format!("{} reaches further than what was approved", preview.plan.title)));
        }
        Ok(Self { preview, riders })
    }

    /// What the journal is told of a run of it.
    pub(super) fn record(&self, who: &Who) -> Record {
        let digest = |look: &Result<Look, Trouble>| look.as_ref().map(|look| look.seen.digest()).unwrap_or_default();
        let digests = self.preview.looks.iter().map(digest).collect();
        Record::Run { who: who.clone(), digests, riders: self.riders.clone() }
    }

    /// Leave to run it as the change of that id.
    pub(super) fn permit(&self, change: &str) -> Permit {
        Permit::grant(change)
    }
}

/// Whether the answer is enough for the question.
fn answered(question: &Question, name: &str, consent: &Consent) -> Result<(), Refusal> {
    let needed = |because: &String, typed: Option<&str>| {
        let typed = typed.map(|typed| crate::text::clean(typed).into_owned());
        Refusal::NameNeeded { because: because.clone(), name: name.to_owned(), typed }
    };
    match (question, consent) {
        (Question::Nothing, _) => Ok(()),
        (_, Consent::Flags { write: false, .. }) => Err(Refusal::Unasked("--write --yes")),
        (_, Consent::Flags { yes: false, .. }) => Err(Refusal::Unasked("--yes")),
        (Question::Name(because), Consent::Flags { confirm: typed, .. } | Consent::Dialog { typed }) => {
            let typed = typed.as_deref().filter(|typed| !typed.is_empty());
            if typed == Some(name) { Ok(()) } else { Err(needed(because, typed)) }
        }
        (Question::Yes | Question::PlanYes | Question::PlanApply, _) => Ok(()),
    }
}
