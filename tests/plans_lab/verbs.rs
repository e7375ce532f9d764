//! Every verb twice, plans that were saved, and what of others stays.

use deevnet_console::lab::names::{Rrset, Zone};
use deevnet_console::lab::state::World;
use deevnet_console::provision::approve::{ApprovedPlan, Consent};
use deevnet_console::provision::names;
use deevnet_console::provision::plan::Question;
use deevnet_console::provision::saved::{self, Asked};

use super::change_common::Bench;
use super::operators::bench;
use super::{LONG, open_steps};

/// All verbs that make something so, in an order in which each has something to do. A restart and a replacement are done anew
/// each time.
const VERBS: &[(&str, &[&str])] = &[
    ("onboard", &["picow"]),
    ("reconcile", &["picow"]),
    ("workload-create", &["picow/app", "cores=1"]),
    ("workload-resize", &["picow/app", "memory=4096"]),
    ("workload-power", &["picow/app", "to=stop"]),
    ("workload-power", &["picow/app", "to=start"]),
    ("workload-power", &["picow/app", "to=shutdown"]),
    ("record-set", &["picow", "www", "value=10.20.129.10"]),
    ("record-delete", &["picow", "www"]),
    ("tsig-begin", &["picow"]),
    ("tsig-end", &["picow"]),
    ("forward-set", &["lab.example", SERVER, "description=lab"]),
    ("forward-delete", &["lab.example"]),
    ("sdn-apply", &[]),
    ("sdn-rollback", &[]),
    ("workload-delete", &["picow/app"]),
    ("tenant-delete", &["picow"]),
];

/// In place of the server of names.
const SERVER: &str = "{dns}";

/// Somebody answers for what is forwarded.
pub fn answered(bench: &Bench, domain: &str) {
    let soa = Rrset::one(3600, "ns.lab.example. hostmaster.lab.example. 1 10800 3600 604800 3600");
    let mut zone = Zone::default();
    zone.set(domain, "SOA", soa);
    bench.lab.edit(|world| drop(world.names.zones.insert(domain.to_owned(), zone))).unwrap();
}

#[tokio::test]
async fn a_second_run_of_every_verb_has_nothing_to_do() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    answered(&bench, "lab.example.");
    let server = format!("server={}", bench.lab.authoritative().unwrap());
    for (verb, words) in VERBS {
        let words: Vec<&str> = words.iter().map(|word| if *word == SERVER { &server } else { *word }).collect();
        let words = &words[..];
        let first = ann.asks(verb, words).await;
        if !first.0.is_empty() {
            ann.does(verb, words).await;
        }
        let (again, _) = ann.asks(verb, words).await;
        assert!(again.is_empty(), "{verb} {words:?}: {:#?}", open_steps(&again));
        assert_eq!(again.question(), Question::Nothing, "{verb} {words:?}");
    }
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn a_saved_plan_is_made_again_and_what_is_otherwise_is_named() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    let asked = Asked { plan: "onboard".to_owned(), words: vec!["shop".to_owned()] };
    let (then, _) = ann.asks("onboard", &["shop"]).await;
    let text = saved::text(&asked, &then).unwrap();
    let saved = saved::read(&text).unwrap();
    assert_eq!(saved.asked, asked);
    let (same, _) = ann.asks(&saved.asked.plan, &["shop"]).await;
    assert_eq!(saved.differs(&same), Vec::<String>::new());
    // What somebody wrote into the file is not what is done, and the name to type is the new plan's.
    let forged = saved::read(&text.replace("\"name\": \"shop\"", "\"name\": \"x\"")).unwrap();
    let differs = forged.differs(&same);
    assert!(differs.iter().any(|what| what.contains("was x and is shop")), "{differs:?}");
    assert_eq!(same.plan.subject.name, "shop");
    ann.does("onboard", &["picow"]).await;
    let (moved, _) = ann.asks("onboard", &["shop"]).await;
    let differs = saved.differs(&moved).join("; ");
    assert!(differs.contains("a new step: index 2 of shop"), "{differs}");
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn a_workload_goes_and_other_records_of_its_name_stay() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow", "workload=app"]).await;
    let (zone, name) = ("picow.mobile.deevnet.net.", "app.picow.mobile.deevnet.net.");
    let both = || Rrset {
        records: vec![("10.20.129.10".to_owned(), false), ("10.20.129.99".to_owned(), false)],
        ..Rrset::one(300, "")
    };
    bench.lab.edit(|world| world.names.zones.get_mut(zone).unwrap().set(name, "A", both())).unwrap();
    ann.does("workload-delete", &["picow/app"]).await;
    let world = bench.lab.world();
    assert_eq!(world.names.zones[zone].contents(name, "A"), ["10.20.129.99"]);
    drop((world, ann));
    bench.end().await;
}

#[tokio::test]
async fn what_cannot_be_is_refused_before_there_is_a_plan() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow"]).await;
    ann.does("record-set", &["picow", "www", "value=10.20.129.10"]).await;
    let keys = names::keys(&bench.world, Some("picow")).await.unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!((keys[0].name.as_str(), keys[0].zones.len()), ("picow", 2));
    assert!(names::keys(&bench.world, Some("pico")).await.unwrap().is_empty());
    let cases: &[(&str, &[&str], &str)] = &[
        ("workload-create", &["picow/app", "memory=1"], "memory: \"1\""),
        ("workload-create", &["picow/app", "cores=100000"], "cores: \"100000\""),
        ("workload-create", &["picow/app", "user=root;rm"], "is no login account"),
        ("record-set", &["picow", "www", "type=CNAME", "value=a.example.net"], "an alias stands alone"),
        ("forward-set", &["mobile.deevnet.net", "server=10.20.25.21"], "would take every name of the site"),
        ("forward-set", &["deevnet.net", "server=10.20.25.21"], "would take every name of the site"),
    ];
    for (verb, words, text) in cases {
        let why = ann.draft(verb, words).await.err().unwrap();
        assert!(why.kind.is_known() && why.text.contains(text), "{verb} {words:?}: {why:?}");
        assert!(why.help.is_some(), "{why:?}");
    }
    drop(ann);
    bench.end().await;
}

/// What answers for every name does not tell whether a name is there itself: records or an alias alike.
#[tokio::test]
async fn a_name_that_a_wildcard_answers_for_is_not_known_before_there_is_a_plan() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow"]).await;
    let (zone, wildcard) = ("picow.mobile.deevnet.net.", "*.picow.mobile.deevnet.net.");
    let words = ["picow", "www", "value=10.20.129.30", "via=update"];
    for (kind, content, known) in
        [("CNAME", "elsewhere.example.", false), ("A", "10.20.129.66", false), ("TXT", "\"hello\"", true)]
    {
        let set = |world: &mut World| {
            let zone = world.names.zones.get_mut(zone).unwrap();
            zone.rrsets.retain(|(name, _), _| name != wildcard);
            zone.set(wildcard, kind, Rrset::one(300, content));
        };
        bench.lab.edit(set).unwrap();
        let (preview, _) = ann.asks("record-set", &words).await;
        let unknown = preview.looks.iter().filter_map(|look| look.as_ref().err());
        let told: Vec<&str> = unknown.map(|why| why.text.as_str()).collect();
        assert_eq!(told.is_empty(), known, "{kind}: {told:?}");
        assert!(told.iter().all(|why| why.contains("is answered as *.picow.")), "{kind}: {told:?}");
    }
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn a_reload_names_what_others_removed_and_did_not_apply() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow"]).await;
    let gone = |world: &mut deevnet_console::lab::state::World| {
        world.perimeter.loaded = Some(world.perimeter.forwards.clone());
        world.perimeter.forwards.retain(|row| row.domain != "picow.mobile.deevnet.net");
    };
    bench.lab.edit(gone).unwrap();
    let (preview, _) = ann.asks("forward-set", &["lab.example", "server=10.20.25.21", "description=lab"]).await;
    let riders = preview.riders().join("; ");
    assert!(riders.contains("picow.mobile.deevnet.net, which somebody removed and did not apply"), "{riders}");
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn what_is_known_to_stand_against_a_plan_is_said_as_such_and_a_wrong_name_as_wrong() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow", "workload=app"]).await;
    let answer = |preview, name: Option<&str>| {
        let consent = Consent::Flags { write: true, yes: true, confirm: name.map(str::to_owned) };
        let world = &bench.world;
        ApprovedPlan::of(preview, &world.site, &consent, (world.clock)()).unwrap_err()
    };
    let why = answer(ann.asks("tenant-delete", &["picow"]).await.0, Some("picow"));
    let said = why.to_string();
    assert!(said.contains("no workload of picow: picow still has VM") && !said.contains("could not be told"), "{said}");
    assert!(why.help().contains("workload delete picow/NAME"), "{}", why.help());
    let gone = ann.asks("workload-delete", &["picow/app"]).await.0;
    let (none, wrong) = (answer(gone.clone(), None).to_string(), answer(gone, Some("picow/web")).to_string());
    assert!(none.ends_with("has to be typed back"), "{none}");
    assert!(wrong.ends_with("has to be typed back, and \"picow/web\" is another"), "{wrong}");
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn a_key_that_a_deletion_left_goes_with_the_next() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow"]).await;
    let key = bench.lab.world().names.keys["picow"].clone();
    ann.does("tenant-delete", &["picow"]).await;
    bench.lab.edit(|world| drop(world.names.keys.insert("picow".to_owned(), key))).unwrap();
    ann.does("tenant-delete", &["picow"]).await;
    assert!(!bench.lab.world().names.keys.contains_key("picow"));
    let (again, _) = ann.asks("tenant-delete", &["picow"]).await;
    assert!(again.is_empty() && again.question() == Question::Nothing, "{:#?}", open_steps(&again));
    drop(ann);
    bench.end().await;
}
