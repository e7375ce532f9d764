//! Whose a report is: what concerns one tenant, and what is somebody else's.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::Report;
use super::facts::Facts;
use super::facts::sdn::Zone;
use super::finding::{Finding, Key, Subject, Unknown};
use crate::site::names::TenantName;

/// Kinds of subject that all tenants share.
const SHARED: [&str; 7] = ["node", "cluster", "source", "token", "privilege", "server", "request"];

/// Whom something concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The tenant.
    Ours,
    /// Everybody.
    Shared,
    /// Another tenant.
    Theirs,
    /// Its name does not tell.
    Unclear,
}

/// One tenant among those that a report names.
pub(super) struct Scope<'a> {
    tenant: &'a str,
    others: BTreeSet<&'a str>,
    substrate: &'a BTreeSet<String>,
    named: bool,
}

/// Whether a subject of this kind is a tenant: its zone has its name.
fn is_tenant(kind: &str) -> bool {
    matches!(kind, "zone" | "tenant")
}

/// Whether `name` is of something of `tenant`: itself, a VNet, a device, a VM, a part or a name below it.
fn of_tenant(name: &str, tenant: &str) -> bool {
    let vnet = tenant.parse::<TenantName>().ok().map(|t| t.vnet_prefix().to_owned());
    let is = |word: &str| {
        let word = ["vrf_", "vrfvx_", "vrfbr_"].iter().find_map(|p| word.strip_prefix(p)).unwrap_or(word);
        let bridge = word.strip_suffix(|c: char| c.is_ascii_digit());
        word == tenant || bridge.is_some() && bridge == vnet.as_deref() || word.split('-').next() == Some(tenant)
    };
    name.split(['/', '.', ' ']).any(is)
}

impl<'a> Scope<'a> {
    pub(super) fn of(report: &'a Report, tenant: &'a str) -> Self {
        let passed = report.passed.iter().map(|p| &p.subject);
        let subjects = report.findings.iter().map(|f| &f.subject).chain(passed);
        let tenants = subjects.filter(|s| is_tenant(s.kind) && !report.substrate.contains(&s.name));
        let mut others: BTreeSet<&str> = tenants.map(|s| s.name.as_str()).collect();
        let named = others.remove(tenant) || report.findings.iter().any(|f| f.affects.iter().any(|who| who == tenant));
        Self { tenant, others, substrate: &report.substrate, named }
    }

    /// Whether anything that was read names the tenant.
    pub(super) const fn named(&self) -> bool {
        self.named
    }

    /// Whose something of this name is; `None` where the name does not tell.
    fn owner(&self, name: &str) -> Option<Whose> {
        if of_tenant(name, self.tenant) {
            return Some(Whose::Ours);
        }
        self.others.iter().any(|other| of_tenant(name, other)).then_some(Whose::Theirs)
    }

    pub(super) fn subject(&self, subject: &Subject) -> Whose {
        let shared = SHARED.contains(&subject.kind);
        match self.owner(&subject.name) {
            _ if shared => Whose::Shared,
            Some(whose) => whose,
            None if is_tenant(subject.kind) && !self.substrate.contains(&subject.name) => Whose::Theirs,
            None => Whose::Unclear,
        }
    }

    /// Whose a missing input is: a part of it that is the tenant's, or everybody's, makes it so.
    pub(super) fn unknown(&self, unknown: &Unknown) -> Whose {
        let Some(about) = &unknown.about else { return Whose::Shared };
        let all: Vec<Whose> = about.iter().map(|subject| self.subject(subject)).collect();
        let order = [Whose::Ours, Whose::Shared, Whose::Unclear];
        order.into_iter().find(|whose| all.contains(whose)).unwrap_or(Whose::Theirs)
    }

    /// A fault of a node that says whom it reaches is theirs. A machine is of one tenant: where that is named, its number
    /// and its address, which tell nobody, leave no doubt.
    pub(super) fn finding(&self, finding: &Finding) -> Whose {
        let reached: Vec<Option<Whose>> = finding.affects.iter().map(|who| self.owner(who)).collect();
        if reached.contains(&Some(Whose::Ours)) {
            return Whose::Ours;
        }
        let theirs = |who: &Option<Whose>| *who == Some(Whose::Theirs);
        let of_one = finding.subject.kind == "workload" && reached.iter().any(theirs);
        if of_one || !reached.is_empty() && reached.iter().all(theirs) {
            return Whose::Theirs;
        }
        self.subject(&finding.subject)
    }
}

/// Zones in any list that are certainly no tenant's: of another kind than tenants' are, or with a number outside their band.
pub(super) fn substrate(facts: &Facts) -> BTreeSet<String> {
    let plan = facts.site.as_ref().map(|site| &site.value.numbering);
    let outside = |vni: u32| vni > 0 && plan.is_some_and(|plan| plan.index_of_vrf_vni(vni).is_none());
    let others = |zone: &&Zone| match zone.kind.as_str() {
        "" => false,
        "evpn" => zone.vrf_vni.is_some_and(outside),
        _ => true,
    };
    let zones = || facts.sdn.zones.values().flat_map(|zones| zones.iter());
    // What is a tenant's by one of the lists is a tenant's.
    let tenants: BTreeSet<&str> = zones().filter(|zone| !others(zone)).map(|zone| zone.zone.as_str()).collect();
    let all = zones().map(|zone| zone.zone.as_str()).filter(|zone| !tenants.contains(zone));
    all.map(str::to_owned).collect()
}

/// The tenant of something that is told by a number, an address, a network or a name of the plan: a machine, a subnet, a name.
pub(super) fn tenant_of<'f>(facts: &'f Facts, subject: &Subject) -> Option<&'f str> {
    let site = &facts.site.as_ref()?.value;
    let plan = &site.numbering;
    let zones = facts.sdn.zones_in_force()?;
    let name = subject.name.trim_end_matches('.');
    if let Some(below) = name.strip_suffix(site.domain.as_str()).and_then(|below| below.strip_suffix('.')) {
        let label = below.rsplit('.').next()?;
        return zones.value.iter().find(|zone| zone.zone == label).map(|zone| zone.zone.as_str());
    }
    let index = match (name.parse::<Ipv4Addr>(), name.parse::<Ipv4Net>()) {
        (Ok(address), _) => plan.index_of_address(address),
        (_, Ok(net)) => plan.index_of_address(net.network()).filter(|index| plan.subnet(*index).contains(&net)),
        _ => match name.strip_suffix(".in-addr.arpa") {
            // The zone of it: the last three numbers.
            Some(numbers) => {
                let at = numbers.rmatch_indices('.').nth(2).map_or(0, |(at, _)| at + 1);
                plan.index_of_reverse_zone(&format!("{}.in-addr.arpa", numbers.get(at..)?))
            }
            None => plan.index_of_vmid(name.parse().ok()?).map(|(index, _)| index),
        },
    }?;
    let own = zones.value.iter().find(|zone| zone.vrf_vni.and_then(|vni| plan.index_of_vrf_vni(vni)) == Some(index));
    own.map(|zone| zone.zone.as_str())
}

impl Report {
    /// The same with the tenants of machines named: what passed of one is of `TENANT/MACHINE`, and a finding reaches the
    /// tenant. Legs of a path are judged by it.
    #[must_use]
    pub(super) fn with_owners(mut self, facts: &Facts) -> Self {
        for passed in self.passed.iter_mut().filter(|passed| passed.subject.kind == "workload") {
            if let Some(tenant) = tenant_of(facts, &passed.subject) {
                passed.subject = Subject::new("workload", format!("{tenant}/{}", passed.subject.name));
            }
        }
        for finding in self.findings.iter_mut().filter(|finding| finding.subject.kind == "workload") {
            if let Some(tenant) = tenant_of(facts, &finding.subject)
                && !finding.affects.iter().any(|who| who == tenant)
            {
                finding.affects.push(tenant.to_owned());
            }
        }
        self.with_owners_of_unknown(facts)
    }

    /// What is missing of a machine, a network or a name is its tenant's.
    #[must_use]
    pub(super) fn with_owners_of_unknown(mut self, facts: &Facts) -> Self {
        for subject in self.unknown.iter_mut().filter_map(|unknown| unknown.about.as_mut()).flatten() {
            if matches!(subject.kind, "workload" | "subnet" | "name")
                && let Some(tenant) = tenant_of(facts, subject)
            {
                *subject = Subject::new("tenant", tenant);
            }
        }
        self
    }
}

/// What is missing where nothing names a tenant.
fn unnamed(tenant: &str) -> String {
    format!("tenant {}", crate::text::clean(tenant))
}

impl Report {
    /// The same of a tenant that was found: that no finding names it is no doubt.
    #[must_use]
    pub fn about_known(&self, tenant: &str) -> (Self, usize) {
        let (mut report, left_out) = self.about(tenant);
        report.unknown.retain(|unknown| unknown.missing != unnamed(tenant));
        (report, left_out)
    }

    /// What of it concerns `tenant`, what everybody shares, and the causes of both; and how many findings were left out.
    /// What cannot be told to be another tenant's stays. A tenant that nothing names is unknown, never well.
    #[must_use]
    pub fn about(&self, tenant: &str) -> (Self, usize) {
        let scope = Scope::of(self, tenant);
        let causes: BTreeMap<Key, Key> =
            self.findings.iter().filter_map(|f| Some((f.key(), f.caused_by.clone()?))).collect();
        let mut kept = BTreeSet::new();
        for finding in self.findings.iter().filter(|f| scope.finding(f) != Whose::Theirs) {
            let mut next = Some(finding.key());
            while let Some(key) = next {
                next = causes.get(&key).cloned();
                if !kept.insert(key) {
                    break;
                }
            }
        }
        let findings: Vec<Finding> = self.findings.iter().filter(|f| kept.contains(&f.key())).cloned().collect();
        let passed = self.passed.iter().filter(|p| scope.subject(&p.subject) != Whose::Theirs).cloned().collect();
        let open = self.unknown.iter().filter(|unknown| scope.unknown(unknown) != Whose::Theirs);
        let mut unknown: Vec<Unknown> = open.cloned().collect();
        if !scope.named {
            let why = Some("nothing that was read names it".to_owned());
            let about = Some(vec![Subject::new("tenant", tenant)]);
            unknown.push(Unknown { missing: unnamed(tenant), why, ids: Vec::new(), about });
        }
        let left_out = self.findings.len() - findings.len();
        (Self { findings, passed, unknown, substrate: self.substrate.clone() }, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::finding::{Layer, Severity};
    use crate::diagnose::report::Passed;

    fn finding(id: &'static str, subject: Subject, affects: &[&str]) -> Finding {
        Finding {
            id,
            severity: Severity::Fault,
            layer: Layer::Egress,
            subject,
            affects: affects.iter().map(|who| (*who).to_owned()).collect(),
            title: id.to_owned(),
            facts: Vec::new(),
            caused_by: None,
            not_tested: Vec::new(),
            next: Vec::new(),
            evidence: Vec::new(),
        }
    }

    fn zone(name: &str) -> Subject {
        Subject::new("zone", name)
    }

    fn report(findings: Vec<Finding>) -> Report {
        let pass = |name: &str| Passed { id: "snat-missing", subject: zone(name) };
        Report { findings, passed: vec![pass("tdemo"), pass("eds"), pass("greenhse")], ..Report::default() }
    }

    fn ids(report: &Report) -> Vec<&'static str> {
        report.findings.iter().map(|f| f.id).collect()
    }

    #[test]
    fn what_was_seen_comes_before_what_could_not_be_looked_at_unless_that_is_the_cause() {
        let made = |id, layer, cause: Option<&Finding>| {
            let mut made = finding(id, zone("tdemo"), &["tdemo"]);
            (made.layer, made.caused_by) = (layer, cause.map(Finding::key));
            made
        };
        let denied = made("privilege-missing", Layer::Access, None);
        let down = made("source-unreachable", Layer::Access, None);
        let under = made("frr-down", Layer::Egress, Some(&down));
        let own = made("snat-missing", Layer::Egress, None);
        let mut all = report(vec![denied, down, under, own]);
        all.unknown.push(Unknown { missing: "rules".into(), why: None, ids: vec!["privilege-missing"], about: None });
        let of_egress = all.within(|rule| rule.layer == Layer::Egress, |rule| rule.layer == Layer::Egress);
        assert_eq!(ids(&of_egress), ["source-unreachable", "frr-down", "snat-missing", "privilege-missing"]);
    }

    #[test]
    fn a_tenants_own_and_what_all_share_stay_and_others_are_counted() {
        let node = Subject::new("node", "hv02");
        let all = report(vec![
            finding("own", zone("tdemo"), &["tdemo"]),
            finding("of-others", zone("eds"), &["eds"]),
            finding("of-the-node", node.clone(), &[]),
            finding("of-the-node-for-us", node.clone(), &["eds", "tdemo"]),
            finding("of-the-node-for-others", node, &["eds", "greenhse"]),
            finding("vnet", Subject::new("vnet", "tdemo0"), &[]),
            finding("vnet-of-others", Subject::new("vnet", "greenh0"), &[]),
            finding("vm", Subject::new("workload", "tdemo/app"), &[]),
            finding("vm-of-others", Subject::new("workload", "eds-app"), &[]),
            finding("whose", Subject::new("workload", "2040"), &[]),
            finding("by-address", Subject::new("workload", "10.20.129.10"), &["tdemo", "2040"]),
            finding("by-address-of-others", Subject::new("workload", "10.20.130.10"), &["eds", "2080", "app01"]),
            finding("name-of-others", Subject::new("name", "app.eds.example"), &[]),
            finding("unheard-of-zone", zone("radio"), &[]),
        ]);
        let (mine, others) = all.about("tdemo");
        assert_eq!(ids(&mine), ["own", "of-the-node", "of-the-node-for-us", "vnet", "vm", "whose", "by-address"]);
        assert_eq!(others, 7);
        assert_eq!(mine.passed.iter().map(|p| p.subject.name.as_str()).collect::<Vec<_>>(), ["tdemo"]);
        assert!(mine.unknown.is_empty());
    }

    #[test]
    fn a_zone_of_the_substrate_is_nobodys_and_is_not_hidden() {
        let all = |substrate: &[&str]| {
            let node = Subject::new("node", "hv02");
            let mut all = report(vec![
                finding("zone-mtu-nonsense", zone("transit"), &["transit"]),
                finding("vnet-not-on-node", node, &["transit"]),
            ]);
            all.passed.push(Passed { id: "zone-mtu", subject: zone("transit") });
            let about = Some(vec![zone("transit")]);
            all.unknown.push(Unknown { missing: "its VNets".into(), why: None, ids: Vec::new(), about });
            all.substrate = substrate.iter().map(|zone| (*zone).to_owned()).collect();
            let mine = all.about("tdemo").0;
            (ids(&mine).len(), mine.unknown.len())
        };
        assert_eq!(all(&["transit"]), (2, 1));
        assert_eq!(all(&[]), (0, 0), "by its name alone it is a tenant");
    }

    #[test]
    fn a_cause_stays_whosever_it_is() {
        let cause = finding("frr-down", zone("eds"), &["eds"]);
        let mine = finding("own", zone("tdemo"), &["tdemo"]).caused_by(Some(cause.key()));
        let (kept, others) = report(vec![cause, mine]).about("tdemo");
        assert_eq!((ids(&kept).len(), others), (2, 0));
    }

    #[test]
    fn a_circle_of_causes_ends() {
        let (mut a, mut b) = (finding("a", zone("tdemo"), &[]), finding("b", zone("tdemo"), &[]));
        (a.caused_by, b.caused_by) = (Some(b.key()), Some(a.key()));
        assert_eq!(report(vec![a, b]).about("tdemo").0.findings.len(), 2);
    }

    #[test]
    fn a_tenant_that_nothing_names_is_unknown() {
        let (kept, _) = report(Vec::new()).about("radio");
        assert_eq!(report(Vec::new()).about_known("radio").0.unknown.len(), 0);
        assert_eq!(kept.unknown.len(), 1, "{:?}", kept.unknown);
        assert!(kept.unknown[0].missing.contains("radio"));
    }
}
