//! VMs: list, configuration, waiting options, state.

use super::call::Call;
use super::client::Client;
use super::cluster::vm;
use super::endpoints;
use super::error::Error;
use super::model::{PendingOption, Vm, VmConfig};
use super::qemu_config;
use super::wire::{Row, Unreadable};

/// `GET /nodes/{node}/qemu/{vmid}/status/current`.
#[derive(Debug, Clone, PartialEq)]
pub struct VmStatus {
    /// What lists show too.
    pub vm: Vm,
    /// QEMU's own word, e.g. `running`, `paused`, `prelaunch`.
    pub qmp: Option<String>,
    /// Whether an agent is configured.
    pub agent: bool,
    /// Whether HA manages it.
    pub ha_managed: bool,
}

/// Cards that a container may have.
const CARDS: u32 = 32;

impl Client {
    /// `GET /nodes/{node}/qemu`.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn vms(&self, node: &str) -> Result<Vec<Vm>, Error> {
        self.call(Call::new(&endpoints::QEMU).id("node", node)).await?.rows(|row| vm(row, node, "cpus"))
    }

    /// `GET /nodes/{node}/qemu/{vmid}/config`. Of `smbios1` only the UUID is kept: it may carry a pointer.
    ///
    /// # Errors
    /// [`Error::Absent`] when the VM is not there; any other [`Error`].
    pub async fn vm_config(&self, node: &str, vmid: u32) -> Result<VmConfig, Error> {
        let id = vmid.to_string();
        let answer = self.call(Call::new(&endpoints::VM_CONFIG).id("node", node).id("vmid", &id)).await?;
        answer.decode(|data| qemu_config::config(&Row::new(data, "data")?))
    }

    /// `GET /nodes/{node}/lxc/{vmid}/config`, of which only the bridges that its cards are on are kept.
    ///
    /// # Errors
    /// [`Error::Absent`] when the container is not there; any other [`Error`].
    pub async fn container_bridges(&self, node: &str, vmid: u32) -> Result<Vec<String>, Error> {
        let id = vmid.to_string();
        let answer = self.call(Call::new(&endpoints::CONTAINER_CONFIG).id("node", node).id("vmid", &id)).await?;
        answer.decode(|data| {
            let row = Row::new(data, "data")?;
            let mut all = Vec::new();
            for n in 0..CARDS {
                let card = row.text(&format!("net{n}"))?.unwrap_or_default();
                all.extend(card.split(',').filter_map(|part| part.strip_prefix("bridge=")).map(str::to_owned));
            }
            Ok(all)
        })
    }

    /// `GET /nodes/{node}/qemu/{vmid}/pending`: every option, with what waits for a cold start.
    ///
    /// # Errors
    /// [`Error::Absent`] when the VM is not there; any other [`Error`].
    pub async fn vm_pending(&self, node: &str, vmid: u32) -> Result<Vec<PendingOption>, Error> {
        let id = vmid.to_string();
        let answer = self.call(Call::new(&endpoints::VM_PENDING).id("node", node).id("vmid", &id)).await?;
        answer.rows(qemu_config::pending_option)
    }

    /// The same request, read both ways: the configuration that [`Client::vm_config`] would give, without its digest,
    /// and every option.
    ///
    /// # Errors
    /// [`Error::Absent`] when the VM is not there; any other [`Error`].
    pub async fn vm_config_and_pending(&self, node: &str, vmid: u32) -> Result<(VmConfig, Vec<PendingOption>), Error> {
        let id = vmid.to_string();
        let answer = self.call(Call::new(&endpoints::VM_PENDING).id("node", node).id("vmid", &id)).await?;
        let config = answer.decode(|data| qemu_config::config_of_pending(&Row::list(data, "data")?))?;
        Ok((config, answer.rows(qemu_config::pending_option)?))
    }

    /// `GET /nodes/{node}/qemu/{vmid}/status/current`.
    ///
    /// # Errors
    /// [`Error::Absent`] when the VM is not there; any other [`Error`].
    pub async fn vm_status(&self, node: &str, vmid: u32) -> Result<VmStatus, Error> {
        let id = vmid.to_string();
        let answer = self.call(Call::new(&endpoints::VM_STATUS).id("node", node).id("vmid", &id)).await?;
        answer.decode(|data| status(&Row::new(data, "data")?, node))
    }
}

fn status(row: &Row<'_>, node: &str) -> Result<VmStatus, Unreadable> {
    let ha = row.get("ha").map(|v| Row::new(v, format!("{}.ha", row.at()))).transpose()?;
    Ok(VmStatus {
        vm: vm(row, node, "cpus")?,
        qmp: row.text("qmpstatus")?,
        agent: row.bool("agent")?.unwrap_or(false),
        ha_managed: ha.map_or(Ok(None), |ha| ha.bool("managed"))?.unwrap_or(false),
    })
}
