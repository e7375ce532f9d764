//! The perimeter: healthy stays quiet, what must not exist is found whatever it is called, what was not read is unknown.
//! `old`: rows of an earlier reading; `way`: the route back and the resolver.

mod old;
mod way;

use std::sync::Arc;

use crate::backends::opnsense::Error;
use crate::backends::opnsense::model::{Action, Direction, Family, NotRead, Rule, RuleSet, Severity, SystemMessage};
use crate::inventory::testing::perimeter::rule;
use crate::inventory::testing::{Sample, healthy};
use crate::inventory::{Class, Gap, GapKind, Inventory, ObjectId, RuleRow, Touch};

/// The healthy sample with its rule set changed.
fn ruled(change: impl FnOnce(&mut RuleSet)) -> Sample {
    let mut s = Sample::healthy();
    change(Arc::make_mut(s.fw.rules.as_mut().expect("rules")));
    s
}

/// The healthy sample with `more` behind its rules.
fn with(more: Rule) -> Arc<Inventory> {
    ruled(|set| set.rules.push(more)).join()
}

fn found<'a>(inv: &'a Inventory, description: &str) -> &'a RuleRow {
    let named = |r: &&RuleRow| r.description.contains(description);
    inv.rules.iter().find(named).unwrap_or_else(|| panic!("no rule {description}"))
}

fn pattern(inv: &Inventory, name: &str) -> Result<usize, GapKind> {
    let found = inv.perimeter.patterns.iter().find(|p| &*p.name == name).expect("a pattern");
    found.found.as_ref().copied().map_err(|gap| gap.kind)
}

fn faults(inv: &Inventory) -> Vec<&str> {
    inv.attention.iter().filter(|a| a.class == Class::Fault).map(|a| a.what.as_str()).collect()
}

#[test]
fn a_healthy_perimeter_breaks_nothing() {
    let inv = healthy();
    assert_eq!(inv.perimeter.must_not_exist, Ok(0));
    assert_eq!(inv.perimeter.patterns.len(), 9);
    assert_eq!(inv.perimeter.version.as_deref(), Ok("26.7.3"));
    let route = inv.perimeter.route.as_ref().expect("a route");
    assert_eq!((route.class, &*route.word), (Class::Fine, "via TENANT_FABRIC_GW 10.20.50.22"));
    assert_eq!(inv.perimeter.rules_refused, Ok(None));
    for r in &inv.rules {
        assert!(matches!(&*r.word, "loaded" | "protected"), "{} {}", r.description, r.word);
    }
    let protected: Vec<&str> = inv.rules.iter().filter(|r| r.protected).map(|r| &*r.description).collect();
    assert_eq!(
        protected,
        [
            "anti-lockout rule",
            "ansible: anti-lockout HTTPS management",
            "ansible: anti-lockout SSH management",
            "ansible: trusted -> management",
        ]
    );
}

#[test]
fn rules_touch_by_prefixes() {
    let inv = healthy();
    for (description, touch) in [
        ("gateway services DNS tenant_transit", Touch::Every),
        ("tenant_transit -> internet", Touch::Every),
        ("management -> tenant_transit: tenant overlay", Touch::Every),
        ("tenant_dev -> tenant_transit", Touch::Every),
        ("gateway services DNS guest", Touch::No),
        ("guest -> internet", Touch::No),
        ("trusted -> management", Touch::No),
        ("deevnet-api -> tenant hypervisor", Touch::No),
        ("Default deny", Touch::Every),
    ] {
        assert_eq!(found(&inv, description).touches, Ok(touch), "{description}");
    }
    let inv = with(rule(900, "opt11", "TCP", ("10.20.45.0/24", "10.20.130.0/24:22"), "one"));
    assert_eq!(found(&inv, "one").touches, Ok(Touch::Some(vec!["eds".into()])));
    let inv = with(rule(900, "opt11", "TCP", ("10.20.45.0/24", "10.20.190.0/24:22"), "nobody's"));
    assert_eq!(found(&inv, "nobody's").touches, Ok(Touch::Some(Vec::new())));
    let mut six = rule(900, "opt11", "any", ("any", "any"), "six");
    six.family = Some(Family::Inet6);
    assert_eq!(found(&with(six), "six").touches, Ok(Touch::No), "the overlay is IPv4");
}

#[test]
fn each_pattern_is_found_by_interface_and_by_source() {
    for (i, (id, net, to, name)) in [
        ("opt5", "10.20.31.0/24", "10.20.128.0/18", "iot_vendor → overlay"),
        ("opt4", "10.20.30.0/24", "10.20.130.0/24", "iot → overlay"),
        ("opt7", "10.20.40.0/24", "any", "guest → overlay"),
        ("opt2", "10.20.20.0/24", "not deevnet_other", "storage → overlay"),
        ("opt10", "10.20.50.0/24", "10.20.128.0/18", "transit → overlay"),
        ("opt10", "10.20.129.0/24", "10.20.99.22/32", "transit → management"),
        ("opt10", "any", "opt1", "transit → trusted"),
        ("opt10", "10.20.50.22/32", "10.20.20.7", "transit → storage"),
    ]
    .into_iter()
    .enumerate()
    {
        for (id, source) in [(id, "any"), (id, net), ("", net)] {
            if (id, source) == ("", "any") {
                continue;
            }
            let mut s = ruled(|set| set.rules.push(rule(900, id, "TCP", (source, to), "temp")));
            let aliases = Arc::make_mut(s.fw.aliases.as_mut().expect("aliases"));
            let mut other = aliases.aliases[0].clone();
            (other.name, other.content) = ("deevnet_other".into(), vec!["10.20.0.0/17".into()]);
            aliases.aliases.push(other);
            let inv = s.join();
            let row = found(&inv, "temp");
            assert_eq!((row.class, &*row.word), (Class::Fault, "must not exist"), "{i} {name} on {id:?} from {source}");
            assert_eq!(pattern(&inv, name), Ok(1), "{name} on {id:?} from {source}");
            assert!(
                inv.attention[0]
                    .what
                    .contains(&**row.must_not_exist.as_ref().expect("known").as_ref().expect("a reason"))
            );
            assert_eq!(inv.attention[0].target, ObjectId::Rule(Arc::clone(&row.uuid)));
        }
    }
}

#[test]
fn what_lets_nothing_through_is_not_found() {
    let bad = || rule(900, "opt5", "any", ("10.20.31.0/24", "10.20.128.0/18"), "temp");
    let off = |change: fn(&mut Rule)| {
        let mut r = bad();
        change(&mut r);
        with(r).perimeter.must_not_exist.clone()
    };
    assert_eq!(with(bad()).perimeter.must_not_exist, Ok(1));
    assert_eq!(off(|r| (r.enabled, r.loaded) = (false, Some(false))), Ok(0));
    assert_eq!(off(|r| r.action = Action::Block), Ok(0));
    assert_eq!(off(|r| r.direction = Direction::Out), Ok(0));
    assert_eq!(off(|r| r.family = Some(Family::Inet6)), Ok(0));
    let elsewhere = with(rule(900, "opt1", "any", ("10.20.10.0/24", "10.20.128.0/18"), "temp"));
    assert_eq!(elsewhere.perimeter.must_not_exist, Ok(0), "trusted may");
    let router = with(rule(900, "opt10", "TCP", ("any", "(self):53"), "temp"));
    assert_eq!(router.perimeter.must_not_exist, Ok(0), "the perimeter itself is no host of management");
    let address = with(rule(900, "opt10", "TCP", ("any", "10.20.99.1/32:53"), "temp"));
    assert_eq!(address.perimeter.must_not_exist, Ok(0), "nor by its address");
    let host = with(rule(900, "opt10", "TCP", ("any", "10.20.99.22/32:53"), "temp"));
    assert_eq!(host.perimeter.must_not_exist, Ok(1));
}

#[test]
fn a_source_of_the_segment_alone_counts_on_any_interface() {
    let on = |source: &str| with(rule(900, "opt3", "any", (source, "10.20.128.0/18"), "temp"));
    assert_eq!(pattern(&on("10.20.31.7/32"), "iot_vendor → overlay"), Ok(1));
    assert_eq!(on("10.20.25.0/24").perimeter.must_not_exist, Ok(0), "platform may");
    assert_eq!(on("10.0.0.0/8").perimeter.must_not_exist, Ok(0), "on platform's interface that is platform");
}

#[test]
fn a_broad_rule_behind_a_block_lets_nothing_through_and_one_that_means_it_must_not_exist() {
    let block = |place| Rule {
        action: Action::Block,
        ..rule(place, "opt7", "any", ("any", "10.20.128.0/18"), "guest stays out")
    };
    let broad = || rule(902, "opt7", "any", ("any", "any"), "guest -> anywhere");
    let inv = ruled(|set| set.rules.extend([block(901), broad()])).join();
    assert_eq!(pattern(&inv, "guest → overlay"), Ok(0));
    let inv = ruled(|set| set.rules.extend([broad(), block(903)])).join();
    assert_eq!(pattern(&inv, "guest → overlay"), Ok(1), "it comes too late");
    let narrow = rule(902, "opt7", "any", ("any", "10.20.130.0/24"), "guest -> eds");
    let inv = ruled(|set| set.rules.extend([block(901), narrow])).join();
    assert_eq!(pattern(&inv, "guest → overlay"), Ok(1));
}

#[test]
fn what_pf_still_has_counts_and_what_it_has_not_stops_nothing() {
    let bad = || rule(903, "opt7", "any", ("any", "any"), "temp");
    let off = Rule { enabled: false, ..bad() };
    assert_eq!(pattern(&with(off), "guest → overlay"), Ok(1), "disabled and still loaded");
    let block = |enabled, loaded| Rule {
        action: Action::Block,
        enabled,
        loaded,
        ..rule(901, "opt7", "any", ("any", "10.20.128.0/18"), "guest stays out")
    };
    for (enabled, loaded, passes, found) in [
        (true, Some(true), bad(), 0),
        (true, None, bad(), 0),
        (true, Some(false), bad(), 1),
        (false, Some(true), bad(), 1),
        (true, Some(false), Rule { loaded: Some(false), ..bad() }, 0),
        (false, Some(true), Rule { enabled: false, ..bad() }, 0),
    ] {
        let inv = ruled(|set| set.rules.extend([block(enabled, loaded), passes.clone()])).join();
        assert_eq!(pattern(&inv, "guest → overlay"), Ok(found), "{enabled} {loaded:?} {passes:?}");
    }
}

#[test]
fn a_rule_that_only_pf_has_leaves_absence_unknown_unless_counters_are_old() {
    let stranger = |cached| {
        ruled(|set| {
            set.loaded_unknown.insert("f".repeat(32));
            set.counters_cached = cached;
        })
        .join()
    };
    assert_eq!(pattern(&stranger(false), "guest → overlay"), Err(GapKind::Failed));
    assert_eq!(pattern(&stranger(true), "guest → overlay"), Ok(0));
}

#[test]
fn each_interface_is_judged_with_what_lies_behind_it() {
    let trusted = with(rule(900, "opt1,opt4", "any", ("10.20.10.0/24", "10.20.128.0/18"), "temp"));
    assert_eq!(trusted.perimeter.must_not_exist, Ok(0), "trusted may, on whatever interface");
    let both = with(rule(900, "opt1,opt4", "any", ("10.20.0.0/16", "10.20.128.0/18"), "temp"));
    assert_eq!(pattern(&both, "iot → overlay"), Ok(1));
    let second = |negated: &str, source: &str| {
        let mut s = ruled(|set| {
            let wide = rule(900, negated, "any", (source, "10.20.128.0/18"), "temp");
            set.rules.push(Rule { interfaces_negated: true, ..wide });
        });
        let mut interfaces = s.fw.interfaces.as_ref().expect("interfaces").to_vec();
        let mut more = interfaces.iter().find(|i| i.id.as_deref() == Some("opt4")).expect("iot").clone();
        (more.id, more.addresses) = (Some("opt14".into()), vec!["10.20.32.1/24".parse().expect("an address")]);
        interfaces.push(more);
        s.fw.interfaces = Ok(interfaces.into());
        pattern(&s.join(), "iot → overlay")
    };
    assert_eq!(second("opt4", "any"), Ok(1), "it stands on the other one");
    assert_eq!(second("opt4,opt14", "any"), Ok(0));
    assert_eq!(second("opt4", "10.20.30.0-10.20.31.255"), Ok(0), "nobody behind the other one has that source");
}

/// Ids, devices, aliases and descriptions of rules are names; descriptions of interfaces keep their letters.
#[test]
fn names_decide_nothing() {
    let rename = |mut s: Sample| {
        let spelled = |d: &str| d.to_lowercase().replace('_', "-");
        let id = |id: &str| match id.strip_prefix("opt") {
            Some(n) => {
                let (n, ip) = n.strip_suffix("ip").map_or((n, ""), |n| (n, "ip"));
                format!("opt{}{ip}", 40 - n.parse::<u32>().expect("a number"))
            }
            None => id.to_owned(),
        };
        let mut interfaces = s.fw.interfaces.as_ref().expect("interfaces").to_vec();
        for (n, i) in interfaces.iter_mut().enumerate() {
            i.id = i.id.as_deref().map(id);
            i.description = i.description.as_deref().map(spelled);
            i.device = format!("igc{n}");
        }
        interfaces.reverse();
        s.fw.interfaces = Ok(interfaces.into());
        let aliases = Arc::make_mut(s.fw.aliases.as_mut().expect("aliases"));
        aliases.aliases[0].name = "rfc1918".into();
        let set = Arc::make_mut(s.fw.rules.as_mut().expect("rules"));
        for (n, r) in set.rules.iter_mut().enumerate() {
            r.interfaces = r.interfaces.iter().map(|i| id(i)).collect();
            for side in [&mut r.source, &mut r.destination] {
                for net in &mut side.nets {
                    *net = if net == "deevnet_private" { "rfc1918".into() } else { id(net) };
                }
            }
            if r.kind == crate::backends::opnsense::model::RuleKind::Managed {
                r.description = format!("rule number {n}");
            }
        }
        s
    };
    let bad = || ruled(|set| set.rules.push(rule(900, "opt5", "any", ("any", "10.20.128.0/18"), "temp")));
    for sample in [Sample::healthy as fn() -> Sample, bad] {
        let (before, after) = (sample().join(), rename(sample()).join());
        let verdicts = |inv: &Inventory| {
            let of = |r: &RuleRow| (r.class, r.word.clone(), r.touches.clone(), r.must_not_exist.clone(), r.protected);
            inv.rules.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&after), verdicts(&before));
        assert_eq!(after.perimeter, before.perimeter);
        assert_eq!(faults(&after).len(), faults(&before).len());
    }
}

#[test]
fn a_broken_discovery_makes_it_unknown_and_nothing_absent() {
    for interfaces in [Ok(Vec::new().into()), Err(Gap::new(GapKind::Denied, "not permitted: interfaces/overview"))] {
        let mut s = Sample::healthy();
        let kind = if interfaces.is_ok() { GapKind::Failed } else { GapKind::Denied };
        s.fw.interfaces = interfaces;
        let inv = s.join();
        assert_eq!(inv.perimeter.must_not_exist.as_ref().map_err(|g| g.kind), Err(kind));
        assert!(inv.perimeter.patterns.iter().all(|p| p.found.is_err()));
        assert!(found(&inv, "gateway services DNS guest").touches.is_err());
        assert_eq!(found(&inv, "management -> tenant_transit: tenant overlay").touches, Ok(Touch::Every));
        assert_eq!(faults(&inv), Vec::<&str>::new());
    }
}

#[test]
fn a_segment_that_is_not_found_leaves_its_patterns_unknown() {
    let mut s = Sample::healthy();
    let mut interfaces = s.fw.interfaces.as_ref().expect("interfaces").to_vec();
    interfaces.retain(|i| i.description.as_deref() != Some("GUEST"));
    s.fw.interfaces = Ok(interfaces.into());
    let inv = s.join();
    assert_eq!(pattern(&inv, "guest → overlay"), Err(GapKind::Failed));
    assert_eq!(pattern(&inv, "iot → overlay"), Ok(0));
    let gap = inv.perimeter.must_not_exist.as_ref().expect_err("unknown");
    assert!(gap.why.contains("guest → overlay") && gap.why.contains("described as guest"), "{}", gap.why);
}

#[test]
fn rules_that_were_not_all_read_prove_nothing_absent() {
    let denied = || Error::Denied { endpoint: "firewall/filter/search_rule".into(), need: &[] };
    let inv = ruled(|set| set.not_read.push(NotRead { what: super::rules::FOREIGN, why: denied() })).join();
    assert_eq!(inv.perimeter.must_not_exist.as_ref().map_err(|g| g.kind), Err(GapKind::Denied));
    let empty = ruled(|set| set.rules.clear()).join();
    assert_eq!(empty.perimeter.must_not_exist.as_ref().map_err(|g| g.kind), Err(GapKind::Failed));
    let bad = ruled(|set| {
        set.not_read.push(NotRead { what: super::rules::FOREIGN, why: denied() });
        set.rules.push(rule(900, "opt5", "any", ("any", "10.20.128.0/18"), "temp"));
    })
    .join();
    assert_eq!(pattern(&bad, "iot_vendor → overlay"), Ok(1), "found is found");
}

#[test]
fn an_alias_that_cannot_be_resolved_leaves_its_rule_unknown() {
    let mut s = ruled(|set| set.rules.push(rule(900, "opt5", "any", ("any", "cameras"), "temp")));
    let aliases = Arc::make_mut(s.fw.aliases.as_mut().expect("aliases"));
    let mut names = aliases.aliases[0].clone();
    (names.name, names.kind, names.content) = ("cameras".into(), "host".into(), vec!["cam.example.net".into()]);
    aliases.aliases.push(names);
    let inv = s.join();
    assert_eq!(pattern(&inv, "iot_vendor → overlay"), Err(GapKind::Failed));
    assert!(found(&inv, "temp").touches.is_err());
    assert_eq!(pattern(&inv, "iot → overlay"), Ok(0));
}

#[test]
fn tenants_of_whom_it_is_not_known_are_not_listed() {
    let mut s = ruled(|set| set.rules.push(rule(900, "opt11", "TCP", ("cameras", "10.20.130.0/24:22"), "temp")));
    let aliases = Arc::make_mut(s.fw.aliases.as_mut().expect("aliases"));
    let mut names = aliases.aliases[0].clone();
    (names.name, names.kind, names.content) = ("cameras".into(), "host".into(), vec!["cam.example.net".into()]);
    aliases.aliases.push(names);
    // Without the transit network, of which it is not known either.
    s.site.opnsense = None;
    assert!(found(&s.join(), "temp").touches.is_err());
}

#[test]
fn loaded_is_what_pf_has_and_old_counters_do_not_deny_it() {
    type Change = fn(&mut RuleSet);
    let cases: [(Change, Class, &str); 5] = [
        (|s| s.rules[5].loaded = Some(false), Class::Warning, "not loaded"),
        (|s| s.rules[5].enabled = false, Class::Differs, "still loaded"),
        (|s| (s.rules[5].enabled, s.rules[5].loaded) = (false, Some(false)), Class::Absent, "disabled"),
        (
            |s| {
                (s.rules[5].loaded, s.rules[5].hits) = (None, None);
                s.counters_cached = true;
            },
            Class::Unknown,
            "not read",
        ),
        (
            |s| {
                let why = Error::Denied { endpoint: "firewall/filter_util/rule_stats".into(), need: &[] };
                s.not_read.push(NotRead { what: "counters and the loaded set", why });
                (s.rules[5].loaded, s.rules[5].hits) = (None, None);
            },
            Class::Unknown,
            "denied",
        ),
    ];
    for (change, class, word) in cases {
        let inv = ruled(change).join();
        assert_eq!((inv.rules[5].class, &*inv.rules[5].word), (class, word));
    }
}

#[test]
fn a_rule_set_that_pf_refused_is_one_row() {
    let refused = |waiting: usize| {
        let mut s = ruled(|set| set.rules.iter_mut().rev().take(waiting).for_each(|r| r.loaded = Some(false)));
        let text = Some("There were error(s) loading the rules: /tmp/rules.debug:99: syntax error".to_owned());
        let message = SystemMessage { severity: Severity::Error, text, at: None };
        s.fw.system.as_mut().expect("status").messages.insert("firewall".into(), message);
        s.join()
    };
    let inv = refused(3);
    assert_eq!(inv.attention.len(), 1, "{:?}", inv.attention);
    assert!(faults(&inv)[0].contains("3 enabled rules are not loaded"));
    let old = refused(0);
    assert_eq!((old.attention.len(), old.attention[0].class), (1, Class::Warning), "the message outlives its cause");
}

#[test]
fn hostile_descriptions_are_cleaned() {
    let inv = with(rule(900, "opt\u{1b}[5", "\u{202e}any", ("a\nb", "\u{1b}[2J"), "x\u{1b}]0;y\u{7}"));
    let r = inv.rules.last().expect("a rule");
    for text in [&r.interfaces, &r.source, &r.destination, &r.protocol, &r.port, &r.description] {
        assert!(crate::text::is_clean(text), "{text:?}");
    }
}
