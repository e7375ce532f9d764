//! What speaks for and against a new tenant before anything is made: what no back end says, or says too late
//! (domain.md §3.2, §5.2; facts/proxmox.md §4).

use ipnet::Ipv4Net;

use super::survey::{Survey, Told, both, destination};
use super::trouble::Trouble;
use crate::backends::opnsense::model::KernelRoute;
use crate::backends::proxmox::endpoints::{self, Endpoint};
use crate::backends::proxmox::model::{Change, Sdn};
use crate::site::Site;
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
    /// It shows when it is tried.
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

fn fail(why: impl Into<String>, help: impl Into<String>) -> State {
    State::Fail { why: why.into(), help: help.into() }
}

fn told<T>(told: &Told<T>, judge: impl FnOnce(&T) -> State) -> State {
    match told {
        Ok(value) => judge(value),
        Err(why) => State::Unknown(why.clone()),
    }
}

/// The checks of a name, with everything read (`None`: still being read). The index is the one asked for, or the lowest
/// that is free.
#[must_use]
pub fn judge(site: &Site, survey: Option<&Survey>, name: &str, asked: Option<TenantIndex>) -> Vec<Check> {
    let tenant = name.parse::<TenantName>();
    let letters = match &tenant {
        Err(e) => fail(e.to_string(), e.help()),
        Ok(tenant) => tenant.advice_for_new().map_or(State::Pass, |advice| fail(format!("{tenant} is short"), advice)),
    };
    let mut checks = vec![Check { id: "letters", label: "letters, digits, 3–8 long".to_owned(), state: letters }];
    let Ok(tenant) = tenant else { return checks };
    let mut add = |id, label: &str, state| checks.push(Check { id, label: label.to_owned(), state });
    let own = |judge: &dyn Fn(&Survey) -> State| survey.map_or(State::Waiting, judge);
    let index = survey.map(|survey| survey.index_for(site, &tenant, asked));
    let shown = match index.as_ref().and_then(|told| told.as_ref().ok()).or(asked.as_ref()) {
        Some(index) => index.get().to_string(),
        None => "–".to_owned(),
    };
    add("vnet-id", "VNet id is its own", own(&|survey| vnet_id(site, survey, &tenant)));
    add("sdn-name", "free in SDN, also pending", own(&|survey| sdn_name(site, survey, &tenant)));
    add("pending", "no one else's SDN edit is pending", own(&|survey| pending(survey, &tenant)));
    add("dns-name", "free in DNS, both zones", own(&|survey| dns_name(site, survey, &tenant)));
    let chosen = match &index {
        None => State::Waiting,
        Some(Ok(_)) => State::Pass,
        Some(Err(why)) => match why.kind {
            super::trouble::TroubleKind::Unknown => State::Unknown(why.clone()),
            _ => fail(&why.text, why.help().unwrap_or_default()),
        },
    };
    add("index", &format!("index {shown} free on every source"), chosen);
    add("served", "not a name the site serves", served(site, &tenant));
    let index = index.and_then(Result::ok);
    add("numbers", &numbers_label(site, index), own(&|survey| numbers(site, survey, &tenant, index)));
    add("overlap", "no rule or route overlaps", own(&|survey| overlap(site, survey, index)));
    add("rights", "rights for every step", own(&|survey| told(&survey.rights, |rights| lacks(rights))));
    let quorum = |survey: &Survey| {
        told(&survey.cluster, |cluster| match cluster.quorate {
            Some(false) => {
                fail("the cluster has no quorum", "bring nodes back: Proxmox refuses every change until then")
            }
            _ => State::Pass,
        })
    };
    add("quorum", "cluster has quorum", own(&quorum));
    add("lock", "SDN lock: is tried at apply", State::Later);
    checks
}

/// What keeps a plan from being made: the first failed check, else the first that could not be told.
#[must_use]
pub fn obstacle(checks: &[Check]) -> Option<Trouble> {
    use super::trouble::TroubleKind;
    let failed = checks.iter().find_map(|check| match &check.state {
        State::Fail { why, help } => Some(Trouble::new(TroubleKind::Refused, why).with_help(help)),
        _ => None,
    });
    let open = || {
        checks.iter().find_map(|check| match &check.state {
            State::Unknown(why) => {
                let text = format!("{}: cannot be told: {}", check.label, why.text);
                Some(Trouble::new(TroubleKind::Unknown, text).with_help(why.help().unwrap_or_default()))
            }
            State::Waiting => Some(Trouble::new(TroubleKind::Unknown, format!("{}: not read yet", check.label))),
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
        fail(why, "ask for it to be applied or dropped: `deevnet-console sdn status` shows it")
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
            _ => State::Pass,
        }
    })
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
    let Some(index) = index else { return State::Waiting };
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

/// A route at the perimeter that is narrower than the tenants' aggregate takes a subnet away from its exit node.
fn overlap(site: &Site, survey: &Survey, index: Option<TenantIndex>) -> State {
    let (Some(routes), Some(index)) = (&survey.routes, index) else {
        return if survey.routes.is_none() { State::Pass } else { State::Waiting };
    };
    let (subnet, aggregate) = (site.numbering.subnet(index), site.numbering.overlay);
    told(routes, |routes| {
        let meets = |net: Ipv4Net| net.contains(&subnet) || subnet.contains(&net);
        let narrower = |route: &&KernelRoute| {
            destination(route).is_some_and(|net| meets(net) && net.prefix_len() > aggregate.prefix_len())
        };
        routes.iter().find(narrower).map_or(State::Pass, |route| {
            let why = format!("the perimeter has a route of its own to {} over {}", route.destination, route.gateway);
            fail(why, format!("remove it: it takes {subnet} away from the exit node"))
        })
    })
}

/// Requests of an onboarding with a workload.
static NEEDED: [&Endpoint; 10] = [
    &endpoints::SDN_LOCK,
    &endpoints::ZONE_CREATE,
    &endpoints::VNET_CREATE,
    &endpoints::SUBNET_CREATE,
    &endpoints::SDN_APPLY,
    &endpoints::VM_CLONE,
    &endpoints::VM_CONFIG_TASK,
    &endpoints::VM_RESIZE,
    &endpoints::VM_START,
    &endpoints::CLUSTER_STATUS,
];

fn lacks(rights: &crate::backends::proxmox::model::Permissions) -> State {
    let missing = NEEDED.iter().find(|endpoint| !endpoint.privilege.sees_all(rights));
    missing.map_or(State::Pass, |endpoint| {
        let right = endpoint.privilege.any_of.join(" or ");
        let why = format!("the console's token has not {right} at {}", endpoint.privilege.path);
        fail(why, "`deevnet-console site check` prints the command that grants it")
    })
}
