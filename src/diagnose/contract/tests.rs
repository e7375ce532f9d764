use std::collections::BTreeSet;

use super::*;
use crate::diagnose::finding::Layer;
use crate::diagnose::report::Passed;
use crate::diagnose::rules;

const SITE: &str = "version = 1\n[site]\nname = \"t\"\ndomain = \"site.example\"\noctet = 20\n[proxmox]\nurl = \
                    \"https://192.0.2.22:8006\"\ntoken = { env = \"T\" }\nnode = \"hv\"\ncontroller = \"evpn1\"\n[numbering]\n\
                    vrf_vni_base = 10000\nvnet_vni_base = 20000\noverlay = \"10.20.128.0/18\"\nasn = 65020\nvmid_base = \
                    2000\n[[exit_node]]\nname = \"hv\"\ntransport = { ssh = \"hv\" }\ntransit_interface = \"vmbr0.50\"\n\
                    transit_address = \"10.20.50.22\"\ntransit_gateway = \"10.20.50.1\"\n[resolvers]\nperimeter = \
                    \"10.20.50.1\"\n";

/// Two tenants: `tdemo` with index 1, `eds` with index 2.
fn facts() -> Facts {
    use crate::diagnose::facts::Sourced;
    use crate::diagnose::facts::sdn::{View, Zone};
    let zone = |name: &str, vni| Zone {
        zone: name.to_owned(),
        kind: "evpn".to_owned(),
        vrf_vni: Some(vni),
        exit_nodes: vec!["hv".to_owned()],
        primary: None,
        nodes: Vec::new(),
        fields: serde_json::Map::new(),
    };
    let mut facts = Facts::default();
    let site = crate::site::Site::parse(SITE, std::path::Path::new("site.toml")).unwrap();
    facts.site = Some(Sourced { value: site, file: "site.toml".into() });
    let zones = vec![zone("tdemo", 10001), zone("eds", 10002), zone("lab", 10999)];
    facts.sdn.zones.insert(View::Running, Sourced { value: zones, file: "zones.json".into() });
    facts
}

fn report() -> Report {
    Report::default()
}

fn passed(id: &'static str, kind: &'static str, name: &str) -> Passed {
    Passed { id, subject: Subject::new(kind, name) }
}

fn finding(id: &'static str, severity: Severity, subject: Subject, affects: &[&str]) -> Finding {
    Finding {
        id,
        severity,
        layer: Layer::Dns,
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

fn state(report: &Report, tenant: &str, id: &str) -> State {
    of(report, &facts(), tenant).into_iter().find(|one| one.clause == id).unwrap().state
}

#[test]
fn clauses_have_numbers_of_their_own_and_rest_on_real_rules() {
    let ids: BTreeSet<&str> = CLAUSES.iter().map(|clause| clause.id).collect();
    assert_eq!(ids.len(), CLAUSES.len());
    for clause in CLAUSES {
        assert!(PARTS.iter().any(|part| clause.id.starts_with(part.letter)), "{}", clause.id);
        assert!(clause.id[1..].parse::<u8>().is_ok_and(|n| n > 0), "{}", clause.id);
        assert!(!clause.rules.is_empty() || clause.elsewhere.is_some(), "{} is checked by nobody", clause.id);
        assert!(clause.says.ends_with('.'), "{}", clause.id);
        for id in clause.rules {
            assert!(rules::rule(id).is_some(), "{}: there is no rule {id}", clause.id);
        }
    }
    let order: Vec<usize> =
        CLAUSES.iter().filter_map(|clause| PARTS.iter().position(|part| clause.id.starts_with(part.letter))).collect();
    assert!(order.is_sorted(), "part by part");
}

/// Faults that break no clause: nobody is owed an agent in a machine, nor a console that asks the right server, nor anything
/// of a machine that is only being made, nor of what somebody asks for and is refused.
const BREAKS_NONE: [&str; 21] = [
    "agent-option-off",
    "agent-silent",
    "agent-process-lost",
    "server-id-wrong",
    "config-moved",
    "no-way-in",
    "sshkeys-encoding",
    "store-full",
    "vmid-other-cluster",
    "vmid-reused",
    "vmid-taken",
    "zone-mtu-nonsense",
    "subnet-not-applied",
    "sdn-id-invalid",
    "subnet-input-invalid",
    "delete-blocked",
    "zone-half-made",
    "zone-of-another",
    "name-not-canonical",
    "cname-conflict",
    "ptr-not-written",
];

#[test]
fn every_fault_breaks_a_clause_or_is_known_to_break_none() {
    for id in BREAKS_NONE {
        assert!(rules::rule(id).is_some_and(|rule| rule.severity == Severity::Fault), "{id} is no fault");
        assert!(!rests_on(id), "{id} breaks a clause");
    }
    // Of access nothing is owed: what it keeps from view is unknown.
    let faults = rules::all().filter(|rule| rule.severity == Severity::Fault && rule.layer != Layer::Access);
    let silent: Vec<&str> =
        faults.map(|rule| rule.id).filter(|id| !rests_on(id) && !BREAKS_NONE.contains(id)).collect();
    assert!(silent.is_empty(), "in no clause: {silent:?}");
}

#[test]
fn what_a_check_that_was_given_up_passed_is_not_kept() {
    use crate::diagnose::facts::given_up::GivenUp;
    let mut looked = report();
    looked.passed = vec![passed("tenant-off-plan", "zone", "tdemo")];
    let mut facts = facts();
    let n1 = |facts: &Facts| of(&looked, facts, "tdemo").into_iter().find(|one| one.clause == "N1").unwrap().state;
    assert_eq!(n1(&facts), State::Kept);
    facts.given_up = Some(GivenUp { why: "given up after 60 s".to_owned(), parts: Vec::new() });
    assert!(
        matches!(n1(&facts), State::Unknown { missing } if missing == ["the rest of the check: given up after 60 s"])
    );
}

/// The generated part of `docs/tenant-contract.md`. `UPDATE_DOCS=1` writes it.
#[test]
fn the_document_is_made_of_the_clauses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tenant-contract.md");
    crate::console::file::check_generated(path, &markdown());
}

#[test]
fn a_clause_is_kept_only_where_somebody_looked() {
    assert!(matches!(state(&report(), "tdemo", "N1"), State::Unknown { .. }), "nobody looked");
    let mut looked = report();
    looked.passed = vec![passed("tenant-off-plan", "zone", "tdemo"), passed("tenant-off-plan", "zone", "eds")];
    assert_eq!(state(&looked, "tdemo", "N1"), State::Kept);
    looked.passed.remove(0);
    assert!(matches!(state(&looked, "tdemo", "N1"), State::Unknown { .. }), "another tenant's pass is no pass");
    assert_eq!(state(&report(), "tdemo", "P1"), State::NotRun);
    let mut machines = report();
    // VMID 2080 is the first of index 2.
    machines.passed = vec![passed("workload-stopped", "workload", "2080"), passed("workload-stopped", "zone", "eds")];
    assert!(matches!(state(&machines, "tdemo", "W2"), State::Unknown { .. }));
    assert_eq!(state(&machines, "eds", "W2"), State::Kept);
}

#[test]
fn what_breaks_it_is_the_tenants_own_or_everybodys() {
    let mut broken = report();
    broken.passed = vec![passed("tsig-foreign", "name", "tdemo.site.example")];
    let zone = Subject::new("name", "tdemo.site.example");
    broken.findings = vec![
        finding("tsig-foreign", Severity::Fault, zone, &["tdemo.site.example", "tdemo"]),
        finding("gateway-unreachable", Severity::Fault, Subject::new("node", "hv"), &["tdemo", "eds"]),
        finding("workload-name-missing", Severity::Fault, Subject::new("name", "app.eds.site.example"), &["eds"]),
        finding("tenant-isolated", Severity::Info, Subject::new("node", "hv"), &["tdemo"]),
    ];
    broken.passed.extend(["tdemo", "eds"].map(|zone| passed("tsig-foreign", "zone", zone)));
    let by = |tenant: &str, id: &str| match state(&broken, tenant, id) {
        State::Broken { by } => by.into_iter().map(|(id, _)| id).collect(),
        _ => Vec::new(),
    };
    let mut leak = report();
    leak.passed = ["tdemo", "eds"].map(|zone| passed("perimeter-leak", "zone", zone)).to_vec();
    leak.findings =
        vec![finding("perimeter-leak", Severity::Fault, Subject::new("rule", "a-uuid"), &["10.20.130.0/24"])];
    assert!(matches!(state(&leak, "eds", "I2"), State::Broken { .. }));
    assert_eq!(state(&leak, "tdemo", "I2"), State::Kept);
    assert_eq!(by("tdemo", "I4"), ["tsig-foreign"]);
    assert_eq!((by("tdemo", "E1"), by("eds", "E1")), (vec!["gateway-unreachable"], vec!["gateway-unreachable"]));
    assert_eq!((by("tdemo", "D4"), by("eds", "D4")), (vec![], vec!["workload-name-missing"]));
    assert_eq!(state(&broken, "eds", "I4"), State::Kept);
}

#[test]
fn what_was_not_read_or_not_tried_breaks_nothing() {
    let mut dead = report();
    dead.passed = ["frr-down", "inter-tenant-leak"].map(|id| passed(id, "zone", "tdemo")).to_vec();
    dead.findings = vec![
        finding("exit-node-unreachable", Severity::Fault, Subject::new("node", "hv"), &["tdemo"]),
        finding("hairpin-leak", Severity::Warning, Subject::new("node", "hv"), &["tdemo"]),
    ];
    dead.findings[1].not_tested.push("whether the perimeter drops it".to_owned());
    let said = |report: &Report, id: &str, what: &str| match state(report, "tdemo", id) {
        State::Unknown { missing } => missing.iter().any(|one| one.contains(what)),
        other => panic!("{id}: {other:?}"),
    };
    assert!(said(&dead, "E1", "exit-node-unreachable of hv"));
    assert!(said(&dead, "I1", "whether the perimeter drops it"));
    // What is proven beside it breaks it all the same.
    dead.findings.push(finding("frr-down", Severity::Fault, Subject::new("node", "hv"), &["tdemo"]));
    assert!(matches!(state(&dead, "tdemo", "E1"), State::Broken { by } if by.len() == 1));
    for id in CLAUSES.iter().flat_map(|clause| clause.rules) {
        assert!(
            rules::rule(id).is_some_and(|rule| rule.layer != Layer::Access),
            "{id}: what cannot be asked breaks nothing"
        );
    }
}

#[test]
fn where_nobody_says_who_the_tenants_are_no_clause_is_left_out() {
    use crate::diagnose::evidence::{Ended, Evidence, Http, Item, Kind};
    let http = Http::parse("GET /api2/json/cluster/sdn/zones?running=1", Ended { status: 0, reason: "refused".into() });
    let kind = Kind::Http(http.unwrap());
    let (file, from, at, took) = ("zones".to_owned(), "hv".to_owned(), None, None);
    let item = Item { file, from, kind, at, took, empty: false, body: String::new(), stderr: String::new() };
    let facts = Facts::of(&Evidence { items: vec![item], ..Evidence::default() });
    for wanted in
        [Wanted::of(Check::Contract, None), Wanted::of(Check::All, None), Wanted::of(Check::Contract, Some("eds"))]
    {
        let judged = asked(&report(), &facts, &wanted).unwrap();
        assert_eq!(judged.len(), CLAUSES.len());
        for one in judged.iter().filter(|one| one.state != State::NotRun) {
            let State::Unknown { missing } = &one.state else { panic!("{}: {:?}", one.clause, one.state) };
            assert!(missing.iter().any(|what| what.contains("Proxmox VE, ")), "{}: {missing:?}", one.clause);
        }
    }
    assert_eq!(asked(&report(), &facts, &Wanted::of(Check::Fabric, None)), None);
}

#[test]
fn a_missing_input_leaves_a_clause_unknown_unless_it_is_another_tenants() {
    let mut half = report();
    half.passed = vec![passed("tsig-foreign", "name", "tdemo.site.example"), passed("tsig-foreign", "zone", "tdemo")];
    let unknown =
        |missing: &str| Unknown { missing: missing.to_owned(), why: None, ids: vec!["tsig-foreign"], about: None };
    half.unknown = vec![
        unknown("whether other tenants' keys are kept out of eds.site.example"),
        unknown("whether other tenants' keys are kept out of 130.20.10.in-addr.arpa"),
    ];
    assert_eq!(state(&half, "tdemo", "I4"), State::Kept);
    assert!(matches!(state(&half, "eds", "I4"), State::Unknown { missing } if missing.len() == 2));
    half.unknown.push(unknown("the names of TSIG keys"));
    assert!(matches!(state(&half, "tdemo", "I4"), State::Unknown { missing } if missing.len() == 1));
    // What is told to be of both is of both, though its words name one.
    let mut both = report();
    both.passed = vec![passed("packet-leak", "zone", "tdemo")];
    let about = Some(["eds", "tdemo"].map(|tenant| Subject::new("zone", tenant)).to_vec());
    let missing = "whether packets of tenant eds reach another tenant by way of hv".to_owned();
    both.unknown = vec![Unknown { missing, why: None, ids: vec!["packet-leak"], about }];
    assert!(matches!(state(&both, "tdemo", "I1"), State::Unknown { .. }));
    // What may be another's breaks nothing and is unknown.
    let mut unclear = report();
    unclear.passed = vec![passed("ptr-mismatch", "zone", "tdemo")];
    unclear.findings = vec![finding("ptr-mismatch", Severity::Fault, Subject::new("name", "nobody.example"), &[])];
    assert!(matches!(state(&unclear, "tdemo", "D4"), State::Unknown { .. }));
}

#[test]
fn commands_hold_the_tenants_own_names_and_numbers() {
    let all = of(&report(), &facts(), "eds");
    let of = |id: &str| all.iter().find(|one| one.clause == id).and_then(|one| one.not_run.clone()).unwrap().command;
    assert!(of("E1").starts_with("ping -c 3 10.20.130.1 "), "{}", of("E1"));
    assert!(of("K2").contains("zone eds.site.example") && of("K2").ends_with("-k eds.key"), "{}", of("K2"));
    let place = |id: &str| all.iter().find(|one| one.clause == id).and_then(|one| one.not_run.clone()).unwrap().place;
    assert!(place("P1").contains("[bootstrap]"), "this site has no source of check-ins: {}", place("P1"));
    assert_eq!(tenants(&facts()), ["tdemo", "eds"], "a zone outside the band is nobody's");
    let substrate = crate::diagnose::scope::substrate(&facts());
    assert_eq!(substrate.into_iter().collect::<Vec<_>>(), ["lab"]);
}
