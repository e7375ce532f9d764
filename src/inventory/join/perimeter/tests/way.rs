//! The route back to the overlay, and the resolver.

use super::{faults, pattern};
use crate::inventory::testing::Sample;
use crate::inventory::{Class, Gap, GapKind};

#[test]
fn the_way_back_is_one_enabled_route_in_force() {
    type Change = fn(&mut Sample);
    let cases: [(Change, &str); 6] = [
        (|s| s.fw.routes = Ok(Vec::new().into()), "no static route to 10.20.128.0/18"),
        (
            |s| {
                let mut routes = s.fw.routes.as_ref().expect("routes").to_vec();
                routes[0].enabled = false;
                s.fw.routes = Ok(routes.into());
            },
            "the static route to 10.20.128.0/18 is disabled",
        ),
        (
            |s| {
                let one = s.fw.routes.as_ref().expect("routes")[0].clone();
                s.fw.routes = Ok(vec![one.clone(), one].into());
            },
            "2 static routes to 10.20.128.0/18",
        ),
        (
            |s| {
                let mut gateways = s.fw.gateways.as_ref().expect("gateways").to_vec();
                gateways[0].address = Some([10, 20, 50, 23].into());
                s.fw.gateways = Ok(gateways.into());
            },
            "leads to TENANT_FABRIC_GW 10.20.50.23, which is no exit node",
        ),
        (
            |s| {
                let mut gateways = s.fw.gateways.as_ref().expect("gateways").to_vec();
                gateways[0].enabled = false;
                s.fw.gateways = Ok(gateways.into());
            },
            "gateway TENANT_FABRIC_GW of the route to 10.20.128.0/18 is disabled",
        ),
        (|s| s.fw.kernel_routes = Ok(Vec::new().into()), "configured and not in force"),
    ];
    for (change, words) in cases {
        let mut s = Sample::healthy();
        change(&mut s);
        let inv = s.join();
        let mark = inv.perimeter.route.as_ref().expect("a verdict");
        assert!(mark.class == Class::Fault && mark.word.contains(words), "{}", mark.word);
        assert_eq!(faults(&inv), [&*mark.word]);
        assert_eq!(inv.attention[0].affects.len(), 6);
    }
    let mut s = Sample::healthy();
    s.fw.kernel_routes = Err(Gap::new(GapKind::Denied, "not permitted"));
    assert_eq!(s.join().perimeter.route.as_ref().map_err(|g| g.kind), Err(GapKind::Denied));
}

#[test]
fn a_route_of_a_single_tenant_must_not_exist() {
    let mut s = Sample::healthy();
    let mut routes = s.fw.routes.as_ref().expect("routes").to_vec();
    let mut one = routes[0].clone();
    one.network = "10.20.130.0/24".parse().expect("a prefix");
    routes.push(one);
    s.fw.routes = Ok(routes.into());
    let inv = s.join();
    assert_eq!(pattern(&inv, "a per-tenant route or interface"), Ok(1));
    assert_eq!(inv.perimeter.must_not_exist, Ok(1));
    assert_eq!(faults(&inv).len(), 1);
}

#[test]
fn a_resolver_that_stands_still_is_one_row() {
    let mut s = Sample::healthy();
    s.fw.resolver_state = Ok(crate::backends::opnsense::model::ServiceState::Stopped);
    let inv = s.join();
    assert_eq!(faults(&inv), ["the resolver is stopped: no workload resolves a name"]);
}
