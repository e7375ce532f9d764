//! Approval: the one place where leave to change something is granted.

use jiff::Timestamp;

use super::plan::{GOOD_FOR, Plan, Preview, Question};
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
    /// Something it touches could not be told.
    #[error("step {number}, {name}, could not be told: {why}")]
    Untold {
        /// The step, from 1.
        number: usize,
        /// Its object.
        name: String,
        /// Why.
        why: String,
    },
    /// Nobody said yes.
    #[error("nothing is changed without {0}")]
    Unasked(&'static str),
    /// The name that was typed is another.
    #[error("{because}; the name {name} has to be typed back")]
    NameNeeded {
        /// Why a name is asked for.
        because: String,
        /// The name.
        name: String,
    },
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
            Self::Untold { .. } => "make it answer, then make the plan again".to_owned(),
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
            return Err(Refusal::Untold { number: number + 1, name, why: why.to_string() });
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

    /// Leave to run it as the change of that id.
    pub(super) fn permit(&self, change: &str) -> Permit {
        Permit::grant(change)
    }
}

/// Whether the answer is enough for the question.
fn answered(question: &Question, name: &str, consent: &Consent) -> Result<(), Refusal> {
    let needed = |because: &String| Refusal::NameNeeded { because: because.clone(), name: name.to_owned() };
    match (question, consent) {
        (Question::Nothing, _) => Ok(()),
        (_, Consent::Flags { write: false, .. }) => Err(Refusal::Unasked("--write --yes")),
        (_, Consent::Flags { yes: false, .. }) => Err(Refusal::Unasked("--yes")),
        (Question::Name(because), Consent::Flags { confirm: typed, .. } | Consent::Dialog { typed }) => {
            if typed.as_deref() == Some(name) { Ok(()) } else { Err(needed(because)) }
        }
        (Question::Yes | Question::PlanYes | Question::PlanApply, _) => Ok(()),
    }
}
