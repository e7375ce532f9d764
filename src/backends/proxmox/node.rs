//! One node: load and staged network changes.

use super::call::Call;
use super::client::Client;
use super::endpoints;
use super::error::Error;
use super::model::NodeStatus;
use super::wire::{Row, Unreadable};

/// `changes` of `GET /nodes/{node}/network`: an SDN apply activates them too (facts/proxmox.md §7).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StagedNetwork {
    /// Diff of `interfaces` against `interfaces.new`; `None` when nothing is staged.
    pub changes: Option<String>,
}

impl Client {
    /// `GET /nodes/{node}/status`.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn node_status(&self, node: &str) -> Result<NodeStatus, Error> {
        let answer = self.call(Call::new(&endpoints::NODE_STATUS).id("node", node)).await?;
        answer.decode(|data| status(&Row::new(data, "data")?))
    }

    /// What `interfaces.new` on `node` would change.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn staged_network(&self, node: &str) -> Result<StagedNetwork, Error> {
        let answer = self.call(Call::new(&endpoints::NODE_NETWORK).id("node", node)).await?;
        // The interfaces themselves are not used, but an answer without them is not this endpoint's.
        answer.decode(|data| Row::list(data, "data").map(drop))?;
        let changes = answer.beside().block("changes").map_err(|fault| answer.unreadable(fault))?;
        Ok(StagedNetwork { changes: changes.filter(|text| !text.trim().is_empty()) })
    }
}

impl Client {
    /// Bridges of `node` that a guest may be put on, VNets among them, as far as the token may use them.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn bridges(&self, node: &str) -> Result<Vec<String>, Error> {
        let call = Call::new(&endpoints::NODE_NETWORK).id("node", node).set("type", "any_bridge");
        self.call(call).await?.rows(|row| row.need_text("iface"))
    }
}

fn status(row: &Row<'_>) -> Result<NodeStatus, Unreadable> {
    let part = |key: &str| row.get(key).map(|v| Row::new(v, format!("{}.{key}", row.at()))).transpose();
    let (memory, kernel) = (part("memory")?, part("current-kernel")?);
    let bytes = |key: &str| memory.as_ref().map_or(Ok(None), |m| m.u64(key));
    Ok(NodeStatus {
        uptime_s: row.u64("uptime")?,
        cpu: row.f64("cpu")?,
        mem: bytes("used")?,
        maxmem: bytes("total")?,
        pve_version: row.text("pveversion")?,
        kernel: kernel.map_or(Ok(None), |k| k.text("release"))?,
    })
}
