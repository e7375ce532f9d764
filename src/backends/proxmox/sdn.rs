//! Cluster-wide SDN: lists, one whole read, the dry run, the lock as it is met.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::Value;

use super::call::Call;
use super::client::{Answer, Client};
use super::endpoints::{self, Endpoint};
use super::error::Error;
use super::model::{Change, Controller, DryRun, Fabric, FabricNode, LockState, Sdn, SdnConfig, Subnet, Vnet, Zone};
use super::sdn_merge::{FromRow, merge, only_configured, only_running, texts};
use super::wire::{Row, Unreadable};

/// Which state of the SDN configuration a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// Configured; the only one that carries a usable digest.
    Configured,
    /// Applied.
    Running,
    /// Both, merged.
    #[default]
    Pending,
}

/// Whose subnets a whole read includes: one request per VNet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SubnetsOf {
    /// Every VNet's.
    #[default]
    All,
    /// Nobody's.
    None,
    /// These VNets', as far as they exist.
    Only(BTreeSet<String>),
}

/// A part of the SDN configuration that could not be read and is therefore unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRead {
    /// `fabrics`, or `subnets of VNET`.
    pub what: String,
    /// Why.
    pub why: Error,
}

/// A whole read: what is known, and what is not.
#[derive(Debug, Clone, PartialEq)]
pub struct SdnRead {
    /// What was read.
    pub config: SdnConfig,
    /// What was not, with the reason.
    pub not_read: Vec<NotRead>,
}

/// Fabrics and their members.
type Fabrics = (Vec<Sdn<Fabric>>, Vec<Sdn<FabricNode>>);

impl Client {
    /// `GET /cluster/sdn/zones`.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn zones(&self, view: View) -> Result<Vec<Sdn<Zone>>, Error> {
        self.sdn_list(Call::new(&endpoints::ZONES), view).await
    }

    /// `GET /cluster/sdn/vnets`.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn vnets(&self, view: View) -> Result<Vec<Sdn<Vnet>>, Error> {
        self.sdn_list(Call::new(&endpoints::VNETS), view).await
    }

    /// `GET /cluster/sdn/vnets/{vnet}/subnets`.
    ///
    /// # Errors
    /// [`Error::Absent`] also for a VNet whose removal waits for an apply: it hides its subnets.
    pub async fn subnets(&self, vnet: &str, view: View) -> Result<Vec<Sdn<Subnet>>, Error> {
        self.sdn_list(Call::new(&endpoints::SUBNETS).id("vnet", vnet), view).await
    }

    /// `GET /cluster/sdn/controllers`.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn controllers(&self, view: View) -> Result<Vec<Sdn<Controller>>, Error> {
        self.sdn_list(Call::new(&endpoints::CONTROLLERS), view).await
    }

    /// `GET /cluster/sdn/fabrics/all`: fabrics and members.
    ///
    /// # Errors
    /// [`Error::NotImplemented`] before Proxmox VE 9; any other [`Error`].
    pub async fn fabrics(&self, view: View) -> Result<Fabrics, Error> {
        let answer = self.call(view.ask(Call::new(&endpoints::FABRICS))).await?;
        answer.decode(|data| {
            let both = Row::new(data, "data")?;
            Ok((part(&both, "fabrics", view)?, part(&both, "nodes", view)?))
        })
    }

    /// Digest of the zones file; `None` when there is no zone.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn zones_digest(&self) -> Result<Option<String>, Error> {
        digest(&self.call(Call::new(&endpoints::ZONES)).await?)
    }

    /// Every configured option of a zone by Proxmox' name of it, those that [`Zone`] leaves out among them; empty where there
    /// is no such zone.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn zone_options(&self, zone: &str) -> Result<BTreeMap<String, String>, Error> {
        let rows = self.call(Call::new(&endpoints::ZONES)).await?;
        let rows = rows.rows(|row| Ok((row.need_text("zone")?, texts(row.map()))))?;
        Ok(rows.into_iter().find(|(name, _)| name == zone).map(|(_, options)| options).unwrap_or_default())
    }

    /// Digest of the VNets file; `None` when there is no VNet.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn vnets_digest(&self) -> Result<Option<String>, Error> {
        digest(&self.call(Call::new(&endpoints::VNETS)).await?)
    }

    /// Digest of the subnets file, by the list of a VNet; `None` when it has no subnet.
    ///
    /// # Errors
    /// As [`Client::subnets`].
    pub async fn subnets_digest(&self, vnet: &str) -> Result<Option<String>, Error> {
        digest(&self.call(Call::new(&endpoints::SUBNETS).id("vnet", vnet)).await?)
    }

    /// `GET /cluster/sdn/dry-run?node=`.
    ///
    /// # Errors
    /// [`Error::NotImplemented`] on older versions; any other [`Error`].
    pub async fn dry_run(&self, node: &str) -> Result<DryRun, Error> {
        let answer = self.call(Call::new(&endpoints::DRY_RUN).set("node", node)).await?;
        answer.decode(|data| {
            let row = Row::new(data, "data")?;
            Ok(DryRun { frr_diff: row.block("frr-diff")?, interfaces_diff: row.block("interfaces-diff")? })
        })
    }

    /// All SDN objects. The digest is read before the values, so that a change in between can only make a later
    /// write refuse, never slip through. Fabrics and subnets that cannot be read are named in [`SdnRead::not_read`].
    ///
    /// Requests: 6, and one for each VNet whose subnets are wanted.
    ///
    /// # Errors
    /// Any [`Error`] of the zone, VNet or controller lists: without those nothing else means anything.
    pub async fn sdn(&self, subnets: &SubnetsOf) -> Result<SdnRead, Error> {
        let (plain_zones, plain_vnets) =
            tokio::try_join!(self.call(Call::new(&endpoints::ZONES)), self.call(Call::new(&endpoints::VNETS)))?;
        let (zones, vnets, controllers, fabrics) = tokio::join!(
            self.merged_list::<Zone>(&endpoints::ZONES, "zone", &plain_zones),
            self.merged_list::<Vnet>(&endpoints::VNETS, "vnet", &plain_vnets),
            self.controllers(View::Pending),
            self.fabrics(View::Pending)
        );
        let mut read = SdnRead {
            config: SdnConfig {
                zones: zones?,
                vnets: vnets?,
                controllers: controllers?,
                zones_digest: digest(&plain_zones)?,
                ..SdnConfig::default()
            },
            not_read: Vec::new(),
        };
        match fabrics {
            Ok((fabrics, nodes)) => (read.config.fabrics, read.config.fabric_nodes) = (fabrics, nodes),
            Err(why) => read.not_read.push(NotRead { what: "fabrics".to_owned(), why }),
        }
        self.read_subnets(&mut read, subnets).await;
        Ok(read)
    }

    async fn read_subnets(&self, read: &mut SdnRead, wanted: &SubnetsOf) {
        let names = read.config.vnets.iter().filter(|v| v.change != Change::Deleted);
        let names: Vec<String> = names
            .filter_map(|v| v.current().map(|v| v.vnet.clone()))
            .filter(|name| match wanted {
                SubnetsOf::All => true,
                SubnetsOf::None => false,
                SubnetsOf::Only(these) => these.contains(name),
            })
            .collect();
        let mut answers = stream::iter(names)
            .map(|name| async move {
                let answer = self.subnets(&name, View::Pending).await;
                (name, answer)
            })
            .buffer_unordered(4);
        while let Some((name, answer)) = answers.next().await {
            match answer {
                Ok(subnets) => drop(read.config.subnets.insert(name, subnets)),
                Err(why) => read.not_read.push(NotRead { what: format!("subnets of {name}"), why }),
            }
        }
        read.not_read.sort_by(|a, b| a.what.cmp(&b.what));
    }

    async fn sdn_list<T: FromRow>(&self, call: Call<'_>, view: View) -> Result<Vec<Sdn<T>>, Error> {
        self.call(view.ask(call)).await?.rows(|row| view.decode(row))
    }

    /// The pending list, read with the help of the plain one.
    async fn merged_list<T: FromRow>(
        &self,
        endpoint: &'static Endpoint,
        id: &str,
        plain: &Answer,
    ) -> Result<Vec<Sdn<T>>, Error> {
        let plain = plain.rows(|row| Ok((row.need_text(id)?, row.map().clone())))?;
        let answer = self.call(View::Pending.ask(Call::new(endpoint))).await?;
        answer.rows(|row| {
            let name = row.need_text(id)?;
            let twin = plain.iter().find(|(other, _)| *other == name).map(|(_, map)| Row::of_map(map, row.at()));
            merge(row, twin.as_ref())
        })
    }
}

impl View {
    fn ask(self, call: Call<'_>) -> Call<'_> {
        match self {
            Self::Configured => call,
            Self::Running => call.set("running", 1),
            Self::Pending => call.set("pending", 1),
        }
    }

    fn decode<T: FromRow>(self, row: &Row<'_>) -> Result<Sdn<T>, Unreadable> {
        match self {
            Self::Configured => only_configured(row),
            Self::Running => only_running(row),
            Self::Pending => merge(row, None),
        }
    }
}

fn part<T: FromRow>(both: &Row<'_>, key: &str, view: View) -> Result<Vec<Sdn<T>>, Unreadable> {
    let rows = both.get(key).unwrap_or(&Value::Null);
    Row::list(rows, &format!("data.{key}"))?.iter().map(|row| view.decode(row)).collect()
}

/// The digest in the first row: it is the whole file's, so every row has the same.
fn digest(answer: &Answer) -> Result<Option<String>, Error> {
    Ok(answer.rows(|row| row.text("digest"))?.into_iter().flatten().next())
}

impl LockState {
    /// What `error`, met at `now`, says about the SDN lock: held, or nothing new.
    #[must_use]
    pub fn after(self, error: &Error, now: Timestamp) -> Self {
        match error {
            Error::SdnLocked { .. } => Self::Held { seen_at: now },
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::LockFault;
    use super::*;

    #[test]
    fn the_lock_is_known_only_once_it_was_met() {
        let now = Timestamp::from_second(1_795_971_529).unwrap();
        let other = Error::NothingToDo;
        let action = "update sdn zone object failed".to_owned();
        let met = Error::SdnLocked { action, fault: LockFault::NoToken };
        assert_eq!(LockState::default().after(&other, now), LockState::NotTried);
        let held = LockState::default().after(&met, now);
        assert_eq!(held, LockState::Held { seen_at: now });
        assert_eq!(held.after(&other, Timestamp::UNIX_EPOCH), LockState::Held { seen_at: now });
    }
}
