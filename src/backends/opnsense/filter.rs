//! Filter rules: the model's own, joined with the legacy and automatic ones a search shows and with pf's counters
//! (facts/opnsense.md §4).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::client::{Call, Client};
use super::endpoints;
use super::error::Error;
use super::model::{Action, Direction, Family, Hits, NotRead, Rule, RuleKind, RuleSet, Side};
use super::version::Version;
use super::wire::{Read, Row, split};

/// What the model knows: its rules, and the interfaces that its rules may name.
#[derive(Debug, Default)]
struct Model {
    rules: Vec<Rule>,
    /// Id → description.
    interfaces: BTreeMap<String, String>,
}

impl Client {
    /// Every rule: managed ones from the model (a search hides most of them on some versions, facts §1 item 5), legacy
    /// and automatic ones from the rule page's search, counters and whether it is loaded from pf.
    ///
    /// # Errors
    /// Any [`Error`] of reading the version or the model. What else fails is named in [`RuleSet::not_read`].
    pub async fn rules(&self) -> Result<RuleSet, Error> {
        let version = self.version_for_reading().await?;
        let mut model = self.call(Call::new(&endpoints::FILTER_MODEL)).await?.object(managed_rules)?;
        if model.interfaces.is_empty() {
            // Without a single rule only the empty one names the interfaces.
            let template = self.call(Call::new(&endpoints::RULE_TEMPLATE)).await?;
            model.interfaces = template.object(|answer| Ok(interfaces(&answer.sub("rule")?).collect()))?;
        }
        let mut not_read = Vec::new();
        let mut note = |what, why| not_read.push(NotRead { what, why });
        let mut rules = model.rules;
        match self.foreign_rules(version, &model.interfaces).await {
            Ok(foreign) => rules.extend(foreign),
            Err(why) => note("legacy and automatic rules", why),
        }
        let stats = match self.rule_stats().await {
            Ok(stats) => Some(stats),
            Err(why) => {
                note("counters and the loaded set", why);
                None
            }
        };
        let counters_cached = version.caches_counters();
        let loaded_unknown = stats.as_ref().map(|s| join(&mut rules, s, counters_cached)).unwrap_or_default();
        rules.sort_by_cached_key(place);
        Ok(RuleSet { rules, counters_cached, loaded_unknown, not_read })
    }

    /// One managed rule as saved. Whether it is loaded, only [`Client::rule_stats`] knows.
    ///
    /// # Errors
    /// Any [`Error`]; [`Error::Absent`] when there is none, which OPNsense says with an empty list.
    pub async fn rule(&self, uuid: &str) -> Result<Rule, Error> {
        let answer = self.call(Call::new(&endpoints::RULE).id(uuid)).await?;
        let read = answer.decode(|value| match value {
            Value::Array(none) if none.is_empty() => Ok(None),
            other => rule(uuid.to_owned(), RuleKind::Managed, &Row::new(other, "")?.sub("rule")?).map(Some),
        })?;
        read.ok_or_else(|| Error::Absent { what: format!("rule {uuid}") })
    }

    /// Legacy and automatic rules.
    async fn foreign_rules(&self, version: Version, names: &BTreeMap<String, String>) -> Result<Vec<Rule>, Error> {
        if !version.lists_foreign_rules() {
            let what = "legacy and automatic rules";
            return Err(Error::NotOffered { what, version, since: Version::new(25, 1, 5) });
        }
        let mut extra = vec![("show_all", "1")];
        let every;
        if !version.searches_all_interfaces() {
            // A search without interfaces holds floating rules only: all are named, the loopback, which nobody may
            // choose, among them.
            let mut ids = self.call(Call::new(&endpoints::RULE_INTERFACES)).await?.object(rule_interfaces)?;
            ids.insert("lo0".to_owned());
            every = ids.into_iter().collect::<Vec<_>>().join(",");
            extra.push(("interface", every.as_str()));
        }
        let rows = self.search(&endpoints::RULES_LISTED, "", &extra, |row| foreign_rule(row, names)).await?;
        Ok(rows.into_iter().flatten().collect())
    }
}

/// Sets counters and `loaded` of each rule; returns the labels that belong to none. Where counters may be old, a rule
/// that is missing from them may have been loaded since.
fn join(rules: &mut [Rule], stats: &BTreeMap<String, Hits>, cached: bool) -> BTreeSet<String> {
    let mut strangers: BTreeSet<String> = stats.keys().cloned().collect();
    for rule in rules {
        strangers.remove(&rule.uuid);
        rule.hits = stats.get(&rule.uuid).copied();
        rule.loaded = match rule.hits {
            Some(_) => Some(true),
            None if cached => None,
            None => Some(false),
        };
    }
    strangers
}

/// Sorts as pf evaluates. 24.7 tells no order: there it is made of the same parts, floating before interface rules.
fn place(rule: &Rule) -> String {
    rule.order.clone().unwrap_or_else(|| {
        let floating = rule.interfaces.len() != 1 || rule.interfaces_negated;
        let group = if floating { 200_000 } else { 400_000 };
        format!("{group}.0{:06}", rule.sequence.unwrap_or(0))
    })
}

/// `{"filter":{"rules":{"rule":{uuid:{…}}}}}`.
fn managed_rules(answer: &Row<'_>) -> Read<Model> {
    let rules = answer.sub("filter")?.sub("rules")?;
    let mut model = Model::default();
    for (uuid, row) in Row::named(rules.need("rule")?, "filter.rules.rule")? {
        model.interfaces.extend(interfaces(&row));
        model.rules.push(rule(crate::backends::http::clean(uuid), RuleKind::Managed, &row)?);
    }
    Ok(model)
}

/// Id and description of every interface a rule may name.
fn interfaces(rule: &Row<'_>) -> impl Iterator<Item = (String, String)> + use<> {
    rule.choices("interface").into_iter().filter(|(id, _)| !id.is_empty())
}

/// `{"groups":{"items":[{"value":"enc0",…}]},"interfaces":{…},"floating":{…}}`.
fn rule_interfaces(answer: &Row<'_>) -> Read<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for part in ["groups", "interfaces"] {
        for item in Row::list(answer.sub(part)?.need("items")?, part)? {
            ids.insert(item.need_text("value")?);
        }
    }
    Ok(ids)
}

/// A row of the rule page; `None` for a managed one, which the model tells better.
fn foreign_rule(row: &Row<'_>, names: &BTreeMap<String, String>) -> Read<Option<Rule>> {
    let legacy = row.bool("legacy")?.unwrap_or(false);
    let automatic = row.bool("is_automatic")?;
    if !legacy && automatic != Some(true) {
        return Ok(None);
    }
    let origin = row.some_text("ref")?;
    // 25.1 does not say which of the two it is, but where the rule comes from.
    let by_hand = || origin.as_deref().is_some_and(|page| page.starts_with("firewall_rules"));
    let kind = if automatic.unwrap_or_else(|| !by_hand()) { RuleKind::Automatic } else { RuleKind::Legacy };
    let mut rule = rule(row.need_text("uuid")?, kind, row)?;
    rule.origin = origin;
    rule.interfaces = rule.interfaces.iter().map(|shown| id_of(shown, names)).collect();
    Ok(Some(rule))
}

/// The id of the one interface described so; else the text itself.
fn id_of(shown: &str, names: &BTreeMap<String, String>) -> String {
    if names.contains_key(shown) {
        return shown.to_owned();
    }
    let mut fits = names.iter().filter(|(_, description)| *description == shown);
    match (fits.next(), fits.next()) {
        (Some((id, _)), None) => id.clone(),
        _ => shown.to_owned(),
    }
}

fn rule(uuid: String, kind: RuleKind, row: &Row<'_>) -> Read<Rule> {
    let disabled = row.bool("disabled")?.unwrap_or(false);
    let enabled = match kind {
        RuleKind::Managed => row.need_bool("enabled")?,
        _ => row.bool("enabled")?.unwrap_or(!disabled) && !disabled,
    };
    Ok(Rule {
        uuid,
        kind,
        enabled,
        action: action(row, kind)?,
        // Rows of legacy and automatic rules leave the field out where it is set.
        quick: match kind {
            RuleKind::Managed => row.need_bool("quick")?,
            _ => row.bool("quick")?.unwrap_or(true),
        },
        interfaces: row.keys("interface")?,
        interfaces_negated: row.bool("interfacenot")?.unwrap_or(false),
        direction: direction(row)?,
        family: family(row)?,
        protocol: protocol(row)?,
        source: side(row, "source")?,
        destination: side(row, "destination")?,
        gateway: row.key("gateway")?,
        description: row.text("description")?.unwrap_or_default(),
        sequence: row.u32("sequence")?,
        order: row.some_text("sort_order")?,
        log: row.bool("log")?.unwrap_or(false),
        origin: None,
        hits: None,
        loaded: None,
    })
}

fn action(row: &Row<'_>, kind: RuleKind) -> Read<Action> {
    let Some(word) = row.key("action")? else {
        let blank = kind != RuleKind::Managed && row.get("action").is_some();
        return if blank { Ok(Action::Unstated) } else { Err(row.fault("action", "is missing")) };
    };
    Ok(match word.to_ascii_lowercase().as_str() {
        "pass" => Action::Pass,
        "block" => Action::Block,
        "reject" => Action::Reject,
        _ => Action::Other(word),
    })
}

/// A rule without a direction holds for both.
pub(super) fn direction(row: &Row<'_>) -> Read<Direction> {
    let word = row.key("direction")?.unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "in" => Ok(Direction::In),
        "out" => Ok(Direction::Out),
        "" | "any" | "both" => Ok(Direction::Any),
        _ => Err(row.fault("direction", format!("{word:?} is no direction"))),
    }
}

/// Keys of the model, and the texts that searches before 25.7 show instead.
pub(super) fn family(row: &Row<'_>) -> Read<Option<Family>> {
    let Some(word) = row.key("ipprotocol")? else { return Ok(None) };
    match word.to_ascii_lowercase().as_str() {
        "inet" | "ipv4" => Ok(Some(Family::Inet)),
        "inet6" | "ipv6" => Ok(Some(Family::Inet6)),
        "inet46" | "ipv4+ipv6" | "any" => Ok(Some(Family::Both)),
        _ => Err(row.fault("ipprotocol", format!("{word:?} is no address family"))),
    }
}

/// Upper case but for `any`, which is also what blank means.
pub(super) fn protocol(row: &Row<'_>) -> Read<String> {
    let word = row.key("protocol")?.unwrap_or_default();
    Ok(match word.to_ascii_lowercase().as_str() {
        "" | "any" => "any".to_owned(),
        _ => word.to_ascii_uppercase(),
    })
}

/// `<side>_net`, `<side>_not` and `<side>_port`; blank and `any` are the same.
pub(super) fn side(row: &Row<'_>, which: &str) -> Read<Side> {
    let mut nets = match row.get(&format!("{which}_net")) {
        Some(Value::String(text)) => split(text),
        _ => row.keys(&format!("{which}_net"))?,
    };
    nets.retain(|net| net != "any");
    Ok(Side {
        nets,
        negated: row.bool(&format!("{which}_not"))?.unwrap_or(false),
        port: row.key(&format!("{which}_port"))?,
    })
}
