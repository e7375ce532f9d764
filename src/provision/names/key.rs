//! The key of a tenant: that it is there. Its secret is never read for that.

use serde::{Deserialize, Serialize};

use super::{all_zones, dns_name, listed, owns_key};
use crate::backends::permit::Permit;
use crate::backends::powerdns::{Error, Name, Write, fresh_secret};
use crate::provision::fields::{Difference, Seen, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// A TSIG key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TsigKey {
    /// Its name, without final dot.
    pub key: String,
    /// Zones that may list it before it is there. Any other that does would be written with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<String>,
    /// Whether a key that came after it by rotation will do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_next: bool,
}

impl TsigKey {
    fn is_meant(&self, key: &Name) -> bool {
        key.as_str() == self.key || (self.or_next && owns_key(&self.key, key.as_str()))
    }

    /// Refuses where zones list the key that are not among those that may.
    async fn unlisted(&self, context: &Context, may: &[String], help: &str) -> Result<(), Trouble> {
        let own = Name::new(&self.key);
        let all = all_zones(context.world.powerdns()?).await?;
        let others = all.iter().filter(|held| held.metadata.update_keys().contains(&own));
        let others = others.map(|held| held.metadata.zone.as_str()).filter(|zone| !may.iter().any(|own| own == zone));
        match listed(others) {
            None => Ok(()),
            Some(zones) => {
                let text = format!("{} is listed by {zones}: whoever has the key writes there", self.name());
                Err(Trouble::new(TroubleKind::Refused, text).with_help(help))
            }
        }
    }
}

impl Ensure for TsigKey {
    fn place(&self) -> Place {
        Place::Dns
    }

    fn name(&self) -> String {
        format!("TSIG key {}", self.key)
    }

    fn danger(&self, todo: &Difference) -> Danger {
        if matches!(todo, Difference::Delete(_)) { Danger::Final } else { Danger::One }
    }

    fn undo(&self, todo: &Difference) -> Undo {
        match todo {
            Difference::Delete(_) => Undo::None("its secret is gone: a new key of that name is another one"),
            _ => Undo::Inverse,
        }
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let keys = context.world.powerdns()?.tsig_keys().await.map_err(|e| Trouble::from(&e))?;
            let meant = keys.iter().filter(|key| self.is_meant(&key.name)).map(|key| &key.algorithm);
            Ok(match listed(meant) {
                None => Seen::Absent,
                Some(algorithms) => Seen::Present(fields([("algorithm", algorithms)])),
            })
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            let client = context.world.powerdns()?;
            let name = dns_name(&self.key)?;
            let done = match todo {
                Difference::Nothing => return Ok(()),
                Difference::Create(_) => {
                    self.unlisted(context, &self.zones, "take it out of that list first").await?;
                    let secret = fresh_secret().map_err(|e| Trouble::from(&Error::from(e)))?;
                    client.perform(permit, &Write::CreateKey { name, secret: Some(secret) }).await
                }
                Difference::Update(_) => {
                    let text = format!("{} is there with another algorithm, which cannot be changed", self.name());
                    return Err(Trouble::new(TroubleKind::Refused, text).with_help("rotate to a second key"));
                }
                Difference::Delete(_) => {
                    self.unlisted(context, &[], "take it out of those lists first").await?;
                    client.perform(permit, &Write::DeleteKey(name)).await
                }
            };
            done.map(|_| ()).map_err(|e| Trouble::from(&e))
        })
    }
}
