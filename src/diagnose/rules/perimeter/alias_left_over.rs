//! An alias of networks that no tenant has.

use ipnet::IpNet;

use super::super::names::Names;
use super::super::{Out, Rule};
use super::interfaces;
use super::tenants;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "alias-left-over",
    layer: Layer::Perimeter,
    severity: Severity::Warning,
    says: "An alias names networks of the tenants' block that belong to no tenant any more. Rules that use it, today or later, open \
           or close what the next tenant of that network has.",
    reads: "aliases, interfaces, the site file, the list of tenants where it is whole",
    unlike: &[("rule-left-over", "a rule names the network itself")],
    explains: &["rule-left-over"],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let (Some(site), Some(aliases)) = (&facts.site, &facts.perimeter.aliases) else { return };
    let overlay = IpNet::from(site.value.numbering.overlay);
    let plain = |kind: &str| matches!(kind, "host" | "network" | "networkgroup");
    let Some(interfaces) = interfaces(facts, out) else { return };
    let names = Names::new(facts, interfaces);
    for alias in aliases.iter().filter(|alias| plain(&alias.kind)) {
        // Members that are not understood are none of the tenants' here: a name is looked up elsewhere.
        let members = alias.content.iter().filter_map(|member| names.nets(member)).flatten();
        let inside: Vec<IpNet> = members.filter(|net| overlay.contains(net) && *net != overlay).collect();
        if inside.is_empty() {
            continue;
        }
        let all = match tenants::whole(facts) {
            Ok(all) => all,
            Err((missing, why)) => {
                out.unknown(missing, why);
                return;
            }
        };
        let gone: Vec<String> = inside.iter().filter(|net| !all.have(net)).map(ToString::to_string).collect();
        if gone.is_empty() {
            out.pass(Subject::new("rule", &alias.name));
            continue;
        }
        let name = &alias.name;
        let title = format!("Alias {name} names {}, which no tenant has.", gone.join(", "));
        let finding = out
            .finding(Subject::new("rule", name), title)
            .fact("alias.names", name, gone.join(", "))
            .affects(users(facts, name).into_iter().chain([name.clone()]))
            .from(aliases)
            .from(site)
            .next("shrink-alias", 2, format!("take what nobody has out of {name}"));
        out.found(finding);
    }
}

/// Rules that name the alias.
fn users(facts: &Facts, alias: &str) -> Vec<String> {
    let rules = facts.perimeter.rules.iter().flat_map(|all| all.value.iter());
    let names = |part: &String| part == alias;
    let using = rules.filter(|r| r.source.nets.iter().any(names) || r.destination.nets.iter().any(names));
    using.map(|rule| super::name(rule).to_owned()).collect()
}
