//! What speaks for and against a new tenant before anything is made: what no back end says, or says too late
//! (domain.md §3.2, §5.2; facts/proxmox.md §4).

use ipnet::Ipv4Net;

use super::names::owns_key;
use super::survey::{Placed, Survey, Told, both, destination};
use super::trouble::{Trouble, TroubleKind};
use crate::backends::opnsense::model::KernelRoute;
use crate::backends::proxmox::endpoints::{self, Also, Endpoint, Privilege};
use crate::backends::proxmox::model::{Change, Permissions, Sdn};
use crate::site::Site;
use crate::site::model::BootstrapSite;
use crate::site::names::{NameConflict, TenantName};
use crate::site::numbering::TenantIndex;

/// What one check came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing speaks against it.
    Pass,
    /// It cannot be made like this.
    Fail {
        /// Why.
        why: String,
        /// What to do.
        help: String,
    },
    /// A source did not tell: it may or may not be.
    Unknown(Trouble),
    /// It is still being read.
    Waiting,
    /// It shows when it is tried, or when the plan is made.
    Later,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its id, e.g. `vnet-id`.
    pub id: &'static str,
    /// What is checked, in words.
    pub label: String,
    /// What it came to.
    pub state: State,
}

impl Check {
    /// Whether a plan may be made with it.
    #[must_use]
    pub const fn lets_through(&self) -> bool {
        matches!(self.state, State::Pass | State::Later)
    }
}

const LETTERS: &str = "letters, digits, 3–8 long";
const SERVED: &str = "not a name the site serves";

fn check(id: &'static str, label: &str, state: State) -> Check {
    Check { id, label: label.to_owned(), state }
}

/// The check of edits that others staged.
const PENDING: &str = "pending";

fn fail(why: impl Into<String>, help: impl Into<String>) -> State {
    State::Fail { why: why.into(), help: help.into() }
}

fn told<T>(told: &Told<T>, judge: impl FnOnce(&T) -> State) -> State {
    match told {
        Ok(value) => judge(value),
        Err(why) => State::Unknown(why.clone()),
    }
}

/// The checks of a name while it is typed, by what was read by now (`None`: nothing yet). Index and first workload as in
/// [`of_tenant`].
#[must_use]
pub fn judge(
    site: &Site,
    survey: Option<&Survey>,
    name: &str,
    (asked, machine): (Option<TenantIndex>, bool),
) -> Vec<Check> {
    match (name.parse::<TenantName>(), survey) {
        (Err(e), _) => vec![check("letters", LETTERS, fail(e.to_string(), e.help()))],
        (Ok(tenant), Some(survey)) => of_tenant(site, survey, &tenant, (asked, machine)),
        (Ok(tenant), None) => {
            let short = tenant.advice_for_new();
            let letters = short.map_or(State::Pass, |advice| fail(format!("{tenant} is short"), advice));
            vec![
                check("letters", LETTERS, letters),
                check("served", SERVED, served(site, &tenant)),
                check("sources", "free on every source", State::Waiting),
            ]
        }
    }
}

/// The checks of a tenant by what was read for it. The index is the one asked for, or the lowest that is free; `machine`: it
/// gets a first workload. What speaks against a new name does not against a tenant that has it.
#[must_use]
pub fn of_tenant(
    site: &Site,
    survey: &Survey,
    tenant: &TenantName,
    (asked, machine): (Option<TenantIndex>, bool),
) -> Vec<Check> {
    let known = survey.knows(site, tenant);
    let short = tenant.advice_for_new().filter(|_| !known);
    let letters = short.map_or(State::Pass, |advice| fail(format!("{tenant} is short"), advice));
    let index = survey.index_for(site, tenant, asked);
    let shown = match index.as_ref().ok().or(asked.as_ref()) {
        Some(index) => index.get().to_string(),
        None => "–".to_owned(),
    };
    let chosen = match &index {
        Ok(_) => State::Pass,
        Err(why) => match why.kind {
            TroubleKind::Refused => fail(&why.text, why.help().unwrap_or_default()),
            _ => State::Unknown(why.clone()),
        },
    };
    let index = index.ok();
    let quorum = told(&survey.cluster, |cluster| match cluster.quorate {
        Some(false) => fail("the cluster has no quorum", "bring nodes back: Proxmox refuses every change until then"),
        _ => State::Pass,
    });
    vec![
        check("letters", LETTERS, letters),
        check("vnet-id", "VNet id is its own", vnet_id(site, survey, tenant)),
        check("sdn-name", "free in SDN, also pending", sdn_name(site, survey, tenant)),
        check(PENDING, "no one else's SDN edit is pending", pending(survey, tenant)),
        check("dns-name", "free in DNS, both zones", dns_name(site, survey, tenant)),
        check("index", &format!("index {shown} free on every source"), chosen),
        check("served", SERVED, if known { State::Pass } else { served(site, tenant) }),
        check("numbers", &numbers_label(site, index), numbers(site, survey, tenant, index)),
        check("overlap", "no network, rule or route overlaps", overlap(site, survey, (tenant, known), index)),
        check("rights", "rights for every step", told(&survey.rights, |rights| lacks(site, tenant, rights, machine))),
        check("quorum", "cluster has quorum", quorum),
        check("lock", "SDN lock: is tried at apply", State::Later),
    ]
}

/// What keeps a plan from being made: the first failed check, else the first that could not be told. Edits of others that wait
/// are of the kind that ends by itself.
#[must_use]
pub fn obstacle(checks: &[Check]) -> Option<Trouble> {
    let failed = checks.iter().find_map(|check| match &check.state {
        State::Fail { why, help } => {
            let kind = if check.id == PENDING { TroubleKind::Busy } else { TroubleKind::Refused };
            Some(Trouble::new(kind, why).with_help(help))
        }
        _ => None,
    });
    let open = || {
        checks.iter().find_map(|check| match &check.state {
            State::Unknown(why) => {
                let text = format!("{}: cannot be told: {}", check.label, why.text);
                Some(Trouble::new(TroubleKind::Unknown, text).with_help(why.help().unwrap_or_default()))
            }
            _ => None,
        })
    };
    failed.or_else(open)
}

fn vnet_id(site: &Site, survey: &Survey, tenant: &TenantName) -> State {
    let names = survey.tenants();
    let others = names.iter().map(String::as_str);
    let conflict =
        tenant.conflicts(&site.numbering, others, []).into_iter().find(|c| matches!(c, NameConflict::Vnet { .. }));
    if let Some(conflict) = conflict {
        let free = suggestions(site, survey, tenant);
        let help = if free.is_empty() {
            conflict.help().to_owned()
        } else {
            format!("names that start otherwise are free: {}", free.join(", "))
        };
        return fail(conflict.to_string(), help);
    }
    let taken = told(&survey.vnets, |vnets| {
        let first = tenant.vnet(0).unwrap_or_default();
        let foreign = both(vnets).find(|vnet| vnet.vnet == first && vnet.zone != tenant.as_str());
        foreign.map_or(State::Pass, |vnet| {
            fail(
                format!("VNet id {first} is taken by zone {}", vnet.zone),
                "choose a name with other first six letters",
            )
        })
    });
    if taken != State::Pass {
        return taken;
    }
    let zone_is_there = survey.zones.as_ref().is_ok_and(|zones| both(zones).any(|zone| zone.zone == tenant.as_str()));
    if zone_is_there {
        // Then the bridge of that name is the tenant's own.
        return survey.zones.as_ref().map_or_else(|why| State::Unknown(why.clone()), |_| State::Pass);
    }
    told(&survey.bridges, |bridges| {
        let devices = bridges.iter().map(String::as_str);
        let conflict = tenant
            .conflicts(&site.numbering, [], devices)
            .into_iter()
            .find(|c| matches!(c, NameConflict::Device { .. }));
        conflict.map_or(State::Pass, |conflict| fail(conflict.to_string(), conflict.help()))
    })
}

/// Names like this one that nothing speaks against, three at most.
#[must_use]
pub fn suggestions(site: &Site, survey: &Survey, tenant: &TenantName) -> Vec<String> {
    let stem: String = tenant.as_str().chars().take_while(char::is_ascii_alphabetic).take(4).collect();
    let digits: String =
        tenant.as_str().chars().rev().take_while(char::is_ascii_digit).collect::<Vec<_>>().iter().rev().collect();
    let numbers = (1..10).map(|n| n.to_string());
    let all = std::iter::once(digits).filter(|digits| !digits.is_empty()).chain(numbers);
    let names = survey.tenants();
    let free = |name: &String| {
        name.parse::<TenantName>().is_ok_and(|candidate| {
            !names.contains(name)
                && candidate.advice_for_new().is_none()
                && candidate.conflicts(&site.numbering, names.iter().map(String::as_str), []).is_empty()
                && dns_name(site, survey, &candidate) == State::Pass
        })
    };
    let mut found = Vec::new();
    for candidate in all.map(|tail| format!("{stem}{tail}")).filter(free) {
        if found.len() < 3 && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found
}

fn sdn_name(site: &Site, survey: &Survey, tenant: &TenantName) -> State {
    told(&survey.zones, |zones| {
        let Some(zone) = both(zones).find(|zone| zone.zone == tenant.as_str()) else { return State::Pass };
        let index = zone.vrf_vxlan.and_then(|vni| site.numbering.index_of_vrf_vni(vni));
        if zone.kind == "evpn" && index.is_some() {
            // A tenant that was begun or lost a part: the plan makes what is missing.
            return State::Pass;
        }
        let vni = zone.vrf_vxlan.map_or_else(|| "none".to_owned(), |vni| vni.to_string());
        let why = format!("zone {tenant} is there, of type {} with VRF VNI {vni}: no tenant's", zone.kind);
        fail(why, "choose another name, or have that zone removed")
    })
}

fn waits<T>(all: &[Sdn<T>], zone: impl Fn(&T) -> (String, String), tenant: &str) -> Vec<String> {
    let foreign = all.iter().filter(|object| object.change != Change::None).filter_map(|object| {
        let (name, zone) = zone(object.current()?);
        (zone != tenant).then_some(name)
    });
    foreign.collect()
}

/// Edits of others that an apply would take along.
fn pending(survey: &Survey, tenant: &TenantName) -> State {
    let zones = match &survey.zones {
        Ok(zones) => waits(zones, |zone| (format!("zone {}", zone.zone), zone.zone.clone()), tenant.as_str()),
        Err(why) => return State::Unknown(why.clone()),
    };
    told(&survey.vnets, |vnets| {
        let vnets = waits(vnets, |vnet| (format!("VNet {}", vnet.vnet), vnet.zone.clone()), tenant.as_str());
        let all: Vec<String> = zones.into_iter().chain(vnets).collect();
        if all.is_empty() {
            return State::Pass;
        }
        let why = format!("{} would go live with your apply", all.join(", "));
        let help = "wait until whoever staged it is done; if nobody is at it, ask for it to be applied or dropped: \
                    `deevnet-console sdn status` shows it";
        fail(why, help)
    })
}

fn dns_name(site: &Site, survey: &Survey, tenant: &TenantName) -> State {
    let Some(names) = &survey.names else { return State::Pass };
    told(names, |zones| {
        let forward = tenant.forward_zone(&site.domain);
        let found = zones.iter().find(|zone| zone.name.as_str().trim_end_matches('.') == forward);
        match found.and_then(|zone| zone.account.as_deref()) {
            Some(account) if !account.is_empty() && account != tenant.as_str() => {
                fail(format!("zone {forward} is there and is {account}'s"), "choose another name, or have it removed")
            }
            Some(account) if account == tenant.as_str() => State::Pass,
            _ if found.is_none() => State::Pass,
            _ => unmarked(site, survey, tenant, &forward),
        }
    })
}

/// A zone of the tenant's name that bears nobody's mark: whose it is, its keys tell.
fn unmarked(site: &Site, survey: &Survey, tenant: &TenantName, zone: &str) -> State {
    let keys = match survey.near_of(tenant).and_then(|near| near.forward.as_ref()) {
        Some(Ok(keys)) => keys,
        Some(Err(why)) => return State::Unknown(why.clone()),
        None => return State::Later,
    };
    let others: Vec<&str> = keys.iter().map(String::as_str).filter(|key| !owns_key(tenant.as_str(), key)).collect();
    if !others.is_empty() {
        let why = format!("zone {zone} is there and is updated with {}", others.join(", "));
        return fail(why, "choose another name, or have it removed");
    }
    if keys.is_empty() && !survey.knows(site, tenant) {
        let why = format!("zone {zone} is there, and neither a mark nor a key says whose it is");
        return fail(why, "choose another name; or have it removed, or marked with the tenant's name at PowerDNS");
    }
    State::Pass
}

fn served(site: &Site, tenant: &TenantName) -> State {
    let conflict = tenant.conflicts(&site.numbering, [], []).into_iter().next();
    conflict.map_or(State::Pass, |conflict| fail(conflict.to_string(), conflict.help()))
}

fn numbers_label(site: &Site, index: Option<TenantIndex>) -> String {
    let plan = &site.numbering;
    index.map_or_else(
        || "VNIs and tags free".to_owned(),
        |index| {
            let (first, last) = (plan.vnet_vni_base_of(index), plan.vnet_vni_last_of(index));
            format!("VNI {}, tags {first}–{last} free", plan.vrf_vni(index))
        },
    )
}

/// The numbers of an index, also where what has them does not follow the scheme.
fn numbers(site: &Site, survey: &Survey, tenant: &TenantName, index: Option<TenantIndex>) -> State {
    let Some(index) = index else { return State::Later };
    let plan = &site.numbering;
    let (vni, tags) = (plan.vrf_vni(index), plan.vnet_vni_base_of(index)..=plan.vnet_vni_last_of(index));
    let zones = told(&survey.zones, |zones| {
        let other = both(zones).find(|zone| {
            zone.zone != tenant.as_str() && zone.vrf_vxlan.is_some_and(|own| own == vni || tags.contains(&own))
        });
        other.map_or(State::Pass, |zone| {
            fail(format!("VNI of zone {} is one of index {}", zone.zone, index.get()), "choose another index")
        })
    });
    if zones != State::Pass {
        return zones;
    }
    told(&survey.vnets, |vnets| {
        let other = both(vnets)
            .find(|vnet| vnet.zone != tenant.as_str() && vnet.tag.is_some_and(|own| own == vni || tags.contains(&own)));
        other.map_or(State::Pass, |vnet| {
            fail(format!("tag of VNet {} is one of index {}", vnet.vnet, index.get()), "choose another index")
        })
    })
}

/// The subnet of an index, where another network is in it already. A route or a rule for the tenants' aggregate, or for more, is
/// for all of them; a narrower one was made for somebody.
fn overlap(site: &Site, survey: &Survey, (tenant, known): (&TenantName, bool), index: Option<TenantIndex>) -> State {
    let Some(index) = index else { return State::Later };
    let (subnet, aggregate) = (site.numbering.subnet(index), site.numbering.overlay);
    let meets = |net: Ipv4Net| net.contains(&subnet) || subnet.contains(&net);
    let narrower = |net: Ipv4Net| meets(net) && net.prefix_len() > aggregate.prefix_len();
    let route = |route: &&KernelRoute| destination(route).is_some_and(narrower);
    let routes = survey.routes.as_ref().map_or(State::Pass, |routes| {
        told(routes, |routes| {
            routes.iter().find(route).map_or(State::Pass, |route| {
                let why =
                    format!("the perimeter has a route of its own to {} over {}", route.destination, route.gateway);
                fail(why, format!("remove it: it takes {subnet} away from the exit node"))
            })
        })
    });
    // What a rule says of a tenant that is there was said of it.
    let counts = |placed: &&Placed| !(known && placed.named_only);
    let placed = |all: &Vec<Placed>, is: &dyn Fn(Ipv4Net) -> bool| {
        all.iter().filter(counts).find(|placed| is(placed.net)).map_or(State::Pass, |placed| {
            let why = format!("{subnet} of index {} overlaps {}: {}", index.get(), placed.what, placed.net);
            fail(why, "take another index, or remove it if it is left over")
        })
    };
    let near = survey.near_of(tenant);
    let subnets = near.map_or(State::Later, |near| told(&near.subnets, |all| placed(all, &meets)));
    let perimeter = near.and_then(|near| near.perimeter.as_ref());
    let perimeter = perimeter.map_or(State::Pass, |all| told(all, |all| placed(all, &narrower)));
    let mut all = [routes, subnets, perimeter];
    all.sort_by_key(|state| match state {
        State::Fail { .. } => 0,
        State::Unknown(_) => 1,
        State::Waiting | State::Later => 2,
        State::Pass => 3,
    });
    let [worst, ..] = all;
    worst
}

/// Requests of an onboarding.
static NETWORK: [&Endpoint; 6] = [
    &endpoints::SDN_LOCK,
    &endpoints::ZONE_CREATE,
    &endpoints::VNET_CREATE,
    &endpoints::SUBNET_CREATE,
    &endpoints::SDN_APPLY,
    &endpoints::CLUSTER_STATUS,
];

/// Requests of a workload that comes with it.
static MACHINE: [&Endpoint; 4] =
    [&endpoints::VM_CLONE, &endpoints::VM_CONFIG_TASK, &endpoints::VM_RESIZE, &endpoints::VM_START];

/// The first right that a request of the plan needs and the token has not.
fn lacks(site: &Site, tenant: &TenantName, rights: &Permissions, machine: bool) -> State {
    let (zone, vnet) = (tenant.as_str(), tenant.vnet(0).unwrap_or_default());
    let storage = site.proxmox.storage.as_deref();
    let has = |privilege: &Privilege| {
        let mut path = privilege.path.replace("{zone}", zone).replace("{vnet}", &vnet);
        if let Some(storage) = storage {
            path = path.replace("{storage}", storage);
        }
        let any = |path: &str| privilege.any_of.is_empty() || privilege.any_of.iter().any(|p| rights.allows(path, p));
        if path.contains('{') { privilege.sees_all(rights) } else { any(&path) }
    };
    // The serial number is only written where there is a service that a machine checks in at.
    let checks_in = matches!(site.bootstrap, Some(BootstrapSite::Api { .. }));
    let asked = |also: &&Also| checks_in || also.parameters != ["smbios1"];
    let machines = MACHINE.iter().filter(|_| machine);
    let needed = NETWORK.iter().chain(machines).flat_map(|endpoint| {
        std::iter::once(&endpoint.privilege).chain(endpoint.also.iter().filter(asked).map(|also| &also.privilege))
    });
    let missing = needed.into_iter().find(|privilege| !has(privilege));
    missing.map_or(State::Pass, |privilege| {
        let why = format!("the console's token has not {} at {}", privilege.any_of.join(" or "), privilege.path);
        fail(why, "`deevnet-console site check` prints the command that grants it")
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::inventory::testing as invented;

    fn rights(held: &[(&str, &[&str])]) -> Permissions {
        let all: BTreeMap<_, _> = held
            .iter()
            .map(|(path, rights)| ((*path).to_owned(), rights.iter().map(|right| (*right).to_owned()).collect()))
            .collect();
        Permissions { by_path: all.clone(), propagating: all }
    }

    fn missing(held: &[(&str, &[&str])], machine: bool) -> Option<String> {
        let tenant = "shop".parse().expect("a name");
        match lacks(&invented::site(), &tenant, &rights(held), machine) {
            State::Pass => None,
            State::Fail { why, .. } => Some(why),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_rights_of_the_steps_that_are_planned_are_asked_for_and_no_other() {
        let sdn = ("/sdn", &["SDN.Allocate", "SDN.Audit", "SDN.Use"][..]);
        let audit = ("/", &["Sys.Audit"][..]);
        let vms = [
            "VM.Audit",
            "VM.Clone",
            "VM.Allocate",
            "VM.Config.Disk",
            "VM.Config.Options",
            "VM.Config.CPU",
            "VM.Config.Memory",
            "VM.Config.Network",
            "VM.Config.Cloudinit",
            "VM.PowerMgmt",
        ];
        let (vms, store) = (("/vms", &vms[..]), ("/storage/local-lvm", &["Datastore.AllocateSpace"][..]));
        assert_eq!(missing(&[sdn, audit], false), None, "no machine, no right on machines");
        assert_eq!(missing(&[sdn, audit, vms, store], true), None, "one storage is enough: the site's");
        assert!(missing(&[sdn, audit], true).is_some_and(|why| why.contains("VM.Clone")));
        assert!(missing(&[sdn, audit, vms], true).is_some_and(|why| why.contains("Datastore.AllocateSpace")));
        let unused = ("/sdn", &["SDN.Allocate", "SDN.Audit"][..]);
        assert!(missing(&[unused, audit, vms, store], true).is_some_and(|why| why.contains("SDN.Use")));
    }
}
