//! Source NAT (facts/opnsense.md §6).

use super::client::{Call, Client};
use super::endpoints;
use super::error::Error;
use super::filter::{family, protocol, side};
use super::model::{NatMode, NatRule, NotRead, RuleKind, SourceNat};
use super::version::Version;
use super::wire::{Read, Row};

/// What the model tells about source NAT.
#[derive(Debug, Default)]
struct Model {
    mode: Option<NatMode>,
    /// `None` where the model does not hold them (26.7).
    rules: Option<Vec<NatRule>>,
}

impl Client {
    /// Source NAT rules and their mode. Rules are taken from the model where it holds them: searches before 25.7 show
    /// texts, and from 26.1.11 on they hide manual rules in modes automatic and disabled. Manual rules come first.
    ///
    /// # Errors
    /// Any [`Error`] of reading version or model. What else fails is named in [`SourceNat::not_read`].
    pub async fn source_nat(&self) -> Result<SourceNat, Error> {
        let version = self.version_for_reading().await?;
        let model = self.call(Call::new(&endpoints::SNAT_MODEL)).await?.object(model)?;
        let mut not_read = Vec::new();
        let complete = model.rules.is_some();
        let mut rules = model.rules.unwrap_or_default();
        if !complete || version.tells_nat_mode() {
            match self.search(&endpoints::SNAT_LISTED, "", &[], listed).await {
                Ok(rows) => rules.extend(rows.into_iter().filter(|r| !complete || r.kind == RuleKind::Automatic)),
                Err(why) => not_read.push(NotRead { what: "source NAT rules", why }),
            }
        }
        let manual_applies = match &model.mode {
            None if version.tells_nat_mode() => None,
            None => Some(true),
            Some(mode) => Some(matches!(mode, NatMode::Hybrid | NatMode::Advanced)),
        };
        if !complete && manual_applies != Some(true) {
            match self.manual_rules().await {
                Ok(manual) => {
                    rules.retain(|r| r.kind == RuleKind::Automatic);
                    rules.splice(0..0, manual);
                }
                Err(why) => not_read.push(NotRead { what: "manual source NAT rules", why }),
            }
        }
        if model.mode.is_none() {
            let why = Error::NotOffered { what: "the mode of source NAT", version, since: Version::new(26, 1, 11) };
            not_read.push(NotRead { what: "the mode of source NAT", why });
        }
        Ok(SourceNat { mode: model.mode, rules, manual_applies, not_read })
    }

    /// Manual rules from the filter model: the list of source NAT hides them in modes where they have no effect.
    async fn manual_rules(&self) -> Result<Vec<NatRule>, Error> {
        self.call(Call::new(&endpoints::FILTER_MODEL)).await?.object(|answer| {
            let read = model(answer)?;
            read.rules.ok_or_else(|| answer.fault("filter.snatrules", "is missing"))
        })
    }
}

/// `{"filter":{"general":{"snat_mode":…},"snatrules":{"rule":{…}}}}`, either part where the version has it.
fn model(answer: &Row<'_>) -> Read<Model> {
    let filter = answer.sub("filter")?;
    let mut read = Model::default();
    if filter.get("general").is_some_and(serde_json::Value::is_object) {
        read.mode = filter.sub("general")?.key("snat_mode")?.map(|word| match word.as_str() {
            "automatic" => NatMode::Automatic,
            "hybrid" => NatMode::Hybrid,
            "advanced" => NatMode::Advanced,
            "disabled" => NatMode::Disabled,
            _ => NatMode::Other(word),
        });
    }
    if filter.get("snatrules").is_some() {
        let rules = filter.sub("snatrules")?;
        let named = Row::named(rules.need("rule")?, "filter.snatrules.rule")?;
        let mut list: Vec<NatRule> = Vec::with_capacity(named.len());
        for (uuid, row) in named {
            list.push(rule(crate::backends::http::clean(uuid), RuleKind::Managed, &row)?);
        }
        list.sort_by_key(|r| r.sequence);
        read.rules = Some(list);
    }
    Ok(read)
}

fn listed(row: &Row<'_>) -> Read<NatRule> {
    let automatic = row.bool("is_automatic")?.unwrap_or(false);
    let kind = if automatic { RuleKind::Automatic } else { RuleKind::Managed };
    rule(row.need_text("uuid")?, kind, row)
}

fn rule(uuid: String, kind: RuleKind, row: &Row<'_>) -> Read<NatRule> {
    Ok(NatRule {
        uuid,
        kind,
        enabled: row.need_bool("enabled")?,
        no_nat: row.bool("nonat")?.unwrap_or(false),
        interfaces: row.keys("interface")?,
        family: family(row)?,
        protocol: protocol(row)?,
        source: side(row, "source")?,
        destination: side(row, "destination")?,
        target: row.key("target")?,
        target_port: row.key("target_port")?,
        static_port: row.bool("staticnatport")?,
        description: row.text("description")?.unwrap_or_default(),
        sequence: row.u32("sequence")?,
    })
}
