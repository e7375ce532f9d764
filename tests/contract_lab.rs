//! `check contract` on the lab: a healthy site keeps every clause that can be seen, and each fault breaks its own.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail"
)]

mod common;
mod keys_common;

use std::process::Command;
use std::sync::Arc;

use deevnet_console::diagnose::collect::{Check, Wanted};
use deevnet_console::diagnose::contract::{self, Judged, State};
use deevnet_console::site::Site;
use keys_common::{Seen, look, told};

async fn seen(site: &Arc<Site>, tenant: Option<&str>, keys: bool) -> Seen {
    look(site, &Wanted::of(Check::Contract, tenant).with_keys(keys), &[], &common::clock()).await
}

fn broken(judged: &[Judged]) -> Vec<&'static str> {
    judged.iter().filter(|one| matches!(one.state, State::Broken { .. })).map(|one| one.clause).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_breaks_its_clause_of_its_tenant() {
    let lab = common::lab_of(None, Some(2), common::clock(), true).await;
    let site = common::site(&lab, |text| text);
    let healthy = seen(&site, None, true).await;
    let tenants = contract::tenants(&healthy.facts);
    assert!(tenants.contains(&"tdemo".to_owned()) && tenants.contains(&"eds".to_owned()), "{tenants:?}");
    for tenant in ["tdemo", "eds"] {
        for one in contract::of(&healthy.report, &healthy.facts, tenant) {
            let judged = !contract::clause(one.clause).unwrap().rules.is_empty();
            let wanted = if judged { State::Kept } else { State::NotRun };
            assert_eq!(one.state, wanted, "{tenant} {}: {}", one.clause, told(&healthy.report));
        }
    }
    let mut wrong = Vec::new();
    for (fault, clauses) in [
        ("tenant-off-plan@tdemo", &["N1", "N2"][..]),
        ("snat-missing@tdemo", &["E1"]),
        ("inter-tenant-leak@tdemo", &["I1"]),
        ("perimeter-leak", &["I2"]),
        ("workload-on-foreign-network@tdemo", &["I3"]),
        ("tsig-foreign@tdemo", &["I4", "K1"]),
        ("tsig-unbound@tdemo", &["I4", "K1"]),
        ("apex-broken@tdemo", &["D1"]),
        ("rebind-filtered@tdemo", &["D2"]),
        ("wrong-workload-resolver@tdemo", &["D3"]),
        ("workload-name-missing@tdemo", &["D4"]),
        ("ptr-mismatch@tdemo", &["D4"]),
        ("name-points-outside@tdemo", &["D5"]),
        ("update-key-missing@tdemo", &["K1"]),
        ("update-refused@tdemo", &["K2"]),
        ("workload-off-plan@tdemo", &["W1"]),
    ] {
        lab.fault_on(fault).unwrap();
        let seen = seen(&site, Some("tdemo"), true).await;
        let found = broken(&contract::of(&seen.report, &seen.facts, "tdemo"));
        if !clauses.iter().all(|id| found.contains(id)) || found.len() > clauses.len() + 1 {
            wrong.push(format!("{fault}: {found:?}, not {clauses:?}\n{}", told(&seen.report)));
        }
        lab.fault_off(fault).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    lab.shutdown().await;
}

/// Without keys nothing is tried, which is no doubt; and what one tenant lacks is no clause of another.
#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_one_tenant_is_no_clause_of_another() {
    let lab = common::lab_of(None, Some(1), common::clock(), true).await;
    let site = common::site(&lab, |text| text);
    let of_eds = |seen: &Seen| contract::of(&seen.report, &seen.facts, "eds");
    let healthy = of_eds(&seen(&site, None, false).await);
    let known = |one: &Judged| matches!(one.state, State::Kept | State::NotRun);
    assert!(healthy.iter().all(known), "{healthy:#?}");
    for (fault, clause) in [("workload-down@tdemo", "W2"), ("vnet-missing@tdemo", "N3")] {
        lab.fault_on(fault).unwrap();
        let seen = seen(&site, None, false).await;
        assert!(broken(&contract::of(&seen.report, &seen.facts, "tdemo")).contains(&clause), "{fault}");
        let (both, own): (Vec<_>, Vec<_>) = of_eds(&seen).into_iter().partition(|one| one.clause == "I1");
        let rest: Vec<_> = healthy.iter().filter(|one| one.clause != "I1").cloned().collect();
        assert_eq!(own, rest, "{fault}: {}", told(&seen.report));
        // It is about both ways (domain.md §8.4): it is open where nothing proves any more that none leads from tdemo.
        let open = |one: &Judged| match &one.state {
            State::Kept => true,
            State::Unknown { missing } => missing.iter().all(|what| what.contains("tdemo")),
            _ => false,
        };
        assert!(both.iter().all(open), "{fault}: {both:#?}");
        lab.fault_off(fault).unwrap();
    }
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_unknown_and_never_kept() {
    let lab = common::lab_of(None, Some(1), common::clock(), true).await;
    let site = common::site(&lab, |text| text);
    for (fault, clause) in [("exit-down", "E1"), ("hairpin-leak@tdemo", "I1")] {
        lab.fault_on(fault).unwrap();
        let seen = seen(&site, Some("tdemo"), false).await;
        let judged = contract::of(&seen.report, &seen.facts, "tdemo");
        let one = judged.iter().find(|one| one.clause == clause).unwrap();
        assert!(matches!(one.state, State::Unknown { .. }), "{fault} {clause}: {:?}", one.state);
        assert_eq!(broken(&judged), Vec::<&str>::new(), "{fault}: nothing was seen to be broken");
        lab.fault_off(fault).unwrap();
    }
    lab.fault_on("exit-denied").unwrap();
    lab.fault_on("fw-auth").unwrap();
    lab.fault_on("dns-api-auth").unwrap();
    let seen = seen(&site, Some("tdemo"), false).await;
    let judged = contract::of(&seen.report, &seen.facts, "tdemo");
    for id in ["E1", "I2", "K1", "D5"] {
        let one = judged.iter().find(|one| one.clause == id).unwrap();
        assert!(matches!(one.state, State::Unknown { .. }), "{id}: {:?}", one.state);
    }
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verb_prints_every_clause_and_explain_says_the_same() {
    let lab = common::lab_of(None, Some(1), common::clock(), true).await;
    lab.fault_on("tsig-foreign@tdemo").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (file, kept) = (dir.path().join("site.toml"), dir.path().join("kept"));
    let home = lab.dir().to_owned();
    std::fs::write(&file, lab.site_toml()).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
        command.current_dir(&home).arg("--site").arg(&file).args(args);
        command.output().unwrap()
    };
    let table = run(&["check", "contract", "tdemo", "--save", kept.to_str().unwrap()]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert_eq!(table.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&table.stderr));
    for clause in contract::CLAUSES {
        assert!(text.contains(&format!(" {} {}", clause.id, clause.says)), "{}: {text}", clause.id);
    }
    assert!(text.contains("broken by tsig-foreign of tdemo.mobile.deevnet.net"), "{text}");
    assert!(text.contains("$ ping -c 3 10.20.129.1 &&"), "{text}");
    let workload = String::from_utf8(run(&["check", "contract", "tdemo/app"]).stdout).unwrap();
    assert!(workload.contains("tsig-foreign") && !workload.contains("nothing that was read names it"), "{workload}");
    let again = run(&["explain", kept.to_str().unwrap(), "-o", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    let of = |id: &str| json["clauses"].as_array().unwrap().iter().find(|one| one["clause"] == id).unwrap().clone();
    assert_eq!((&of("K1")["state"], &of("P3")["state"]), (&"broken".into(), &"not-run".into()));
    lab.fault_on("pve-down").unwrap();
    let dead = run(&["check", "contract"]);
    let text = String::from_utf8(dead.stdout).unwrap();
    assert_eq!(dead.status.code(), Some(1), "the silence of Proxmox VE is a fault, as in every check: {text}");
    for clause in contract::CLAUSES {
        assert!(text.contains(&format!(" {} {}", clause.id, clause.says)), "{}: {text}", clause.id);
    }
    assert!(text.contains("unknown: which tenants there are: Proxmox VE, "), "{text}");
    let reach = run(&["reach", "tdemo", "192.0.2.1"]);
    let said = String::from_utf8(reach.stderr).unwrap();
    assert_eq!(reach.status.code(), Some(3), "{said}");
    assert!(said.contains("Proxmox VE did not tell: "), "{said}");
    let refused = run(&["check", "egress", "tdemo", "--keys"]);
    assert_eq!(refused.status.code(), Some(2));
    lab.shutdown().await;
}

/// On a site with nobody on it there is nothing to judge, which is no doubt.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_site_leaves_nothing_unknown() {
    let lab = common::lab_of(Some(0), None, common::clock(), true).await;
    let site = common::site(&lab, |text| text);
    let seen = look(&site, &Wanted::of(Check::All, None), &[], &common::clock()).await;
    assert!(seen.report.unknown.is_empty(), "{}", told(&seen.report));
    lab.shutdown().await;
}
