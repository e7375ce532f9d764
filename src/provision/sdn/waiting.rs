//! What waits to be applied, whose it is, and what else a reload takes along. Proxmox does not say who staged something
//! (facts/proxmox.md §5, §7): what is not of the plan is named, to its last option.

use std::collections::BTreeMap;

use crate::backends::proxmox::model::{Change as State, Sdn};
use crate::backends::proxmox::{Client, SdnRead};
use crate::provision::fields::{Fields, Seen, Wanted};
use crate::provision::plan::Step;
use crate::text::clean;

/// What a field of a look says of a node, not of what waits.
pub(super) const ON: &str = " on ";
/// Between an object that waits and one of its options.
const OF: &str = ": ";
/// What the next reload of a node takes along.
const NETWORK: &str = "network of ";
/// Options that Proxmox gives a new object by itself, or that are its identity.
const OF_ITSELF: [&str; 10] =
    ["type", "zone", "vnet", "subnet", "cidr", "network", "mask", "mac", "digest", "dhcp-range"];

/// Whether a field of a look is an object that waits, or a zone that a node has not realised.
pub(super) fn is_to_do(name: &str) -> bool {
    !name.contains(OF) && !name.starts_with(NETWORK)
}

/// What waits to be applied, by name, with its state; and each of its options by name and option.
#[must_use]
pub fn waiting(read: &SdnRead) -> Fields {
    let config = &read.config;
    let mut fields = Fields::new();
    for zone in &config.zones {
        add(&mut fields, zone, |z| format!("zone {}", z.zone));
    }
    for vnet in &config.vnets {
        add(&mut fields, vnet, |v| format!("VNet {}", v.vnet));
    }
    for (vnet, subnets) in &config.subnets {
        for subnet in subnets {
            add(&mut fields, subnet, |s| format!("subnet {} of {vnet}", s.cidr_text));
        }
    }
    for controller in &config.controllers {
        add(&mut fields, controller, |c| format!("controller {}", c.controller));
    }
    for fabric in &config.fabrics {
        add(&mut fields, fabric, |f| format!("fabric {}", f.id));
    }
    for node in &config.fabric_nodes {
        add(&mut fields, node, |n| format!("node {} of fabric {}", n.node, n.fabric));
    }
    fields
}

fn add<T>(fields: &mut Fields, object: &Sdn<T>, name: impl Fn(&T) -> String) {
    let state = match object.change {
        State::None => return,
        State::New => "new",
        State::Changed => "changed",
        State::Deleted => "deleted",
    };
    let name = object.current().map(name).unwrap_or_default();
    for (option, value) in &object.pending {
        fields.insert(format!("{name}{OF}{}", clean(option)), clean(value).into_owned());
    }
    fields.insert(clean(&name).into_owned(), state.to_owned());
}

/// What `interfaces.new` of each node that is there holds: every one of them reloads its network at an apply.
pub(super) async fn networks(client: &Client) -> Result<Fields, crate::backends::proxmox::Error> {
    let mut fields = Fields::new();
    for node in client.nodes().await?.into_iter().filter(|node| node.status == "online") {
        let told = match client.staged_network(&node.node).await {
            Ok(staged) => staged.changes.map(|changes| {
                let seen = Seen::Present(BTreeMap::from([("changes".to_owned(), changes)]));
                format!("staged, {}", seen.digest().get(..8).unwrap_or_default())
            }),
            Err(why) => Some(format!("not known, {why}")),
        };
        fields.extend(told.map(|told| (format!("{NETWORK}{}", node.node), told)));
    }
    Ok(fields)
}

/// What of others an apply would take along, each with all that makes it what it is: another edit is another rider.
pub(super) fn riders(seen: &Seen, own: &[Step]) -> Vec<String> {
    let Seen::Present(fields) = seen else { return Vec::new() };
    let mut riders = Vec::new();
    for (name, state) in fields.iter().filter(|(name, _)| !name.contains(OF) && !name.contains(ON)) {
        if let Some(node) = name.strip_prefix(NETWORK) {
            riders.push(format!("network changes of node {node} ({state})"));
            continue;
        }
        let begins = format!("{name}{OF}");
        let options = fields.iter().filter_map(|(n, value)| Some((n.strip_prefix(&begins)?, value)));
        let Some(step) = own.iter().find(|step| step.object.ensure().name() == *name) else {
            let all: Vec<String> = options.map(|(option, value)| format!("{option} {value}")).collect();
            let all = if all.is_empty() { String::new() } else { format!(": {}", all.join(", ")) };
            riders.push(format!("{name} ({state}{all})"));
            continue;
        };
        // Others' options of an object that the plan is about.
        let Wanted::Present(wanted) = &step.wanted else { continue };
        let foreign = options.filter(|(option, _)| {
            !wanted.contains_key(*option) && !(OF_ITSELF.contains(option) && (state == "new" || *option != "mac"))
        });
        riders.extend(foreign.map(|(option, value)| format!("{option} {value} of {name}")));
    }
    riders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::fields::fields;
    use crate::provision::object::Object;
    use crate::provision::sdn::SdnZone;

    fn own() -> Vec<Step> {
        let zone = Object::SdnZone(SdnZone { zone: "tdemo".to_owned() });
        vec![Step::present(zone, fields([("vrf-vxlan", "10001"), ("controller", "evpn1")]))]
    }

    #[test]
    fn what_is_not_of_the_plan_is_named_to_its_last_option() {
        let seen = |all: &[(&str, &str)]| Seen::Present(fields(all.iter().copied()));
        let ours =
            [("zone tdemo", "new"), ("zone tdemo: vrf-vxlan", "10001"), ("zone tdemo: mac", "BC:24:11:00:00:01")];
        assert!(riders(&seen(&ours), &own()).is_empty());
        let option = seen(&[&ours[..], &[("zone tdemo: mtu", "1400")]].concat());
        assert_eq!(riders(&option, &own()), ["mtu 1400 of zone tdemo"]);
        let changed = seen(&[("zone tdemo", "changed"), ("zone tdemo: mac", "BC:24:11:00:00:02")]);
        assert_eq!(riders(&changed, &own()), ["mac BC:24:11:00:00:02 of zone tdemo"]);
        let lab = |mtu| seen(&[("zone lab", "changed"), ("zone lab: mtu", mtu), ("zone lab on hv02", "pending")]);
        assert_eq!(riders(&lab("1400"), &own()), ["zone lab (changed: mtu 1400)"]);
        assert_ne!(riders(&lab("1400"), &own()), riders(&lab("1500"), &own()), "a second edit is another rider");
        let network = seen(&[("network of hv01", "staged, 0a1b2c3d")]);
        assert_eq!(riders(&network, &own()), ["network changes of node hv01 (staged, 0a1b2c3d)"]);
    }
}
