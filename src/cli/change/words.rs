//! Verbs in the words that the table of plans takes for them.

use std::fmt::Display;

use super::args::{
    Change, ForwardAction, How, Machine, Make, Onboard, Power, RecordAction, SdnAction, TenantAction, TsigAction, Way,
    WorkloadAction,
};
use crate::cli::Failure;
use crate::provision::journal::ChangeId;
use crate::provision::saved;

/// A plan by the name of its maker, with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// Name in the table of plans.
    pub(super) maker: &'static str,
    /// Words.
    pub(super) words: Vec<String>,
    /// It is only looked at, whatever the flags say.
    pub(super) only_shown: bool,
}

impl Asked {
    /// What the plan is made from, as it is saved beside it.
    pub(super) fn made_from(&self) -> saved::Asked {
        saved::Asked { plan: self.maker.to_owned(), words: self.words.clone() }
    }
}

fn asked(maker: &'static str, words: impl IntoIterator<Item = String>) -> Asked {
    Asked { maker, words: words.into_iter().collect(), only_shown: false }
}

fn option<T: Display>(key: &str, value: Option<&T>) -> Option<String> {
    value.map(|value| format!("{key}={value}"))
}

impl Machine {
    fn words(&self) -> Vec<String> {
        let all = [("cores", &self.cores), ("memory", &self.memory), ("disk", &self.disk)];
        all.into_iter().filter_map(|(key, value)| option(key, value.as_ref())).collect()
    }
}

impl Onboard {
    fn asked(&self, maker: &'static str) -> Asked {
        let words = [
            Some(self.name.to_string()),
            option("index", self.index.as_ref()),
            option("workload", self.workload.as_ref()),
        ];
        asked(maker, words.into_iter().flatten().chain(self.machine.words()))
    }
}

impl Make {
    fn asked(&self, maker: &'static str) -> Result<Asked, Failure> {
        let read = |path: &std::path::PathBuf| {
            std::fs::read_to_string(path)
                .map_err(|e| Failure::usage(format!("keys {}: {e}", path.display()), "give a file of public keys"))
        };
        let keys = self.ssh_keys.as_ref().map(read).transpose()?;
        let words = [
            option("keys", keys.as_ref()),
            option("user", self.user.as_ref()),
            option("template", self.template.as_ref()),
        ];
        let named = std::iter::once(self.name.clone()).chain(self.machine.words());
        Ok(asked(maker, named.chain(words.into_iter().flatten())))
    }
}

impl Way {
    fn words(&self) -> impl Iterator<Item = String> {
        // A change may be taken up again from another directory.
        let file = self.key_file.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        let file = file.map(|path| path.display().to_string());
        [option("via", self.via.as_ref()), option("key-file", file.as_ref())].into_iter().flatten()
    }
}

impl Power {
    fn asked(&self, to: &str) -> Asked {
        let words = [Some(self.name.clone()), Some(format!("to={to}")), option("timeout", self.timeout.as_ref())];
        asked("workload-power", words.into_iter().flatten())
    }
}

impl Change {
    /// What is asked of the table of plans. `open` is the only change that is open, for a `resume` that names none.
    ///
    /// # Errors
    /// Where a file that it names cannot be read.
    pub(super) fn asked(&self, open: Option<ChangeId>) -> Result<Asked, Failure> {
        Ok(match self {
            Self::Tenant { action: TenantAction::Plan(onboard) } => {
                Asked { only_shown: true, ..onboard.asked("onboard") }
            }
            Self::Tenant { action: TenantAction::Create(onboard) } => onboard.asked("onboard"),
            Self::Tenant { action: TenantAction::Reconcile(onboard) } => onboard.asked("reconcile"),
            Self::Tenant { action: TenantAction::Handover { name, .. } } => {
                return Err(Failure::usage(
                    format!("there is no plan in handing {name} over: nothing is changed"),
                    "`deevnet-console tenant handover NAME` shows the sheet",
                ));
            }
            Self::Tenant { action: TenantAction::Delete { name, .. } } => asked("tenant-delete", [name.to_string()]),
            Self::Workload { action } => workload(action)?,
            Self::Tsig { action: TsigAction::List(_) } | Self::Forward { action: ForwardAction::List(_) } => {
                return Err(Failure::usage("a list changes nothing", "leave `plan` out"));
            }
            Self::Tsig { action: TsigAction::Begin { tenant, .. } } => asked("tsig-begin", [tenant.to_string()]),
            Self::Tsig { action: TsigAction::End { tenant, .. } } => asked("tsig-end", [tenant.to_string()]),
            Self::Forward { action: ForwardAction::Set { domain, server, description, not_asked, .. } } => {
                let words = [domain.clone(), format!("server={server}"), format!("description={description}")];
                asked("forward-set", words.into_iter().chain(not_asked.then(|| "asked=no".to_owned())))
            }
            Self::Forward { action: ForwardAction::Delete { domain, .. } } => asked("forward-delete", [domain.clone()]),
            Self::Record { action } => record(action)?,
            Self::Sdn { action } => match action {
                SdnAction::Apply(_) | SdnAction::Status { .. } => asked("sdn-apply", []),
                SdnAction::Rollback(_) => asked("sdn-rollback", []),
                SdnAction::Unlock(_) => asked("sdn-unlock", []),
            },
            Self::Undo { id, .. } => asked("undo", [id.clone()]),
            Self::Resume { id, later, .. } => {
                let id = id.clone().or_else(|| open.map(|id| id.to_string()));
                asked(if *later { "later" } else { "resume" }, id)
            }
        })
    }

    /// How it is made; `None` where nothing is changed.
    pub(super) const fn how(&self) -> Option<&How> {
        Some(match self {
            Self::Tenant {
                action: TenantAction::Plan(onboard) | TenantAction::Create(onboard) | TenantAction::Reconcile(onboard),
            } => &onboard.how,
            Self::Workload {
                action: WorkloadAction::Plan(make) | WorkloadAction::Create(make) | WorkloadAction::Replace(make),
            } => &make.how,
            Self::Workload {
                action:
                    WorkloadAction::Delete(power)
                    | WorkloadAction::Start(power)
                    | WorkloadAction::Stop(power)
                    | WorkloadAction::Shutdown(power)
                    | WorkloadAction::Reboot(power),
            } => &power.how,
            Self::Sdn { action: SdnAction::Status { .. } }
            | Self::Tenant { action: TenantAction::Handover { .. } }
            | Self::Record { action: RecordAction::List(_) }
            | Self::Tsig { action: TsigAction::List(_) }
            | Self::Forward { action: ForwardAction::List(_) } => return None,
            Self::Sdn { action: SdnAction::Apply(how) | SdnAction::Rollback(how) | SdnAction::Unlock(how) }
            | Self::Tenant { action: TenantAction::Delete { how, .. } }
            | Self::Workload { action: WorkloadAction::Resize { how, .. } }
            | Self::Record { action: RecordAction::Set { how, .. } | RecordAction::Delete { how, .. } }
            | Self::Tsig { action: TsigAction::Begin { how, .. } | TsigAction::End { how, .. } }
            | Self::Forward { action: ForwardAction::Set { how, .. } | ForwardAction::Delete { how, .. } }
            | Self::Undo { how, .. }
            | Self::Resume { how, .. } => how,
        })
    }
}

fn workload(action: &WorkloadAction) -> Result<Asked, Failure> {
    Ok(match action {
        WorkloadAction::Plan(make) => Asked { only_shown: true, ..make.asked("workload-create")? },
        WorkloadAction::Create(make) => make.asked("workload-create")?,
        WorkloadAction::Replace(make) => make.asked("workload-replace")?,
        WorkloadAction::Resize { name, machine, restart, .. } => {
            let words = std::iter::once(name.clone()).chain(machine.words());
            asked("workload-resize", words.chain(option("restart", restart.as_ref())))
        }
        WorkloadAction::Delete(power) => asked("workload-delete", [power.name.clone()]),
        WorkloadAction::Start(power) => power.asked("start"),
        WorkloadAction::Stop(power) => power.asked("stop"),
        WorkloadAction::Shutdown(power) => power.asked("shutdown"),
        WorkloadAction::Reboot(power) => power.asked("reboot"),
    })
}

fn record(action: &RecordAction) -> Result<Asked, Failure> {
    Ok(match action {
        RecordAction::List(_) => return Err(Failure::usage("a list changes nothing", "leave `plan` out")),
        RecordAction::Set { tenant, name, value, kind, ttl, way, .. } => {
            let words =
                [Some(tenant.to_string()), Some(name.clone()), option("type", Some(kind)), option("ttl", ttl.as_ref())];
            let values = value.iter().map(|value| format!("value={value}"));
            asked("record-set", words.into_iter().flatten().chain(values).chain(way.words()))
        }
        RecordAction::Delete { tenant, name, kind, pointer, way, .. } => {
            let words = [
                Some(tenant.to_string()),
                Some(name.clone()),
                option("type", Some(kind)),
                option("pointer", pointer.as_ref()),
            ];
            asked("record-delete", words.into_iter().flatten().chain(way.words()))
        }
    })
}
