//! Changing SDN objects: the lock, what is written under it, and making it real (facts/proxmox.md §4, §6, §7).

use super::call::Call;
use super::client::Client;
use super::endpoints;
use super::error::Error;
use super::names::{ControllerId, LockToken, SubnetId, VnetId, ZoneId};
use super::sdn_request::{
    ControllerChange, NewController, NewSubnet, NewVnet, NewZone, SubnetChange, VnetChange, ZoneChange,
};
use super::upid::Upid;
use super::wire::Unreadable;
use crate::backends::permit::Permit;

/// Whether the lock is given while changes wait, which may be anybody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Refuse: [`Error::SdnPending`]. Pending changes of fabrics are not seen by Proxmox here.
    Refuse,
    /// Take it all the same.
    Allow,
}

/// What becomes of the lock once an apply or a rollback is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// It is given back, before any node reloads.
    Release,
    /// It stays.
    Keep,
}

impl Client {
    /// `POST /cluster/sdn/lock`. From here on nobody else writes, the web interface included, and Proxmox notes neither
    /// who holds the lock nor since when: keep the token where a crash does not lose it.
    ///
    /// # Errors
    /// [`Error::SdnLocked`] when somebody has it, [`Error::SdnPending`] when changes wait; any other [`Error`]. After
    /// one whose outcome is unknown the lock may be ours without its token: only force frees it then.
    pub async fn sdn_lock(&self, permit: &Permit, waiting: Waiting) -> Result<LockToken, Error> {
        let call = Call::new(&endpoints::SDN_LOCK);
        let call = call.set_flag("allow-pending", (waiting == Waiting::Allow).then_some(true));
        self.change(permit, call).await?.decode(|data| {
            let token = data.as_str().and_then(|text| text.parse().ok());
            token.ok_or_else(|| Unreadable { at: "data".to_owned(), why: "is not a token".to_owned() })
        })
    }

    /// `DELETE /cluster/sdn/lock` with our token. Succeeds as well when nobody holds the lock.
    ///
    /// # Errors
    /// [`Error::SdnLocked`] when the lock is somebody else's by now; any other [`Error`].
    pub async fn sdn_unlock(&self, permit: &Permit, token: &LockToken) -> Result<(), Error> {
        self.done(permit, Call::new(&endpoints::SDN_UNLOCK).under(token)).await
    }

    /// `DELETE /cluster/sdn/lock?force=1`: takes the lock from whoever holds it. Succeeds as well when nobody does.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn sdn_unlock_by_force(&self, permit: &Permit) -> Result<(), Error> {
        self.done(permit, Call::new(&endpoints::SDN_UNLOCK).set_flag("force", Some(true))).await
    }

    /// `PUT /cluster/sdn`: makes *every* pending change real, whoever made it, and reloads the network of each node. The
    /// task's `OK` says nothing about the nodes; see [`super::Reloads`] and each node's own tasks and zones.
    ///
    /// # Errors
    /// [`Error::SdnLocked`] with a token that is not the lock's; any other [`Error`].
    pub async fn sdn_apply(&self, permit: &Permit, token: &LockToken, lock: Lock) -> Result<Upid, Error> {
        self.change(permit, lock.told(Call::new(&endpoints::SDN_APPLY).under(token))).await?.upid()
    }

    /// `POST /cluster/sdn/rollback`: drops *every* pending change, whoever made it.
    ///
    /// # Errors
    /// [`Error::SdnLocked`] with a token that is not the lock's; any other [`Error`].
    pub async fn sdn_rollback(&self, permit: &Permit, token: &LockToken, lock: Lock) -> Result<(), Error> {
        self.done(permit, lock.told(Call::new(&endpoints::SDN_ROLLBACK).under(token))).await
    }

    /// `POST /cluster/sdn/zones`.
    ///
    /// # Errors
    /// [`Error::Exists`] for a zone of that id, [`Error::Conflict`] for a VXLAN id that another zone has,
    /// [`Error::ReferenceAbsent`] without the controller; any other [`Error`].
    pub async fn zone_create(&self, permit: &Permit, token: &LockToken, zone: &NewZone) -> Result<(), Error> {
        self.done(permit, zone.fill(Call::new(&endpoints::ZONE_CREATE).under(token))).await
    }

    /// `PUT /cluster/sdn/zones/{zone}`.
    ///
    /// # Errors
    /// [`Error::Absent`], [`Error::Modified`]; any other [`Error`].
    pub async fn zone_update(
        &self,
        permit: &Permit,
        token: &LockToken,
        zone: &ZoneId,
        change: &ZoneChange,
    ) -> Result<(), Error> {
        let call = Call::new(&endpoints::ZONE_UPDATE).id("zone", zone.as_str()).under(token);
        self.done(permit, change.fill(call)).await
    }

    /// `DELETE /cluster/sdn/zones/{zone}`.
    ///
    /// # Errors
    /// [`Error::Absent`]; one that [`Error::is_in_use`] while it has VNets; any other [`Error`].
    pub async fn zone_delete(&self, permit: &Permit, token: &LockToken, zone: &ZoneId) -> Result<(), Error> {
        self.done(permit, Call::new(&endpoints::ZONE_DELETE).id("zone", zone.as_str()).under(token)).await
    }

    /// `POST /cluster/sdn/vnets`.
    ///
    /// # Errors
    /// [`Error::Exists`] for a VNet of that id, [`Error::BadParameters`] of `tag` for a VXLAN id that another VNet has,
    /// [`Error::ReferenceAbsent`] without the zone; any other [`Error`].
    pub async fn vnet_create(&self, permit: &Permit, token: &LockToken, vnet: &NewVnet) -> Result<(), Error> {
        self.done(permit, vnet.fill(Call::new(&endpoints::VNET_CREATE).under(token))).await
    }

    /// `PUT /cluster/sdn/vnets/{vnet}`.
    ///
    /// # Errors
    /// [`Error::Absent`], [`Error::Modified`]; any other [`Error`].
    pub async fn vnet_update(
        &self,
        permit: &Permit,
        token: &LockToken,
        vnet: &VnetId,
        change: &VnetChange,
    ) -> Result<(), Error> {
        let call = Call::new(&endpoints::VNET_UPDATE).id("vnet", vnet.as_str()).under(token);
        self.done(permit, change.fill(call)).await
    }

    /// `DELETE /cluster/sdn/vnets/{vnet}`.
    ///
    /// # Errors
    /// [`Error::Absent`]; one that [`Error::is_in_use`] while it has subnets; any other [`Error`].
    pub async fn vnet_delete(&self, permit: &Permit, token: &LockToken, vnet: &VnetId) -> Result<(), Error> {
        self.done(permit, Call::new(&endpoints::VNET_DELETE).id("vnet", vnet.as_str()).under(token)).await
    }

    /// `POST /cluster/sdn/vnets/{vnet}/subnets`.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Absent`] without the VNet, [`Error::BadParameters`] for a gateway outside; any other
    /// [`Error`]. Overlaps are not refused.
    pub async fn subnet_create(&self, permit: &Permit, token: &LockToken, subnet: &NewSubnet) -> Result<(), Error> {
        let call = Call::new(&endpoints::SUBNET_CREATE).id("vnet", subnet.vnet.as_str()).under(token);
        self.done(permit, subnet.fill(call)).await
    }

    /// `PUT /cluster/sdn/vnets/{vnet}/subnets/{subnet}`.
    ///
    /// # Errors
    /// [`Error::Absent`], [`Error::Modified`]; any other [`Error`].
    pub async fn subnet_update(
        &self,
        permit: &Permit,
        token: &LockToken,
        vnet: &VnetId,
        subnet: &SubnetId,
        change: &SubnetChange,
    ) -> Result<(), Error> {
        let call = Call::new(&endpoints::SUBNET_UPDATE).id("vnet", vnet.as_str()).id("subnet", subnet.as_str());
        self.done(permit, change.fill(call.under(token))).await
    }

    /// `DELETE /cluster/sdn/vnets/{vnet}/subnets/{subnet}`. Succeeds as well for a subnet that does not exist.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn subnet_delete(
        &self,
        permit: &Permit,
        token: &LockToken,
        vnet: &VnetId,
        subnet: &SubnetId,
    ) -> Result<(), Error> {
        let call = Call::new(&endpoints::SUBNET_DELETE).id("vnet", vnet.as_str()).id("subnet", subnet.as_str());
        self.done(permit, call.under(token)).await
    }

    /// `POST /cluster/sdn/controllers`.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Conflict`] beside another EVPN controller; any other [`Error`].
    pub async fn controller_create(
        &self,
        permit: &Permit,
        token: &LockToken,
        controller: &NewController,
    ) -> Result<(), Error> {
        self.done(permit, controller.fill(Call::new(&endpoints::CONTROLLER_CREATE).under(token))).await
    }

    /// `PUT /cluster/sdn/controllers/{controller}`.
    ///
    /// # Errors
    /// [`Error::Absent`], [`Error::Modified`]; any other [`Error`].
    pub async fn controller_update(
        &self,
        permit: &Permit,
        token: &LockToken,
        controller: &ControllerId,
        change: &ControllerChange,
    ) -> Result<(), Error> {
        let call = Call::new(&endpoints::CONTROLLER_UPDATE).id("controller", controller.as_str()).under(token);
        self.done(permit, change.fill(call)).await
    }

    /// `DELETE /cluster/sdn/controllers/{controller}`.
    ///
    /// # Errors
    /// [`Error::Absent`]; one that [`Error::is_in_use`] while a zone has it; any other [`Error`].
    pub async fn controller_delete(
        &self,
        permit: &Permit,
        token: &LockToken,
        controller: &ControllerId,
    ) -> Result<(), Error> {
        let call = Call::new(&endpoints::CONTROLLER_DELETE).id("controller", controller.as_str()).under(token);
        self.done(permit, call).await
    }

    /// A change whose answer says nothing.
    pub(super) async fn done(&self, permit: &Permit, call: Call<'_>) -> Result<(), Error> {
        self.change(permit, call).await.map(drop)
    }
}

impl Lock {
    /// Said aloud: Proxmox's description says that releasing is the default, its code does not.
    fn told(self, call: Call<'_>) -> Call<'_> {
        call.set_flag("release-lock", (self == Self::Release).then_some(true))
    }
}
