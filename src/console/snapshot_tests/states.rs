//! The states of panes: loading, empty, filtered empty, denied, failed, stale, off, not read.

use super::*;
use crate::console::model::TextForm;
use crate::inventory::ObjectId;
use crate::inventory::testing::Sample;
use crate::inventory::{GapKind, Readings, SourceHealth, SourceId};
use jiff::SignedDuration;

/// One source in trouble, with or without earlier data.
fn trouble(sources: &[SourceId], kind: GapKind, stale: bool) -> Arc<Inventory> {
    let mut sample = Sample::healthy();
    for id in sources {
        let text = match (kind, id) {
            (GapKind::Denied, SourceId::Pve) => "Proxmox refused this token: it lacks SDN.Audit on /sdn/zones",
            (GapKind::Denied, SourceId::Dns) => "PowerDNS did not accept the API key",
            (_, SourceId::Dns) => "10.20.25.21:8081 refuses connections",
            (GapKind::Denied, _) => "hv02 refuses the helper: no line for it in sudoers",
            (_, SourceId::Pve) => "10.20.99.22:8006 refuses connections",
            _ => "hv02 does not answer on port 22",
        };
        sample.fail(*id, kind, text, stale);
    }
    let gone = |id: SourceId| sources.contains(&id) && !stale;
    let readings = Readings {
        sources: sample.sources.clone(),
        pve: (!gone(SourceId::Pve)).then(|| Arc::new(sample.pve.clone())),
        exits: if gone(SourceId::Exit) {
            std::collections::BTreeMap::new()
        } else {
            std::iter::once((testing::NODE.to_owned(), Ok(Arc::new(sample.exit.clone())))).collect()
        },
        dns: (!gone(SourceId::Dns)).then(|| Arc::new(sample.dns.clone())),
        fw: (!gone(SourceId::Fw)).then(|| Arc::new(sample.fw.clone())),
        boot: (!gone(SourceId::Boot)).then(|| Arc::new(sample.boot.clone())),
        flows: Arc::new(sample.flows.clone()),
        stale_exits: if sources.contains(&SourceId::Exit) && stale {
            let gap = crate::inventory::Gap::new(kind, "hv02 does not answer on port 22");
            std::iter::once((testing::NODE.to_owned(), gap)).collect()
        } else {
            std::collections::BTreeMap::new()
        },
        ..Readings::default()
    };
    Arc::new(crate::inventory::join(&Arc::new(sample.site.clone()), &readings, 1))
}

fn loading() -> Arc<Inventory> {
    let mut sample = Sample::healthy();
    for (id, interval) in [(SourceId::Pve, 10), (SourceId::Dns, 10), (SourceId::Fw, 10), (SourceId::Exit, 30)] {
        let since = testing::now() - SignedDuration::from_secs(3);
        let seconds = SignedDuration::from_secs;
        sample.sources.set(id, SourceHealth::starting(seconds(interval), seconds(10), since));
    }
    sample.join_without_data()
}

#[test]
fn boards() {
    let both = [SourceId::Pve, SourceId::Exit];
    let pictures = [
        (loading(), "loading"),
        (trouble(&both, GapKind::NoAnswer, false), "failed"),
        (trouble(&both, GapKind::Denied, false), "denied"),
        (trouble(&both, GapKind::NoAnswer, true), "stale"),
        (trouble(&[SourceId::Exit], GapKind::NoAnswer, false), "exit-failed"),
        (trouble(&[SourceId::Exit], GapKind::Denied, false), "exit-denied"),
        (trouble(&[SourceId::Exit], GapKind::NoAnswer, true), "exit-stale"),
    ];
    for (inv, state) in pictures {
        for size in [COMPACT, DESIGN] {
            check(&board(Arc::clone(&inv), size, "tdemo", ListId::VrfFacts), "board", state);
        }
        check(&tenants(Arc::clone(&inv), COMPACT), "tenants", state);
        check(&tenants(Arc::clone(&inv), DESIGN), "tenants", state);
        for id in [ListId::Workloads, ListId::Vrfs, ListId::Vnets] {
            let name = super::super::lists::def(id).word;
            check(&list(Arc::clone(&inv), COMPACT, id, Scope::All), name, state);
        }
        for (screen, pane, name) in [
            (Screen::Overview, ListId::Attention, "overview"),
            (Screen::Fabric, ListId::Members, "fabric"),
            (Screen::Activity, ListId::Tasks, "activity"),
            (Screen::Sources, ListId::Sources, "sources"),
        ] {
            check(&model(Arc::clone(&inv), DESIGN, screen, Focus::Pane(pane)), name, state);
        }
    }
}

#[test]
fn names() {
    let dns = [SourceId::Dns];
    let mut off = Sample::healthy();
    (off.site.powerdns, off.site.resolvers) = (None, None);
    off.sources.set(SourceId::Dns, SourceHealth::off());
    let mut dead = Sample::healthy();
    for seen in dead.dns.perimeter.values_mut() {
        *seen = Err(crate::inventory::Gap::new(GapKind::NoAnswer, "10.20.50.1 does not answer"));
    }
    let pictures = [
        (testing::healthy(), "healthy"),
        (disagreeing(), "disagreeing"),
        (trouble(&dns, GapKind::NoAnswer, false), "dns-failed"),
        (trouble(&dns, GapKind::Denied, false), "dns-denied"),
        (trouble(&dns, GapKind::NoAnswer, true), "dns-stale"),
        (dead.join(), "resolver-dead"),
        (off.join(), "dns-off"),
    ];
    for (inv, state) in pictures {
        for size in [COMPACT, DESIGN] {
            let records = list(Arc::clone(&inv), size, ListId::Records, Scope::Tenant("tdemo".into()));
            check(&records, "records-tdemo", state);
        }
        if state != "healthy" {
            check(&board(Arc::clone(&inv), DESIGN, "tdemo", ListId::Records), "board", state);
            check(&board(Arc::clone(&inv), COMPACT, "tdemo", ListId::Records), "board-records", state);
        }
    }
    let inv = disagreeing();
    for (subject, state) in [
        (ObjectId::Record("web.tdemo.mobile.deevnet.net".into(), "A".into()), "record"),
        (ObjectId::DnsZone("tdemo.mobile.deevnet.net".into()), "dns-zone"),
    ] {
        let screen = Screen::Text { subject, form: TextForm::Describe, scroll: 0 };
        check(&model(Arc::clone(&inv), DESIGN, screen, Focus::Pane(ListId::Records)), "describe", state);
    }
    check(&model(inv, DESIGN, Screen::Overview, Focus::Pane(ListId::Attention)), "overview", "names");
}

/// The perimeter remembers a name away, a pointer leads elsewhere, a zone is open, another is gone.
fn disagreeing() -> Arc<Inventory> {
    let mut s = Sample::healthy();
    let (tdemo, reverse) = ("tdemo.mobile.deevnet.net", "129.20.10.in-addr.arpa");
    s.perimeter("web.tdemo.mobile.deevnet.net", "A", testing::dns::negative("NXDOMAIN", tdemo, 2_026_112_906, 2460));
    s.set_record(tdemo, "old", "A", &["10.20.129.33"]);
    s.set_record(reverse, "11", "PTR", &["lamp.eds.mobile.deevnet.net."]);
    s.set_metadata("eds.mobile.deevnet.net", "TSIG-ALLOW-DNSUPDATE", &[]);
    s.set_metadata("130.20.10.in-addr.arpa", "TSIG-ALLOW-DNSUPDATE", &["eds", "radio"]);
    s.without_zone("radio.mobile.deevnet.net");
    s.join()
}

#[test]
fn empty_lists() {
    check(&board(testing::healthy(), DESIGN, "bench1", ListId::Workloads), "board", "empty");
    check(&board(testing::healthy(), COMPACT, "bench1", ListId::Workloads), "board", "empty");
    check(&tenants(Sample::of(&[]).join(), COMPACT), "tenants", "empty");
    check(&tenants(Sample::of(&[]).join(), DESIGN), "tenants", "empty");
    let gone = board(testing::healthy(), DESIGN, "orchard", ListId::Workloads);
    check(&gone, "board", "gone");
    for size in [COMPACT, DESIGN] {
        let all = list(testing::healthy(), size, ListId::Workloads, Scope::All);
        check(&filtered(all, "xyz"), "workloads", "filtered-empty");
        let pane = board(testing::healthy(), size, "tdemo", ListId::Workloads);
        check(&filtered(pane, "xyz"), "board", "filtered-empty");
    }
}

#[test]
fn a_zero_never_stands_for_what_was_not_read() {
    for inv in [trouble(&[SourceId::Pve], GapKind::NoAnswer, false), trouble(&[SourceId::Pve], GapKind::NoAnswer, true)]
    {
        let text = super::grid::render(&view(&tenants(inv, DESIGN)));
        assert!(text.contains("? faults · ? warnings"), "{text}");
    }
}
