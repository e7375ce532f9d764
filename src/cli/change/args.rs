//! Verbs that change something, as data, and the words that the table of plans takes for them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::provision::journal::ChangeId;
use crate::site::names::TenantName;

/// How a change is made.
#[derive(Debug, Clone, Args)]
pub struct How {
    /// Change something; without it the plan is only shown.
    #[arg(long)]
    pub write: bool,
    /// Yes to the plan as it is shown.
    #[arg(long)]
    pub yes: bool,
    /// The name, typed back, where something is final or takes along what is others'.
    #[arg(long, value_name = "NAME")]
    pub confirm: Option<String>,
    /// Form: table, json or yaml; after `plan` the file that the plan is saved in.
    #[arg(short, long, value_name = "FORM|FILE")]
    pub output: Option<String>,
}

/// Verbs that change something.
#[derive(Debug, Clone, Subcommand)]
pub enum Change {
    /// A tenant: network, names, forwards, way out.
    Tenant {
        /// What.
        #[command(subcommand)]
        action: TenantAction,
    },
    /// Take a change back, last step first.
    Undo {
        /// The change, e.g. C-0042.
        #[arg(value_name = "CHANGE")]
        id: String,
        /// How.
        #[command(flatten)]
        how: How,
    },
    /// Go on with a change that did not come to its end.
    Resume {
        /// The change; without it the only one that is open.
        #[arg(value_name = "CHANGE")]
        id: Option<String>,
        /// Give back what it holds, and leave it open for later.
        #[arg(long)]
        later: bool,
        /// How.
        #[command(flatten)]
        how: How,
    },
}

/// `tenant …`.
#[derive(Debug, Clone, Subcommand)]
pub enum TenantAction {
    /// Show what `create` would do.
    Plan(Onboard),
    /// Make a tenant; what is there is left as it is.
    Create(Onboard),
    /// Make what a tenant lacks.
    Reconcile(Onboard),
    /// Remove a tenant that has no workload.
    Delete {
        /// Its name.
        name: TenantName,
        /// How.
        #[command(flatten)]
        how: How,
    },
}

/// What `tenant create` is told.
#[derive(Debug, Clone, Args)]
pub struct Onboard {
    /// Its name.
    pub name: TenantName,
    /// Its index, 1–62; without it the lowest that is free on every source.
    #[arg(long, value_name = "N")]
    pub index: Option<u8>,
    /// How.
    #[command(flatten)]
    pub how: How,
}

/// A plan by the name of its maker, with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Name in the table of plans.
    pub maker: &'static str,
    /// Words.
    pub words: Vec<String>,
    /// It is only looked at, whatever the flags say.
    pub only_shown: bool,
}

fn asked(maker: &'static str, words: impl IntoIterator<Item = String>) -> Asked {
    Asked { maker, words: words.into_iter().collect(), only_shown: false }
}

fn option<T: std::fmt::Display>(key: &str, value: Option<&T>) -> Option<String> {
    value.map(|value| format!("{key}={value}"))
}

impl Onboard {
    fn asked(&self) -> Asked {
        asked("onboard", [Some(self.name.to_string()), option("index", self.index.as_ref())].into_iter().flatten())
    }
}

impl Change {
    /// What is asked of the table of plans. `open` is the only change that is open, for a `resume` that names none.
    #[must_use]
    pub fn asked(&self, open: Option<ChangeId>) -> Asked {
        match self {
            Self::Tenant { action: TenantAction::Plan(onboard) } => Asked { only_shown: true, ..onboard.asked() },
            Self::Tenant { action: TenantAction::Create(onboard) | TenantAction::Reconcile(onboard) } => {
                onboard.asked()
            }
            Self::Tenant { action: TenantAction::Delete { name, .. } } => asked("tenant-delete", [name.to_string()]),
            Self::Undo { id, .. } => asked("undo", [id.clone()]),
            Self::Resume { id, later, .. } => {
                let id = id.clone().or_else(|| open.map(|id| id.to_string()));
                asked(if *later { "later" } else { "resume" }, id)
            }
        }
    }

    /// How it is made.
    #[must_use]
    pub const fn how(&self) -> &How {
        match self {
            Self::Tenant {
                action: TenantAction::Plan(onboard) | TenantAction::Create(onboard) | TenantAction::Reconcile(onboard),
            } => &onboard.how,
            Self::Tenant { action: TenantAction::Delete { how, .. } }
            | Self::Undo { how, .. }
            | Self::Resume { how, .. } => how,
        }
    }
}

/// `plan …`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The verb that would be run.
    #[command(subcommand)]
    pub change: Change,
}

/// `apply FILE`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// A plan that `plan … -o FILE` or the console saved.
    pub file: PathBuf,
    /// How.
    #[command(flatten)]
    pub how: How,
}

/// `journal`.
#[derive(Debug, Args)]
pub struct JournalArgs {
    /// One change, line by line; without it all of them.
    #[arg(value_name = "CHANGE")]
    pub id: Option<String>,
    /// Form.
    #[arg(short, long, value_enum, default_value_t)]
    pub output: crate::cli::args::Format,
}

/// `audit …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum AuditAction {
    /// Everything that was changed from here, one JSON object a line.
    Export,
}
