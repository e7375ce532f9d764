//! What the guest agent can be asked without running anything in the guest.

use serde_json::Value;

use super::call::Call;
use super::client::Client;
use super::endpoints;
use super::error::Error;
use super::model::{AgentInterface, AgentState};
use super::wire::{Row, Unreadable};
use crate::backends::http::clean;

impl Client {
    /// Whether the guest agent of `vmid` answers a ping.
    ///
    /// # Errors
    /// Any [`Error`] that is not one of the four states.
    pub async fn agent_state(&self, node: &str, vmid: u32) -> Result<AgentState, Error> {
        let id = vmid.to_string();
        match self.call(Call::new(&endpoints::AGENT_PING).id("node", node).id("vmid", &id)).await {
            Ok(_) => Ok(AgentState::Answers),
            Err(Error::Agent(state)) => Ok(state),
            Err(other) => Err(other),
        }
    }

    /// The guest's interfaces and addresses, as its agent sees them.
    ///
    /// # Errors
    /// [`Error::Agent`] when nobody answers, [`Error::AgentRefused`] when the agent will not; any other [`Error`].
    pub async fn agent_interfaces(&self, node: &str, vmid: u32) -> Result<Vec<AgentInterface>, Error> {
        let id = vmid.to_string();
        let call = Call::new(&endpoints::AGENT_INTERFACES).id("node", node).id("vmid", &id);
        let answer = self.call(call).await?;
        if let Some(text) = refusal(&answer.data()) {
            return Err(Error::AgentRefused { text });
        }
        answer.decode(|data| {
            let result = Row::new(data, "data")?.get("result").unwrap_or(&Value::Null);
            Row::list(result, "data.result")?.iter().map(interface).collect()
        })
    }
}

/// An agent's own error comes with status 200: `result.error.desc`.
fn refusal(data: &Value) -> Option<String> {
    let error = data.get("result")?.get("error")?;
    let words = error.get("desc").or_else(|| error.get("class")).and_then(Value::as_str);
    Some(clean(words.unwrap_or("no reason given")))
}

fn interface(row: &Row<'_>) -> Result<AgentInterface, Unreadable> {
    let addresses = match row.get("ip-addresses") {
        None => Vec::new(),
        Some(list) => Row::list(list, &format!("{}.ip-addresses", row.at()))?
            .iter()
            .map(|address| {
                let ip = address.need_text("ip-address")?;
                Ok(match address.u32("prefix")? {
                    Some(prefix) => format!("{ip}/{prefix}"),
                    None => ip,
                })
            })
            .collect::<Result<_, _>>()?,
    };
    let mac = row.text("hardware-address")?.map(|m| m.to_ascii_lowercase());
    Ok(AgentInterface { name: row.need_text("name")?, mac, addresses })
}
