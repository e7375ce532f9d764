//! What the errors of back ends mean for a step.

use super::trouble::{Trouble, TroubleKind};
use crate::backends::exit_node;

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
