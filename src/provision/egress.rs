//! What gives a tenant its way out on each exit node: its part of `frr.conf.local`, and the default route that the kernel has
//! for its VRF once that was merged and loaded (domain.md §6).

mod render;
mod stanza;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fields::{Difference, Seen, fields};
use super::object::{Doing, Ensure, Looking, Place, only_looks};
use super::trouble::{Trouble, TroubleKind};
use super::world::Context;
use crate::backends::exit_node::model::{Reading, Readout, RouteKind};
use crate::backends::permit::Permit;
pub use render::{difference as file_difference, rendered};
pub use stanza::Stanza;

/// After how long an exit node that says nothing is given up.
const DEADLINE: Duration = Duration::from_secs(20);

/// The default route of a VRF as the kernel of an exit node has it: proof that what was staged, applied and reloaded arrived.
/// Nothing is changed through it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VrfDefault {
    /// The exit node, by its Proxmox node id.
    pub node: String,
    /// The VRF device, e.g. `vrf_tdemo`.
    pub vrf: String,
}

impl Ensure for VrfDefault {
    fn place(&self) -> Place {
        Place::Exit
    }

    fn name(&self) -> String {
        format!("default route of {} on {}", self.vrf, self.node)
    }

    only_looks!();

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let client = context.world.exit_node(&self.node)?;
            let reading = client.read(DEADLINE, &[]).await.map_err(|e| Trouble::from(&e))?;
            self.in_reading(&reading)
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, _permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            context.tell(format!("waits for the {}", self.name()));
            Ok(())
        })
    }
}

impl VrfDefault {
    /// Its gateway and device. Anything that could not be read is an error: a route that was not seen is not absent.
    fn in_reading(&self, reading: &Reading) -> Result<Seen, Trouble> {
        let unread =
            |what: &str| Trouble::new(TroubleKind::Unknown, format!("{what} of {} could not be read", self.node));
        let Readout::Value(links) = &reading.links else { return Err(unread("the links")) };
        if !links.iter().any(|link| link.name == self.vrf) {
            return Ok(Seen::Absent);
        }
        let Some(Readout::Value(routes)) = reading.vrf_routes.get(&self.vrf) else {
            return Err(unread(&format!("the routes of {}", self.vrf)));
        };
        // Proxmox' fallback, and blackholes, lead nowhere.
        let default = routes.iter().find(|route| route.dst.prefix_len() == 0 && route.kind == RouteKind::Unicast);
        Ok(default.map_or(Seen::Absent, |route| {
            let gateway = route.gateway.map(|gateway| ("gateway", gateway.to_string()));
            let device = route.dev.clone().map(|device| ("device", device));
            Seen::Present(fields(gateway.into_iter().chain(device)))
        }))
    }
}
