//! Changing VMs (facts/proxmox.md §10). What returns a task id has only begun: [`Client::task_step`] says how it ends.
//!
//! No request ignores a VM's lock: Proxmox lets only root itself do that, never a token.

use super::call::Call;
use super::client::Client;
use super::endpoints::{self, Endpoint};
use super::error::Error;
use super::names::{NodeName, Vmid};
use super::smbios::{Smbios, SmbiosRead};
use super::upid::Upid;
use super::vm_settings::{CloneRequest, Resize, VmSettings};
use super::wire::{Row, Unreadable};
use crate::backends::permit::Permit;
use crate::site::secret::Secret;

/// What goes with a VM that is destroyed, beside its own disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leftovers {
    /// Its place in backup jobs, replication and HA.
    pub purge: bool,
    /// Disks of that VMID that no configuration names, on every storage.
    pub unreferenced_disks: bool,
}

impl Client {
    /// A VMID that is free now. It is not held: somebody may take it in between.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn next_vmid(&self) -> Result<Vmid, Error> {
        let answer = self.call(Call::new(&endpoints::NEXT_VMID)).await?;
        answer.decode(|data| {
            let bad = || Unreadable { at: "data".to_owned(), why: "is not a VMID".to_owned() };
            let number = data.as_u64().or_else(|| data.as_str()?.parse().ok());
            let number = number.and_then(|n| u32::try_from(n).ok()).ok_or_else(bad)?;
            Vmid::try_from(number).map_err(|_| bad())
        })
    }

    /// Whether no guest of the cluster has `vmid`, of those of other tenants as well.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn vmid_is_free(&self, vmid: Vmid) -> Result<bool, Error> {
        match self.call(Call::new(&endpoints::NEXT_VMID).set("vmid", vmid)).await {
            Ok(_) => Ok(true),
            Err(Error::BadParameters { errors, .. })
                if errors.get("vmid").is_some_and(|why| why.ends_with(" already exists")) =>
            {
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }

    /// `POST /nodes/{node}/qemu/{template}/clone`. Until the task ends the new VM is in every list, locked.
    ///
    /// # Errors
    /// [`Error::Exists`] when the VMID is taken, [`Error::Absent`] without the template; any other [`Error`].
    pub async fn vm_clone(
        &self,
        permit: &Permit,
        node: &NodeName,
        template: Vmid,
        request: &CloneRequest,
    ) -> Result<Upid, Error> {
        let id = template.to_string();
        self.change(permit, request.fill(of(&endpoints::VM_CLONE, node, &id))).await?.upid()
    }

    /// `PUT /nodes/{node}/qemu/{vmid}/config`: settings, at once.
    ///
    /// # Errors
    /// [`Error::Modified`], [`Error::VmLocked`], [`Error::NothingToDo`], [`Error::Absent`]; any other [`Error`].
    pub async fn vm_configure(
        &self,
        permit: &Permit,
        node: &NodeName,
        vmid: Vmid,
        settings: &VmSettings,
    ) -> Result<(), Error> {
        let id = vmid.to_string();
        self.done(permit, settings.fill(of(&endpoints::VM_CONFIG_SET, node, &id))?).await
    }

    /// `POST /nodes/{node}/qemu/{vmid}/config`: settings, as a task.
    ///
    /// # Errors
    /// As [`Client::vm_configure`].
    pub async fn vm_configure_as_task(
        &self,
        permit: &Permit,
        node: &NodeName,
        vmid: Vmid,
        settings: &VmSettings,
    ) -> Result<Option<Upid>, Error> {
        let id = vmid.to_string();
        self.change(permit, settings.fill(of(&endpoints::VM_CONFIG_TASK, node, &id))?).await?.upid_if_any()
    }

    /// `smbios1` with what it may carry. No recorder hears of this request.
    ///
    /// # Errors
    /// [`Error::Absent`] when the VM is not there; any other [`Error`].
    pub async fn vm_smbios(&self, node: &NodeName, vmid: Vmid) -> Result<SmbiosRead, Error> {
        let id = vmid.to_string();
        let answer = self.call_unheard(of(&endpoints::VM_CONFIG, node, &id)).await?;
        let digest = answer.decode(|data| {
            let row = Row::new(data, "data")?;
            row.need_text("digest")?.parse().map_err(|_| row.fault("digest", "is not a digest"))
        })?;
        let data = answer.data();
        let text = data.get("smbios1").and_then(serde_json::Value::as_str);
        Ok(SmbiosRead { smbios: text.map(Smbios::parse).transpose()?.unwrap_or_default(), digest })
    }

    /// Puts `serial` into `smbios1` and leaves everything else in it as it is; `None` takes it out. Refused when the
    /// configuration changes in between. A guest that runs sees it after its next cold start.
    ///
    /// # Errors
    /// [`Error::BadValue`] when the VM has no UUID there or the whole grows too long, [`Error::Modified`]; any other
    /// [`Error`].
    pub async fn vm_write_serial(
        &self,
        permit: &Permit,
        node: &NodeName,
        vmid: Vmid,
        serial: Option<&Secret>,
    ) -> Result<(), Error> {
        let SmbiosRead { mut smbios, digest } = self.vm_smbios(node, vmid).await?;
        smbios.set_serial(serial.map_or("", Secret::expose).as_bytes());
        let settings = VmSettings { smbios: Some(smbios), digest: Some(digest), ..VmSettings::default() };
        self.vm_configure(permit, node, vmid, &settings).await
    }

    /// `PUT /nodes/{node}/qemu/{vmid}/resize`. A size below the present one fails in the task:
    /// [`Error::DiskShrink`].
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn vm_resize(&self, permit: &Permit, node: &NodeName, vmid: Vmid, to: &Resize) -> Result<Upid, Error> {
        let id = vmid.to_string();
        self.change(permit, to.fill(of(&endpoints::VM_RESIZE, node, &id))).await?.upid()
    }

    /// Starts the VM. A VM that runs, or is not there, fails in the task.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn vm_start(&self, permit: &Permit, node: &NodeName, vmid: Vmid) -> Result<Upid, Error> {
        let id = vmid.to_string();
        self.change(permit, of(&endpoints::VM_START, node, &id)).await?.upid()
    }

    /// Asks the guest to shut down and waits `timeout_s` seconds for it (Proxmox: 60 where there is none), then fails with
    /// [`Error::ShutdownTimedOut`] in the task, or stops the VM where `force` says so.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn vm_shutdown(
        &self,
        permit: &Permit,
        node: &NodeName,
        vmid: Vmid,
        timeout_s: Option<u32>,
        force: bool,
    ) -> Result<Upid, Error> {
        let id = vmid.to_string();
        let call = of(&endpoints::VM_SHUTDOWN, node, &id).set_some("timeout", timeout_s);
        self.change(permit, call.set_flag("forceStop", force.then_some(true))).await?.upid()
    }

    /// Pulls the plug. A stopped VM is no error. While the guest is being asked to shut down the VM is busy, unless
    /// `overrule_shutdown` ends that first.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn vm_stop(
        &self,
        permit: &Permit,
        node: &NodeName,
        vmid: Vmid,
        overrule_shutdown: bool,
    ) -> Result<Upid, Error> {
        let id = vmid.to_string();
        let call = of(&endpoints::VM_STOP, node, &id);
        self.change(permit, call.set_flag("overrule-shutdown", overrule_shutdown.then_some(true))).await?.upid()
    }

    /// Shuts the guest down and starts it again: settings that wait come into force.
    ///
    /// # Errors
    /// [`Error::VmState`] for a stopped VM; any other [`Error`].
    pub async fn vm_reboot(
        &self,
        permit: &Permit,
        node: &NodeName,
        vmid: Vmid,
        timeout_s: Option<u32>,
    ) -> Result<Upid, Error> {
        let id = vmid.to_string();
        let call = of(&endpoints::VM_REBOOT, node, &id).set_some("timeout", timeout_s);
        self.change(permit, call).await?.upid()
    }

    /// Destroys a stopped VM and its disks: there is no way back. A locked VM fails in the task.
    ///
    /// # Errors
    /// [`Error::VmState`] while it runs, [`Error::Absent`]; any other [`Error`].
    pub async fn vm_destroy(
        &self,
        permit: &Permit,
        node: &NodeName,
        vmid: Vmid,
        leftovers: Leftovers,
    ) -> Result<Upid, Error> {
        let id = vmid.to_string();
        let call = of(&endpoints::VM_DESTROY, node, &id)
            .set_flag("purge", leftovers.purge.then_some(true))
            .set_flag("destroy-unreferenced-disks", leftovers.unreferenced_disks.then_some(true));
        self.change(permit, call).await?.upid()
    }
}

fn of<'a>(endpoint: &'static Endpoint, node: &'a NodeName, vmid: &'a str) -> Call<'a> {
    Call::new(endpoint).id("node", node.as_str()).id("vmid", vmid)
}
