//! A tenant's names and numbers: whose a subject is, and what stands in the commands of clauses.

use super::{Command, Elsewhere};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Subject};
use crate::diagnose::scope::Whose;
use crate::site::names::TenantName;

/// Where what asks for check-ins is run, on a site without a source of them.
const NO_CHECKINS: &str = "on this host, once the site file names a source of check-ins ([bootstrap])";

/// The same where its service has no such list.
const NOT_OFFERED: &str = "on this host, once the service that [bootstrap] names offers check-ins";

fn asks_checkins(elsewhere: &Elsewhere) -> bool {
    elsewhere.command.starts_with("deevnet-console get checkins")
}

/// A tenant's names and numbers, as far as the evidence has them.
pub(super) struct Words<'f> {
    facts: &'f Facts,
    tenant: &'f str,
    index: Option<crate::site::numbering::TenantIndex>,
}

impl<'f> Words<'f> {
    pub(super) fn of(facts: &'f Facts, tenant: &'f str) -> Self {
        let zone = facts.sdn.zones_in_force().and_then(|zones| zones.value.iter().find(|zone| zone.zone == tenant));
        let plan = facts.site.as_ref().map(|site| &site.value.numbering);
        let index = zone.and_then(|zone| zone.vrf_vni).zip(plan).and_then(|(vni, plan)| plan.index_of_vrf_vni(vni));
        Self { facts, tenant, index }
    }

    /// Whose something is whose name is a number of the plan: a machine by its VMID or its address, a reverse zone.
    pub(super) fn owner(&self, subject: &Subject) -> Option<Whose> {
        let plan = &self.facts.site.as_ref()?.value.numbering;
        let index = match subject.kind {
            "workload" => match subject.name.parse::<std::net::Ipv4Addr>() {
                Ok(address) => plan.index_of_address(address),
                Err(_) => plan.index_of_vmid(subject.name.parse().ok()?).map(|(index, _)| index),
            },
            "name" => plan.index_of_reverse_zone(reverse(&subject.name)?),
            _ => None,
        }?;
        Some(if Some(index) == self.index { Whose::Ours } else { Whose::Theirs })
    }

    /// Whom a finding reaches that names networks: a rule of the perimeter.
    pub(super) fn reached(&self, finding: &Finding) -> Option<Whose> {
        let subnet = self.facts.site.as_ref()?.value.numbering.subnet(self.index?);
        let nets: Vec<ipnet::Ipv4Net> = finding.affects.iter().filter_map(|who| who.parse().ok()).collect();
        let meets = |net: &ipnet::Ipv4Net| net.contains(&subnet) || subnet.contains(net);
        (!nets.is_empty()).then(|| if nets.iter().any(meets) { Whose::Ours } else { Whose::Theirs })
    }

    /// Whether a missing input names another tenant's zone and nothing of this one.
    pub(super) fn is_others(&self, missing: &str) -> bool {
        let words = || missing.split([' ', ',']);
        let named = |word: &str| {
            let subject = Subject::new("name", word);
            self.owner(&subject).or_else(|| {
                let domain = &self.facts.site.as_ref()?.value.domain;
                let head = word.strip_suffix(domain.as_str())?.strip_suffix('.')?;
                Some(if head.rsplit('.').next() == Some(self.tenant) { Whose::Ours } else { Whose::Theirs })
            })
        };
        // `… of tenant NAME …`: what a rule could not say of that one.
        let zones = || self.facts.sdn.zones_in_force().map_or(&[][..], |zones| zones.value.as_slice());
        let told = words().skip_while(|word| *word != "tenant").nth(1);
        if told.is_some_and(|told| told != self.tenant && zones().iter().any(|zone| zone.zone == told)) {
            return true;
        }
        let all: Vec<Whose> = words().filter_map(named).collect();
        !all.is_empty() && all.iter().all(|whose| *whose == Whose::Theirs)
    }

    /// Whether the evidence is of a check that has run it: with the tenants' keys.
    pub(super) fn has_run(&self, elsewhere: &Elsewhere) -> bool {
        let tried = self.facts.keys.as_ref().is_some_and(|tried| tried.not_run.is_none());
        let told = self.facts.checkins.as_ref().is_some_and(|read| read.lack.is_none());
        tried && elsewhere.command.ends_with(" --keys") || told && asks_checkins(elsewhere)
    }

    /// Where check-ins are to be asked for, of which the site file names no source, or whose service offers none.
    fn no_checkins(&self, elsewhere: &Elsewhere) -> Option<&'static str> {
        let off = self.facts.checkins.as_ref().is_some_and(|read| read.lack.as_ref().is_some_and(|lack| lack.off));
        let none = self.facts.site.as_ref().is_some_and(|site| site.value.bootstrap.is_none());
        match asks_checkins(elsewhere) {
            true if none => Some(NO_CHECKINS),
            true if off => Some(NOT_OFFERED),
            _ => None,
        }
    }

    /// The first workload's address of another tenant.
    fn other(&self) -> Option<String> {
        let plan = &self.facts.site.as_ref()?.value.numbering;
        let zones = self.facts.sdn.zones_in_force()?;
        let mut indexes = zones.iter().filter_map(|zone| plan.index_of_vrf_vni(zone.vrf_vni?));
        let other = indexes.find(|index| Some(*index) != self.index)?;
        plan.workload_address(other, 0).map(|address| address.to_string())
    }

    pub(super) fn command(&self, elsewhere: &Elsewhere) -> Command {
        let site = self.facts.site.as_ref().map(|site| &site.value);
        let plan = site.map(|site| &site.numbering).zip(self.index);
        // A name that is no tenant's stays out of a shell.
        let tenant = self.tenant.parse::<TenantName>().ok();
        let mut command = elsewhere.command.to_owned();
        let mut put = |word: &str, value: Option<String>| {
            if let Some(value) = value {
                command = command.replace(word, &value);
            }
        };
        put("TENANT", tenant.map(|tenant| tenant.to_string()));
        put("DOMAIN", site.map(|site| site.domain.clone()));
        put("GATEWAY", plan.map(|(plan, index)| plan.gateway(index).to_string()));
        put("OTHER", self.other());
        let place = self.no_checkins(elsewhere).unwrap_or(elsewhere.place);
        Command { place, command: crate::text::clean(&command).into_owned(), expect: elsewhere.expect }
    }
}

/// The reverse zone in which a name is: its last five labels.
fn reverse(name: &str) -> Option<&str> {
    let start = name.rmatch_indices('.').nth(4).map_or(0, |(at, _)| at + 1);
    name.get(start..).filter(|zone| zone.ends_with(".in-addr.arpa"))
}
