//! Whether rules of the perimeter pass packets from one network to another, as far as they can be understood.

use ipnet::{IpNet, Ipv4Net};

use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::facts::perimeter::filter::{Rule, Side};
use crate::diagnose::facts::perimeter::routing::Interface;
use crate::diagnose::rules::names::Names;

/// What the rules come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Passes {
    /// No rule passes it.
    No,
    /// This rule does.
    Yes(String),
    /// It cannot be said, and why.
    Unknown(String),
}

/// The rules, in the order of evaluation, with what their words mean.
pub(super) struct Perimeter<'a> {
    rules: Vec<(&'a Rule, Meant, Meant)>,
    names: Names<'a>,
}

/// The networks of each part of a rule's side; `None` for a part that is not understood.
type Meant = Vec<Option<Vec<IpNet>>>;

/// A question: packets of `from` arriving on one of `on`, to `to`; `served` ports are theirs to use.
pub(super) struct Question<'q> {
    /// Ids of the interfaces they arrive on.
    pub(super) on: &'q [String],
    /// Their sources.
    pub(super) from: &'q [Ipv4Net],
    /// Their destinations.
    pub(super) to: &'q [Ipv4Net],
    /// Ports that may be reached.
    pub(super) served: &'q [&'q str],
}

impl<'a> Perimeter<'a> {
    /// What was read of it, or why nothing was.
    pub(super) fn of(facts: &'a Facts) -> Result<Self, String> {
        let why = |what: &str, path: &str| {
            let told = facts.calls.why(Api::Opnsense, path);
            let off = facts.site.as_ref().is_some_and(|site| site.opnsense.is_none());
            let why =
                told.unwrap_or_else(|| if off { "the site names none".to_owned() } else { "not read".to_owned() });
            format!("{what} of the perimeter: {why}")
        };
        let Some(rules) = &facts.perimeter.rules else { return Err(why("the rules", "firewall/filter/searchrule")) };
        let interfaces = match &facts.perimeter.interfaces {
            Some(all) if !all.value.is_empty() => all.value.as_slice(),
            _ => return Err(why("the interfaces", "interfaces/overview/*")),
        };
        let counts = |rule: &&Rule| rule.enabled && !rule.automatic && !rule.only_v6 && rule.direction != "out";
        let mut rules: Vec<&Rule> = rules.iter().filter(counts).collect();
        if rules.iter().all(|rule| rule.order.is_some()) {
            rules.sort_by_key(|rule| rule.order);
        }
        let names = Names::new(facts, interfaces);
        let meant = |side: &Side| side.nets.iter().map(|part| names.nets(part)).collect();
        let rules = rules.into_iter().map(|rule| (rule, meant(&rule.source), meant(&rule.destination))).collect();
        Ok(Self { rules, names })
    }

    /// Ids of the interfaces in `net`.
    pub(super) fn in_net(&self, net: Ipv4Net) -> Vec<String> {
        let inside = |i: &&Interface| i.net.is_some_and(|own| IpNet::V4(net).contains(&own.addr()));
        self.names.interfaces.iter().filter(inside).map(|i| i.id.clone()).collect()
    }

    /// The answer to `question`.
    pub(super) fn passes(&self, question: &Question<'_>) -> Passes {
        let mut unknown = None;
        for (rule, source, destination) in &self.rules {
            let on = self.on(rule, question.on);
            if rule.action == "pass" {
                let from = overlaps(&rule.source, source, question.from);
                let parts = [on, from, overlaps(&rule.destination, destination, question.to)];
                let served = rule.destination.port.as_deref().is_some_and(|port| question.served.contains(&port));
                if served || parts.contains(&Some(false)) {
                    continue;
                }
                let name = if rule.description.is_empty() { &rule.uuid } else { &rule.description };
                let name = crate::text::clean(name).into_owned();
                if parts.contains(&None) || !rule.quick {
                    unknown.get_or_insert(name);
                } else {
                    return Passes::Yes(name);
                }
            } else if on == Some(true) && stops((rule, source, destination), question) {
                break;
            }
        }
        match unknown {
            Some(rule) => Passes::Unknown(format!("what rule {rule} means is not understood")),
            None => Passes::No,
        }
    }

    /// Whether `rule` stands on one of `ids`; `None` where it names a group.
    fn on(&self, rule: &Rule, ids: &[String]) -> Option<bool> {
        let asked = |i: &&Interface| ids.contains(&i.id);
        let stands: Vec<_> =
            self.names.interfaces.iter().filter(asked).map(|i| self.names.stands_on(rule, i)).collect();
        if stands.contains(&Some(true)) {
            return Some(true);
        }
        if stands.is_empty() || stands.contains(&None) { None } else { Some(false) }
    }
}

/// Whether nothing of `question` gets past a rule.
fn stops((rule, source, destination): (&Rule, &Meant, &Meant), question: &Question<'_>) -> bool {
    let whole =
        rule.protocol == "any" && !rule.narrowed && rule.source.port.is_none() && rule.destination.port.is_none();
    rule.quick
        && whole
        && covers(&rule.source, source, question.from)
        && covers(&rule.destination, destination, question.to)
}

/// Whether every packet of `nets` is meant by a side.
fn covers(side: &Side, meant: &Meant, nets: &[Ipv4Net]) -> bool {
    if side.nets.is_empty() {
        return !side.negated;
    }
    if meant.iter().any(Option::is_none) {
        return false;
    }
    let parts: Vec<&IpNet> = meant.iter().flatten().flatten().collect();
    let net = |net: &Ipv4Net| IpNet::V4(*net);
    if side.negated {
        let meets = |n: &Ipv4Net| parts.iter().any(|p| p.contains(&net(n)) || net(n).contains(*p));
        !nets.iter().any(meets)
    } else {
        nets.iter().all(|n| parts.iter().any(|part| part.contains(&net(n))))
    }
}

/// Whether some packet of `nets` is meant by a side.
fn overlaps(side: &Side, meant: &Meant, nets: &[Ipv4Net]) -> Option<bool> {
    if side.nets.is_empty() {
        return Some(!side.negated);
    }
    let known = || meant.iter().flatten().flatten();
    let found = if side.negated {
        !nets.iter().all(|net| known().any(|part| part.contains(&IpNet::V4(*net))))
    } else {
        let meets = |net: &Ipv4Net| known().any(|p| p.contains(&IpNet::V4(*net)) || IpNet::V4(*net).contains(p));
        nets.iter().any(meets)
    };
    // What is not understood may add to what is meant, or, where it is "all but", take away from it.
    if meant.iter().any(Option::is_none) && found == side.negated { None } else { Some(found) }
}
