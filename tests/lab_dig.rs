//! The lab's exit node asks the perimeter from a VRF, as the product's own probe makes it, and fails as a node does.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

mod lab_client;

use std::net::Ipv4Addr;
use std::time::Duration;

use deevnet_console::backends::dns::{Answer, Failure, Rcode, RecordType};
use deevnet_console::backends::exit_node::{Client, VrfFailure, VrfQuestion};
use deevnet_console::lab::Lab;
use deevnet_console::site::Site;
use lab_client::lab;

const APP: &str = "app.tdemo.mobile.deevnet.net";

async fn probe(lab: &Lab, vrf: &str, name: &str, kind: RecordType) -> Result<Answer, VrfFailure> {
    let site = Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap();
    let client = Client::new(&site.exit_nodes[0]);
    let gateway = Ipv4Addr::new(10, 20, 50, 1);
    let question = VrfQuestion::new(vrf, gateway, name.parse().unwrap(), kind).unwrap();
    client.probe_dns(Duration::from_secs(20), &[question]).await.unwrap().remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vrf_hears_what_the_perimeter_says() {
    let lab = lab(&[]).await;
    let answer = probe(&lab, "vrf_tdemo", APP, RecordType::A).await.unwrap();
    assert_eq!((answer.rcode, answer.values(RecordType::A)), (Rcode::NOERROR, vec!["10.20.129.10".to_owned()]));
    assert_eq!(answer.flags.unwrap().words(), "rd ra");
    let pointer = probe(&lab, "vrf_eds", "10.129.20.10.in-addr.arpa", RecordType::PTR).await.unwrap();
    assert_eq!(pointer.values(RecordType::PTR), [APP]);
    let nobody = probe(&lab, "vrf_tdemo", "nobody.tdemo.mobile.deevnet.net", RecordType::A).await.unwrap();
    assert_eq!(nobody.rcode, Rcode::NXDOMAIN);
    assert_eq!(nobody.soa().unwrap().0.name, "tdemo.mobile.deevnet.net");
    let apex = probe(&lab, "vrf_tdemo", "tdemo.mobile.deevnet.net", RecordType::SOA).await.unwrap();
    assert_eq!(apex.values(RecordType::SOA).len(), 1);
    let text = probe(&lab, "vrf_tdemo", "note.tdemo.mobile.deevnet.net", RecordType::TXT).await.unwrap();
    assert!(text.rcode == Rcode::NXDOMAIN || !text.values(RecordType::TXT).is_empty());
    lab.fault_on("rebind-filtered@tdemo").unwrap();
    let filtered = probe(&lab, "vrf_tdemo", APP, RecordType::A).await.unwrap();
    assert_eq!((filtered.rcode, filtered.answers.len(), filtered.soa().is_none()), (Rcode::NOERROR, 0, true));
    lab.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stops_a_packet_stops_the_question() {
    let lab = lab(&[]).await;
    for fault in ["snat-missing@tdemo", "transit-forwarding-off", "frr-down", "resolver-down", "gateway-unreachable"] {
        lab.fault_on(fault).unwrap();
        let failed = probe(&lab, "vrf_tdemo", APP, RecordType::A).await.unwrap_err();
        assert!(
            matches!(&failed, VrfFailure::Dns { failure: Failure::TimedOut { .. } | Failure::Unreachable { .. }, .. }),
            "{fault}: {failed:?}"
        );
        lab.fault_off(fault).unwrap();
    }
    lab.fault_on("vrf-default-missing@tdemo").unwrap();
    lab.fault_on("vrf-default-wrong-gateway@greenhse").unwrap();
    let tdemo = probe(&lab, "vrf_tdemo", APP, RecordType::A).await.unwrap();
    assert_eq!(tdemo.rcode, Rcode::NOERROR, "main reaches the transit as well, and so does what falls through to it");
    assert!(probe(&lab, "vrf_greenhse", APP, RecordType::A).await.is_err());
    assert!(probe(&lab, "vrf_nobody", APP, RecordType::A).await.is_err(), "there is no such VRF");
    lab.fault_on("exit-denied").unwrap();
    let denied = probe(&lab, "vrf_eds", APP, RecordType::A).await.unwrap_err();
    assert!(matches!(denied, VrfFailure::Denied { .. }), "{denied:?}");
    lab.shutdown().await;
}
