//! Against the lab.

use std::sync::Arc;

use deevnet_console::backends::dns::{DnsName, RecordData};
use deevnet_console::backends::opnsense::NewForward;
use deevnet_console::backends::permit::Permit;
use deevnet_console::provision::approve::Refusal;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::names::secret_of;
use deevnet_console::provision::plan::{Plan, Question};
use deevnet_console::provision::plans::record::Of;
use deevnet_console::provision::plans::{forward, names, tsig};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::world::Patience;
use deevnet_console::site::Site;

use super::change_common::{Bench, Options, early};
use super::names::{plan, tenant};

/// Nobody looks long.
async fn bench() -> Bench {
    let two = Options::tenants(2);
    let patience = Patience { looks: 4, ..two.patience };
    Options { patience, ..two }.start().await
}

impl Bench {
    fn onboarding(&self) -> Plan {
        let (name, index) = tenant();
        let mut steps = names::onboarding(&self.world.site, &name, index);
        steps.extend(names::forwards(&self.world.site, &name, index));
        plan(&self.world, steps)
    }

    async fn is_whole(&self, plan: Plan) {
        let again = self.look(plan).await;
        assert!(again.is_empty(), "{:?}", again.looks);
        assert_eq!(again.question(), Question::Nothing);
    }

    fn of(
        &self,
    ) -> (Arc<Site>, deevnet_console::site::names::TenantName, deevnet_console::site::numbering::TenantIndex) {
        let (name, index) = tenant();
        (Arc::clone(&self.world.site), name, index)
    }

    fn fault(&self, fault: &str, on: bool) {
        if on { self.lab.fault_on(fault).unwrap() } else { self.lab.fault_off(fault).unwrap() }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_made_once_and_taken_back() {
    let bench = bench().await;
    let before = bench.look(bench.onboarding()).await;
    assert_eq!(before.question(), Question::PlanApply, "the reload is everybody's");
    assert_eq!(bench.run(bench.onboarding()).await, Ended::Done);
    bench.is_whole(bench.onboarding()).await;
    let secret = secret_of(&bench.world, "rtrip").await.unwrap();
    assert!(!bench.written().contains(secret.expose()), "a secret is written down");

    let back = bench.way_back();
    assert!(back.left.is_empty(), "{:?}", back.left);
    assert_eq!(bench.run(back.plan).await, Ended::Done);
    let after = bench.look(bench.onboarding()).await;
    assert_eq!(after.looks, before.looks, "as it was");

    // What others hold is as it is wanted: the same plan for them does nothing.
    for (name, index) in [("tdemo", 1), ("eds", 2)] {
        let (name, index) = (name.parse().unwrap(), deevnet_console::site::numbering::TenantIndex::new(index).unwrap());
        bench.is_whole(plan(&bench.world, names::onboarding(&bench.world.site, &name, index))).await;
    }
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_lost_or_wrong_make_nothing_twice() {
    for fault in ["dns-write-lost", "dns-write-500"] {
        let bench = bench().await;
        bench.fault(fault, true);
        let mut ended = bench.run(bench.onboarding()).await;
        let mut rounds = 0;
        while let Ended::Early { trouble, .. } = &ended {
            assert_eq!(trouble.kind, TroubleKind::Unsettled, "{fault}: {trouble}");
            rounds += 1;
            assert!(rounds < 8, "{fault}: {trouble}");
            ended = bench.resume().await;
        }
        bench.is_whole(bench.onboarding()).await;
        let (name, index) = tenant();
        let client = bench.world.opnsense().unwrap();
        for zone in names::zones(&bench.world.site, &name, index) {
            let rows = client.forwards().await.unwrap();
            assert_eq!(rows.iter().filter(|row| row.domain == zone).count(), 1, "{fault}: {zone}");
        }
        bench.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_that_loads_nothing_or_fails_is_not_believed() {
    let bench = bench().await;
    bench.fault("forward-not-applied", true);
    let (step, kind, text) = early(bench.run(bench.onboarding()).await);
    assert_eq!((step, kind), (5, TroubleKind::NotSeen), "{text}");
    bench.fault("forward-not-applied", false);
    assert_eq!(bench.resume().await, Ended::Done);
    bench.is_whole(bench.onboarding()).await;

    let domain = "probe.example".parse().unwrap();
    bench.fault("forward-apply-fails", true);
    let server = bench.world.site.powerdns.as_ref().unwrap().dns;
    // Nobody has that zone.
    let plan = forward::set(&bench.world.site, &domain, (server, false), "by hand");
    let (step, kind, _) = early(bench.run(plan).await);
    assert_eq!((step, kind), (1, TroubleKind::Refused));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_plain_row_of_a_domain_is_left_and_keeps_its_words() {
    let bench = bench().await;
    let (router, permit) = (bench.world.opnsense().unwrap(), Permit::grant("a-test"));
    let domain: DnsName = "tdemo.mobile.deevnet.net".parse().unwrap();
    let mut second = NewForward {
        domain: domain.clone(),
        server: [10, 20, 99, 30].into(),
        port: None,
        enabled: true,
        description: "Ansible managed - tenant tdemo (ADR-0004)".to_owned(),
    };
    router.add_forward(&permit, &second).await.unwrap();
    let name = "tdemo".parse().unwrap();
    let index = deevnet_console::site::numbering::TenantIndex::new(1).unwrap();
    let forwards = || plan(&bench.world, names::forwards(&bench.world.site, &name, index));
    let preview = bench.look(forwards()).await;
    assert!(preview.riders().iter().any(|rider| rider.contains("other rows of tdemo")), "{:?}", preview.riders());
    assert!(matches!(bench.approved_as(preview, None), Err(Refusal::NameNeeded { .. })));
    assert_eq!(bench.run(forwards()).await, Ended::Done);
    bench.is_whole(forwards()).await;
    let rows = router.forwards().await.unwrap();
    let own: Vec<_> = rows.iter().filter(|row| row.domain == domain.as_str()).collect();
    assert_eq!(own.len(), 1, "{own:?}");
    assert!(own[0].description.contains("tenant tdemo"), "{own:?}");

    // What somebody saved and did not apply is named before it goes along.
    second.domain = "eds.example".parse().unwrap();
    router.add_forward(&permit, &second).await.unwrap();
    router.delete_forward(&permit, &own[0].uuid).await.unwrap();
    let preview = bench.look(forwards()).await;
    assert!(preview.riders().iter().any(|rider| rider.contains("eds.example")), "{:?}", preview.riders());
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_of_another_is_left_alone_and_handed_over_by_name() {
    let bench = bench().await;
    let (name, _) = tenant();
    // The address range of eds.
    let index = deevnet_console::site::numbering::TenantIndex::new(2).unwrap();
    let own = plan(&bench.world, names::onboarding(&bench.world.site, &name, index));
    let preview = bench.look(own).await;
    let refusal = bench.approved(preview).unwrap_err();
    assert!(matches!(&refusal, Refusal::Untold { why, .. } if why.contains("not rtrip's")), "{refusal}");

    let over = plan(&bench.world, names::handover(&bench.world.site, &name, index));
    let preview = bench.look(over.clone()).await;
    assert!(matches!(bench.approved_as(preview, None), Err(Refusal::NameNeeded { .. })));
    assert_eq!(bench.run(over.clone()).await, Ended::Done);
    bench.is_whole(over).await;
    assert!(bench.way_back().left.iter().any(|(_, why)| why.contains("are gone")));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_made_replaced_and_taken_back() {
    let bench = bench().await;
    assert_eq!(bench.run(bench.onboarding()).await, Ended::Done);
    let (site, name, index) = bench.of();
    let of = Of { site: &site, tenant: &name, index };
    let address = |k| site.numbering.workload_address(index, k).unwrap();
    let host = of.host("app", address(0)).unwrap();
    assert_eq!(bench.look(host.clone()).await.question(), Question::Yes);
    assert_eq!(bench.run(host.clone()).await, Ended::Done);
    bench.is_whole(host.clone()).await;

    // What stands there is named before it is replaced, and comes back.
    let other = of.set("app", 60, vec![RecordData::A(address(1)), RecordData::A(address(2))]).unwrap();
    let preview = bench.look(other.clone()).await;
    assert!(preview.riders()[0].contains(&address(0).to_string()), "{:?}", preview.riders());
    assert!(matches!(bench.approved_as(preview, None), Err(Refusal::NameNeeded { .. })));
    assert_eq!(bench.run(other).await, Ended::Done);
    assert_eq!(bench.run(bench.way_back().plan).await, Ended::Done);
    bench.is_whole(host.clone()).await;

    let alias = of.set("app", 300, vec![RecordData::Cname("www.example".parse().unwrap())]).unwrap();
    let (_, kind, text) = early(bench.run(alias).await);
    assert!(kind == TroubleKind::Refused && text.contains(&format!("has A {} already", address(0))), "{text}");

    // A zone that holds something goes only by a plan that says so.
    let (step, kind, text) = early({
        let removal = plan(&bench.world, names::onboarding(&site, &name, index));
        let gone =
            removal.steps.into_iter().rev().map(|step| deevnet_console::provision::plan::Step::absent(step.object));
        bench.run(plan(&bench.world, gone.collect())).await
    });
    assert_eq!((step, kind), (0, TroubleKind::Refused), "{text}");
    assert!(text.contains("holds 1 record sets"), "{text}");

    // Somebody who writes the same moment is told of.
    bench.fault("dns-write-outdone", true);
    let (_, kind, text) = early(bench.run(of.set("www", 300, vec![RecordData::A(address(3))]).unwrap()).await);
    assert_eq!(kind, TroubleKind::NotSeen, "{text}");
    bench.fault("dns-write-outdone", false);

    let gone = of.delete("app", "A", Some(address(0))).unwrap();
    assert_eq!(bench.run(gone.clone()).await, Ended::Done);
    bench.is_whole(gone).await;
    assert_eq!(bench.run(bench.way_back().plan).await, Ended::Done);
    bench.is_whole(host).await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_rotate_and_a_tenant_goes_without_a_trace() {
    let bench = bench().await;
    assert_eq!(bench.run(bench.onboarding()).await, Ended::Done);
    let (site, name, index) = bench.of();
    let begin = tsig::rotate_begin(&bench.world, &name).await.unwrap();
    assert_eq!(begin.steps.len(), 3, "a key and two zones");
    assert_eq!(bench.run(begin).await, Ended::Done);
    bench.is_whole(bench.onboarding()).await;
    bench.is_whole(tsig::rotate_begin(&bench.world, &name).await.unwrap()).await;
    assert_eq!(bench.run(tsig::rotate_end(&bench.world, &name).await.unwrap()).await, Ended::Done);
    bench.is_whole(bench.onboarding()).await;
    assert!(secret_of(&bench.world, "rtrip").await.is_err(), "the first is gone");

    let mut steps = names::forwards_removal(&site, &name, index);
    steps.extend(names::removal(&bench.world, &name, index).await.unwrap());
    let removal = plan(&bench.world, steps);
    assert_eq!(bench.run(removal.clone()).await, Ended::Done);
    bench.is_whole(removal).await;
    let client = bench.world.powerdns().unwrap();
    assert!(client.tsig_keys().await.unwrap().iter().all(|key| !key.name.as_str().starts_with("rtrip")));
    bench.end().await;
}
