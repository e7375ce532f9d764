//! Text that pictures share changes none of them.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::texts::Texts;
use super::{join, join_with};
use crate::inventory::source::{Gap, GapKind, SourceHealth, SourceId};
use crate::inventory::testing::{Sample, now};

/// Something happens to the site, or to what is known of it.
fn happen(s: &mut Sample, what: u8, which: usize) {
    let vmids: Vec<u32> = s.pve.configs.keys().copied().collect();
    let vmid = vmids.get(which % vmids.len().max(1)).copied();
    let source = SourceId::ALL[which % 5];
    match what {
        0 => drop(vmid.and_then(|vmid| s.pve.configs.remove(&vmid))),
        1 => drop(vmid.map(|vmid| s.pve.configs.insert(vmid, Err(Gap::new(GapKind::Denied, format!("no {which}")))))),
        2 => {
            if let Some(Ok(config)) = vmid.and_then(|vmid| s.pve.configs.get_mut(&vmid)) {
                Arc::make_mut(config).nameserver = Some(format!("10.20.50.{}", which % 250));
            }
        }
        3 => s.resources().vms.retain(|vm| vm.vmid as usize % 7 != which % 7),
        4 => s.resources().vms.iter_mut().for_each(|vm| {
            vm.status = if (vm.vmid as usize + which).is_multiple_of(2) { "running" } else { "stopped" }.into();
        }),
        5 => s.fail(source, GapKind::NoAnswer, &format!("silent for {which}"), which.is_multiple_of(2)),
        6 => {
            let mut health =
                SourceHealth::starting(jiff::SignedDuration::from_secs(10), jiff::SignedDuration::ZERO, now());
            health.observed_at = Some(now());
            s.sources.set(source, health);
        }
        7 => s.dns.content = s.dns.content.split_off(&s.dns.content.keys().nth(which % 3).cloned().expect("a zone")),
        8 => s.dns.perimeter.values_mut().skip(which % 9).step_by(3).for_each(|seen| {
            *seen = Err(Gap::new(GapKind::NoAnswer, "the perimeter is silent"));
        }),
        _ => s.boot.records = s.boot.records.clone().map(|all| all.iter().skip(which % 3).cloned().collect()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pictures_that_share_their_text_are_those_made_alone(steps in vec((0_u8..10, any::<u16>()), 1..10)) {
        let (mut s, texts) = (Sample::healthy(), Texts::default());
        let mut shown = None;
        for (what, which) in steps {
            happen(&mut s, what, usize::from(which));
            if s.dns.content.len() < 4 {
                s.dns = Sample::healthy().dns;
            }
            let (site, readings) = (Arc::new(s.site.clone()), s.all_readings());
            let next = join_with(&site, &readings, 1, &texts);
            prop_assert_eq!(&next, &join(&site, &readings, 1));
            // The one before is let go only now, as the hub does it.
            drop(shown.replace(next));
            texts.sweep();
        }
    }
}

#[test]
fn the_next_picture_holds_the_text_of_the_one_before() {
    let (s, texts) = (Sample::healthy(), Texts::default());
    let (site, readings) = (Arc::new(s.site.clone()), s.all_readings());
    let before = join_with(&site, &readings, 1, &texts);
    texts.sweep();
    let after = join_with(&site, &readings, 2, &texts);
    let same =
        |a: &Option<Arc<str>>, b: &Option<Arc<str>>| a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
    for (a, b) in before.workloads.iter().zip(&after.workloads) {
        assert!(Arc::ptr_eq(&a.name, &b.name) && same(a.uuid.as_ref().unwrap(), b.uuid.as_ref().unwrap()));
    }
    for (a, b) in before.records.iter().zip(&after.records) {
        assert!(Arc::ptr_eq(&a.name, &b.name) && Arc::ptr_eq(&a.word, &b.word), "{}", a.name);
    }
    for (a, b) in before.checkins.iter().flat_map(|c| &c.events).zip(after.checkins.iter().flat_map(|c| &c.events)) {
        assert!(Arc::ptr_eq(&a.text, &b.text), "{}", a.text);
    }
}
