//! The network of a tenant, in a lab with two others and the first half alone. Nobody types a name who is not told to.

#![allow(dead_code, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests, not all used by each")]

use std::time::Duration;

use deevnet_console::provision::approve::ApprovedPlan;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::fields::{Fields, fields};
use deevnet_console::provision::object::Object;
use deevnet_console::provision::plan::{Plan, Question, Step, Subject};
use deevnet_console::provision::sdn::{SdnApply, SdnLock, SdnSubnet, SdnVnet, SdnZone};
use deevnet_console::provision::world::Patience;
use deevnet_console::site::Site;
use deevnet_console::site::names::TenantName;
use deevnet_console::site::numbering::TenantIndex;

use super::change_common::{Bench, Options};

pub async fn bench() -> Bench {
    looking_every(Duration::from_secs(1)).await
}

/// The same with so much time between two looks.
pub async fn looking_every(between: Duration) -> Bench {
    let two = Options::tenants(2);
    let patience = Patience { between, ..two.patience };
    Options { second_half: false, typed: false, patience, ..two }.start().await
}

/// The network of a tenant that the lab does not have.
pub fn network(site: &Site, lock: SdnLock) -> Plan {
    let name: TenantName = "rtrip".parse().unwrap();
    let index = TenantIndex::new(60).unwrap();
    let (zone, vnet) = (name.as_str().to_owned(), name.vnet(0).unwrap());
    let node = site.proxmox.node.clone();
    let derived = &site.numbering;
    let zone_fields = fields([
        ("type", "evpn".to_owned()),
        ("controller", site.proxmox.controller.clone()),
        ("vrf-vxlan", derived.vrf_vni(index).to_string()),
        ("nodes", node.clone()),
        ("exitnodes", node.clone()),
        ("exitnodes-primary", node.clone()),
    ]);
    let vnet_fields = fields([("zone", zone.clone()), ("tag", derived.vnet_vni(index, 0).unwrap().to_string())]);
    let subnet = SdnSubnet { zone: zone.clone(), vnet: vnet.clone(), net: derived.subnet(index) };
    let subnet_fields = fields([("gateway", derived.gateway(index).to_string()), ("snat", "1".to_owned())]);
    Plan {
        site: site.name.clone(),
        title: "Network of rtrip".to_owned(),
        subject: Subject { name: zone.clone(), tenant: Some(zone.clone()) },
        steps: vec![
            Step::present(Object::SdnLock(lock), SdnLock::held()),
            Step::present(Object::SdnZone(SdnZone { zone }), zone_fields),
            Step::present(Object::SdnVnet(SdnVnet { vnet }), vnet_fields),
            Step::present(Object::SdnSubnet(subnet), subnet_fields).following(),
            Step::present(Object::SdnApply(SdnApply { nodes: vec![node] }), Fields::new()).following(),
        ],
        reach: None,
    }
}

impl Bench {
    pub fn plan(&self) -> Plan {
        network(&self.world.site, SdnLock::default())
    }

    /// Takes the newest change up with another lock.
    pub async fn resume_with(&self, lock: SdnLock) -> Ended {
        let entry = self.journal.read(self.newest()).unwrap();
        let mut plan = entry.plan.clone();
        plan.steps[0].object = Object::SdnLock(lock);
        let preview = plan.preview(&self.world, entry.notes()).await;
        self.engine(self.approved(preview).unwrap(), Some(entry.id)).await
    }

    /// Runs a plan until the token of its lock is noted, and no further.
    pub async fn cut_when_noted(&self, approved: ApprovedPlan) {
        let noted = || {
            let id = self.journal.ids().unwrap().last().copied();
            id.and_then(|id| self.journal.read(id).ok()).is_some_and(|entry| entry.notes().get("sdn-lock").is_some())
        };
        {
            let mut run = std::pin::pin!(self.engine(approved, None));
            std::future::poll_fn(|context| {
                let ended = run.as_mut().poll(context).is_ready();
                assert!(!ended, "it was cut");
                if noted() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
        }
    }

    /// Everything is there, realised, applied, and the lock is free.
    pub async fn is_whole(&self) {
        let again = self.look(self.plan()).await;
        assert!(again.is_empty(), "{:?}", again.looks);
        assert_eq!(again.question(), Question::Nothing);
        self.lock_is_free().await;
    }

    pub async fn lock_is_free(&self) {
        let only_lock =
            Plan { steps: vec![self.plan().steps[0].clone(), renamed(&self.plan().steps[1])], ..self.plan() };
        let Ended::Early { step, .. } = self.run(only_lock).await else {
            panic!("a zone without a controller is refused")
        };
        assert_eq!(step, 1, "the lock could be taken");
    }
}

/// A zone that Proxmox refuses.
pub fn renamed(step: &Step) -> Step {
    let mut step = step.clone();
    step.object = Object::SdnZone(SdnZone { zone: "probe".to_owned() });
    if let deevnet_console::provision::fields::Wanted::Present(fields) = &mut step.wanted {
        fields.insert("controller".to_owned(), "nobody".to_owned());
    }
    step
}
