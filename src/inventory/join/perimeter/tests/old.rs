//! Rows of an earlier reading stay, and nothing is concluded from them.

use super::ruled;
use crate::inventory::testing::Sample;
use crate::inventory::testing::perimeter::rule;
use crate::inventory::{Class, Gap, GapKind, SourceId};

#[test]
fn old_rules_stay_and_nothing_is_concluded_from_them() {
    let mut s = ruled(|set| set.rules.push(rule(900, "opt5", "any", ("any", "10.20.128.0/18"), "temp")));
    s.fail(SourceId::Fw, GapKind::NoAnswer, "10.20.99.1 does not answer", true);
    s.fw.resolver_state = Ok(crate::backends::opnsense::model::ServiceState::Stopped);
    let inv = s.join();
    assert!(inv.rules.len() > 20);
    assert!(inv.rules.iter().all(|r| (r.class, &*r.word) == (Class::Unknown, "unknown") && r.must_not_exist.is_err()));
    assert!(!inv.forwards.is_empty());
    assert!(inv.forwards.iter().all(|f| (f.class, &*f.word) == (Class::Unknown, "unknown")));
    assert_eq!(inv.perimeter.must_not_exist.as_ref().map_err(|g| g.kind), Err(GapKind::NoAnswer));
    assert!(inv.perimeter.route.is_err() && inv.perimeter.resolver.is_err());
    assert_eq!(inv.attention.iter().map(|a| a.kind).collect::<Vec<_>>(), ["source"]);
    assert_eq!(inv.tenant("eds").expect("eds").layers.resolver.gap.as_ref().map(|g| g.kind), Some(GapKind::NoAnswer));
    assert_eq!(inv.tenant("eds").expect("eds").layers.node.class, Class::Fine);
}

#[test]
fn parts_of_an_earlier_poll_stay_and_nothing_is_concluded_from_them() {
    let mut s = ruled(|set| {
        set.rules[5].loaded = Some(false);
        set.rules.push(rule(900, "opt5", "any", ("any", "10.20.128.0/18"), "temp"));
    });
    s.fw.rules_old = Some(Gap::new(GapKind::NoAnswer, "no answer within 10 s"));
    let inv = s.join();
    assert!(inv.rules.len() > 20 && inv.rules.iter().all(|r| r.class == Class::Unknown));
    assert_eq!(inv.perimeter.must_not_exist.as_ref().map_err(|g| g.kind), Err(GapKind::NoAnswer));
    assert!(inv.perimeter.route.is_ok() && inv.forwards.iter().all(|f| f.class == Class::Fine || f.tenant.is_none()));
    assert_eq!(inv.attention, []);
    let mut s = Sample::healthy();
    s.fw.forwards_old = Some(Gap::new(GapKind::NoAnswer, "no answer within 10 s"));
    let inv = s.join();
    assert!(!inv.forwards.is_empty() && inv.forwards.iter().all(|f| f.class == Class::Unknown));
    assert_eq!(inv.perimeter.must_not_exist, Ok(0));
    assert_eq!(inv.tenant("eds").expect("eds").layers.resolver.gap.as_ref().map(|g| g.kind), Some(GapKind::NoAnswer));
}
