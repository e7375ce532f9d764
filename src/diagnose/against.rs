//! What of a diagnosis speaks against the tenant it was asked about. What all share is no fault of a tenant unless it breaks
//! something of it: a warning that was there before the tenant is news.

use super::Diagnosis;
use super::contract::{self, State};
use super::finding::{Finding, Key, Severity, Unknown};
use super::path;
use super::rules::leaves_open;
use super::scope::{Scope, Whose};

/// What was found and what is missing, told apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Against<'d> {
    /// What is wrong with the tenant, and faults that all share and that break a leg or a clause of it; in the order of the
    /// report.
    pub findings: Vec<&'d Finding>,
    /// What is missing for a leg or a clause of the tenant.
    pub unknown: Vec<&'d Unknown>,
    /// What was found, and does not speak against the tenant.
    pub news: Vec<&'d Finding>,
}

/// Whether the rule `id` speaks for a leg or a clause.
fn decides(id: &str) -> bool {
    path::on_a_leg(id) || contract::rests_on(id)
}

impl Diagnosis {
    /// What speaks against `tenant`, whom it was asked about.
    #[must_use]
    pub fn against(&self, tenant: &str) -> Against<'_> {
        let scope = Scope::of(&self.whole, tenant);
        let breaking = self.breaking();
        let counts = |finding: &Finding| match scope.finding(finding) {
            Whose::Ours => true,
            Whose::Theirs => false,
            // A machine that no tenant's numbers and names tell is not this tenant's.
            Whose::Unclear if finding.subject.kind == "workload" => false,
            Whose::Shared | Whose::Unclear => finding.severity == Severity::Fault && breaking.contains(&finding.key()),
        };
        let loud = self.whole.findings.iter().filter(|finding| finding.severity > Severity::Info);
        let (findings, news) = loud.partition(|finding| counts(finding));
        // The report knows whether the tenant is there at all; the whole, whose machines are.
        let ours = |unknown: &&Unknown| self.whole.unknown.iter().any(|own| own.missing == unknown.missing);
        let matters = |unknown: &&Unknown| unknown.ids.is_empty() || unknown.ids.iter().any(|id| decides(id));
        let unknown = self.report.unknown.iter().filter(ours).filter(matters).collect();
        Against { findings, unknown, news }
    }

    /// What breaks a leg or a clause, or keeps it from being judged.
    fn breaking(&self) -> Vec<Key> {
        let path = self.path();
        let legs = path.iter().flat_map(|path| &path.legs);
        let bad = legs.filter(|leg| matches!(leg.state, path::State::Fail | path::State::Unknown));
        let mut all: Vec<Key> = bad.flat_map(|leg| leg.findings.iter().map(|finding| finding.key())).collect();
        for clause in &self.clauses {
            if let State::Broken { by } = &clause.state {
                all.extend(by.iter().cloned());
            }
        }
        let open = self.whole.findings.iter().filter(|f| leaves_open(f.id) && contract::rests_on(f.id));
        all.extend(open.map(Finding::key));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Report;
    use crate::diagnose::collect::{Check, Wanted};
    use crate::diagnose::finding::Subject;
    use crate::diagnose::report::Passed;
    use crate::diagnose::rules;

    fn finding(id: &'static str, severity: Severity, subject: Subject, affects: &[&str]) -> Finding {
        let mut said = rules::Said::default();
        let mut finding = rules::Out::new(rules::rule(id).unwrap(), &mut said).finding(subject, id).affects(affects);
        finding.severity = severity;
        finding
    }

    fn unknown(missing: &str, id: &'static str, about: Option<&str>) -> Unknown {
        let about = about.map(|who| vec![Subject::new("tenant", who)]);
        Unknown { missing: missing.to_owned(), why: None, ids: vec![id], about }
    }

    fn judged(findings: Vec<Finding>, unknown: Vec<Unknown>) -> Diagnosis {
        let zone = |name: &str| Passed { id: "vnet-missing", subject: Subject::new("zone", name) };
        let report = Report { findings, passed: vec![zone("picow"), zone("eds")], unknown, ..Report::default() };
        Diagnosis::of_report(&Wanted::of(Check::All, Some("picow")), report)
    }

    #[test]
    fn what_was_there_before_a_tenant_does_not_speak_against_it() {
        use Severity::{Fault, Warning};
        let node = || Subject::new("node", "hv02");
        let workload = |name: &str| Subject::new("workload", name);
        let findings = vec![
            finding("token-ends-soon", Warning, Subject::new("token", "root@pam!console"), &[]),
            finding("uplink-down", Warning, node(), &[]),
            finding("checkin-failed", Fault, workload("eds/app"), &["eds"]),
            finding("workload-stopped", Fault, workload("999"), &[]),
            finding("store-full", Fault, node(), &[]),
        ];
        let silent = Unknown { about: Some(Vec::new()), ..unknown("the check-ins", "checkin-failed", None) };
        let others = unknown("which generation eds/app runs", "checkin-behind", Some("eds"));
        let beside = unknown("the registry of tenants", "registry-differs", None);
        let all = judged(findings, vec![silent, others, beside]);
        let against = all.against("picow");
        assert!(against.findings.is_empty() && against.unknown.is_empty(), "{against:?}");
        let news: Vec<&str> = against.news.iter().map(|news| news.id).collect();
        assert!(news.contains(&"token-ends-soon") && news.contains(&"store-full"), "{news:?}");
        assert!(all.report.unknown.iter().all(|unknown| !unknown.missing.contains("eds")), "{:?}", all.report.unknown);
    }

    #[test]
    fn what_is_its_own_or_breaks_a_leg_of_it_does() {
        use Severity::{Fault, Warning};
        let node = || Subject::new("node", "hv02");
        let findings = vec![
            finding("tag-off-plan", Warning, Subject::new("vnet", "picow0"), &[]),
            finding("frr-down", Fault, node(), &[]),
            finding("exit-node-unreachable", Fault, node(), &["picow", "eds"]),
        ];
        let of_node = unknown("the NAT rules of hv02", "snat-missing", None);
        let own = unknown("which generation picow/app runs", "checkin-behind", Some("picow"));
        let all = judged(findings, vec![of_node, own]);
        let against = all.against("picow");
        assert_eq!((against.findings.len(), against.unknown.len()), (3, 2), "{against:?}");
    }
}
