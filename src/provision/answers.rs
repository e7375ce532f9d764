//! What the errors of back ends mean for a step.

use super::trouble::{Trouble, TroubleKind};
use crate::backends::http::Outcome;
use crate::backends::{exit_node, opnsense, powerdns, proxmox};

impl From<&exit_node::error::Error> for Trouble {
    fn from(error: &exit_node::error::Error) -> Self {
        use exit_node::error::Error as E;
        let kind = match error {
            E::ConnectionRefused { .. } | E::Unreachable { .. } => TroubleKind::NotReached,
            E::Disconnected { .. } | E::TimedOut { .. } => TroubleKind::Unsettled,
            _ => TroubleKind::Refused,
        };
        Self::new(kind, error.to_string()).with_help(error.help())
    }
}

impl From<&proxmox::Error> for Trouble {
    fn from(error: &proxmox::Error) -> Self {
        use proxmox::Error as E;
        let kind = match (error.outcome(), error) {
            (_, E::Busy { .. } | E::VmLocked { .. }) => TroubleKind::Busy,
            (Outcome::NotSent, E::Http(_)) => TroubleKind::NotReached,
            // Words that are not Proxmox' own refusals may come from whatever stands between, after it acted.
            (Outcome::Unknown, _) | (_, E::Other { status: 500.., .. }) => TroubleKind::Unsettled,
            // The node it was meant for is not there now.
            (_, E::NodeUnreachable { .. }) => TroubleKind::NotReached,
            _ => TroubleKind::Refused,
        };
        Self::new(kind, error.to_string()).with_help(error.help())
    }
}

impl From<&powerdns::Error> for Trouble {
    fn from(error: &powerdns::Error) -> Self {
        use powerdns::Error as E;
        let kind = match (error.outcome(), error) {
            (_, E::Moved { .. }) => TroubleKind::Moved,
            (_, E::Overtaken { .. }) => TroubleKind::NotSeen,
            (Outcome::NotSent, E::Http(_) | E::Tunnel(_) | E::TunnelSocket { .. } | E::TunnelLost { .. }) => {
                TroubleKind::NotReached
            }
            (Outcome::Unknown, _) => TroubleKind::Unsettled,
            _ => TroubleKind::Refused,
        };
        Self::new(kind, error.to_string()).with_help(error.help())
    }
}

impl From<&opnsense::Error> for Trouble {
    fn from(error: &opnsense::Error) -> Self {
        use opnsense::Error as E;
        let kind = match (error.outcome(), error) {
            (Outcome::NotSent, E::Http(_)) => TroubleKind::NotReached,
            (Outcome::Unknown, _) | (_, E::Incomplete { .. }) => TroubleKind::Unsettled,
            _ => TroubleKind::Refused,
        };
        Self::new(kind, error.to_string()).with_help(error.help())
    }
}
