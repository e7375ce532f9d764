//! What a check read: its items on screen, and kept as a bundle.

use std::time::Duration;

use super::check::{TOOK, broken, inquiry, judged, line, passing};
use super::*;
use crate::console::model::Spot;
use crate::diagnose::Diagnosis;
use crate::diagnose::evidence::{Evidence, Item, Kind};
use crate::diagnose::parts::Part;

/// A check with an answer that the fault of `eds` rests on.
fn with_evidence() -> Model {
    let mut m = given((120, 40));
    line(&mut m, "check egress eds");
    let kind = Kind::Command { line: "iptables-save -c".into(), exit: Some(0) };
    let body: String = (0..200).map(|n| format!("-A RULE{n}\n")).collect();
    let item = Item {
        file: "001.txt".into(),
        from: "hv02".into(),
        kind,
        at: Some(now()),
        took: Some(Duration::from_millis(31)),
        body,
        stderr: String::new(),
        empty: false,
    };
    let evidence = Arc::new(Evidence { question: None, items: vec![item] });
    let mut report = broken();
    report.findings[1] = report.findings[1].clone().fact("snat.rule", "hv02/eds", "none");
    let diagnosis = Diagnosis { evidence, ..judged(&m, report) };
    update(&mut m, Msg::Checked { id: 1, diagnosis: Ok(Arc::new(diagnosis)), took: TOOK });
    m
}

#[test]
fn evidence_names_the_values_first_and_is_searched() {
    let mut m = with_evidence();
    press(&mut m, "enter");
    let text = |m: &mut Model| {
        let effects = press(m, "c");
        let Some(Effect::Copy(text)) = effects.first() else { panic!("{effects:?}") };
        text.clone()
    };
    let all = text(&mut m);
    let (value, answer) = (all.find("snat.rule: none · hv02/eds").unwrap(), all.find("-A RULE0").unwrap());
    assert!(value < answer, "{all}");
    assert!(all.contains("where: hv02, 11:03:00Z, exit 0, 31 ms"), "{all}");
    assert!(all.contains("command: iptables-save -c"), "{all}");
    draw(&mut m);
    press(&mut m, "/");
    type_text(&mut m, "rule150");
    press(&mut m, "enter");
    let scroll = |m: &Model| match m.screen() {
        Screen::Evidence { scroll, lines, .. } => (*scroll, lines[*scroll].plain()),
        other => panic!("{other:?}"),
    };
    assert_eq!(scroll(&m).1, "-A RULE150");
    press(&mut m, "/");
    type_text(&mut m, "rule1");
    press(&mut m, "esc");
    assert_eq!(scroll(&m).1, "-A RULE150", "given up: as before");
    line(&mut m, "search rule19");
    assert_eq!(scroll(&m).1, "-A RULE190");
    press(&mut m, "n");
    assert_eq!(scroll(&m).1, "-A RULE191");
    press(&mut m, "N");
    press(&mut m, "N");
    assert_eq!(scroll(&m).1, "-A RULE19");
    line(&mut m, "search nowhere");
    press(&mut m, "n");
    assert!(said(&m).contains("nothing holds \"nowhere\""), "{}", said(&m));
    press(&mut m, "esc");
    assert!(matches!(m.screen(), Screen::Diagnose { .. }));
}

#[test]
fn evidence_that_is_open_is_laid_out_anew_only_for_other_items() {
    let mut m = given((120, 40));
    line(&mut m, "check egress eds");
    let item = |n: u8| Item {
        file: format!("00{n}.json"),
        from: "hv02".into(),
        kind: Kind::Command { line: "deevnet-exit-node probe path".into(), exit: Some(0) },
        at: Some(now()),
        took: None,
        body: format!("answer {n}"),
        stderr: String::new(),
        empty: false,
    };
    let come = |m: &mut Model, count: u8| {
        let evidence = Arc::new(Evidence { question: None, items: (1..=count).map(item).collect() });
        let diagnosis = Diagnosis { evidence, open: vec![Part::Perimeter], ..judged(m, passing(&["eds"])) };
        update(m, Msg::Checking { id: 1, diagnosis: Arc::new(diagnosis), took: TOOK });
    };
    let lines = |m: &Model| match m.screen() {
        Screen::Evidence { lines, .. } => Arc::clone(lines),
        other => panic!("{other:?}"),
    };
    come(&mut m, 1);
    let tried = |row: &crate::console::findings::Row| row.leg.awaits.contains(&crate::diagnose::parts::Kind::Tried);
    let at = inquiry(&m).legs().iter().position(tried).unwrap();
    let spot = Spot::Leg(at);
    let made = crate::console::findings::lines(inquiry(&m), &spot, m.look.glyphs).into();
    m.stack.push(Screen::Evidence { spot: Some(spot), lines: made, search: String::new(), scroll: 0 });
    let first = lines(&m);
    assert!(first.iter().any(|line| line.plain() == "answer 1"), "{first:?}");
    come(&mut m, 1);
    assert!(Arc::ptr_eq(&first, &lines(&m)), "nothing came");
    come(&mut m, 2);
    assert!(lines(&m).iter().any(|line| line.plain() == "answer 2"), "{:?}", lines(&m));
}

#[test]
fn a_bundle_is_asked_for_kept_and_listed() {
    let mut m = with_evidence();
    m.bundles = Some("/state/bundles".into());
    press(&mut m, "S");
    let effects = press(&mut m, "enter");
    let Some(Effect::Save { dir, evidence }) = effects.first() else { panic!("{effects:?}") };
    let name = "/state/bundles/egress-eds-20261129T110300Z";
    assert_eq!((dir.to_str(), evidence.items.len()), (Some(name), 1));
    assert!(m.probes.iter().any(|p| p.what == format!("save {name}") && p.result.is_none()), "{:?}", m.probes);
    update(&mut m, Msg::Saved { dir: name.into(), result: Ok(1) });
    assert!(said(&m).contains("1 item kept in /state/bundles/egress-eds"), "{}", said(&m));
    let effects = line(&mut m, "save-bundle elsewhere");
    assert!(
        matches!(effects.first(), Some(Effect::Save { dir, .. }) if dir.to_str() == Some("elsewhere")),
        "{effects:?}"
    );
    update(&mut m, Msg::Saved { dir: "elsewhere".into(), result: Err("elsewhere is not empty".into()) });
    assert_eq!(m.probes.last().unwrap().result.as_ref().unwrap().class, Some(Class::Warning));
    press(&mut m, "S");
    assert!(press(&mut m, "esc").is_empty(), "nothing is kept");
    press(&mut m, "g t");
    assert!(press(&mut m, "S").iter().all(|e| !matches!(e, Effect::Save { .. })));
}

#[test]
fn a_directory_that_is_refused_stays_to_be_mended() {
    use crate::console::model::{Overlay, Saving};
    let mut m = with_evidence();
    let saving = |m: &Model| match &m.overlay {
        Overlay::Save { field, saving } => Some((field.value().to_owned(), saving.clone())),
        _ => None,
    };
    press(&mut m, "S");
    press(&mut m, "ctrl-u");
    assert!(press(&mut m, "enter").is_empty());
    assert!(matches!(saving(&m), Some((_, Saving::Refused(why))) if why.contains("name a directory")));
    type_text(&mut m, "full");
    assert_eq!(saving(&m), Some(("full".to_owned(), Saving::Asked)));
    assert!(matches!(press(&mut m, "enter").first(), Some(Effect::Save { .. })));
    assert!(press(&mut m, "enter").is_empty(), "once at a time");
    update(&mut m, Msg::Saved { dir: "full".into(), result: Err("full is not empty; name another".into()) });
    let Some((text, Saving::Refused(why))) = saving(&m) else { panic!("{:?}", m.overlay) };
    assert!(text == "full" && why.contains("not kept: full is not empty"), "{text}: {why}");
    type_text(&mut m, "er");
    press(&mut m, "enter");
    update(&mut m, Msg::Saved { dir: "fuller".into(), result: Ok(1) });
    assert!(saving(&m).is_none() && said(&m).contains("1 item kept in fuller"), "{}", said(&m));
}
