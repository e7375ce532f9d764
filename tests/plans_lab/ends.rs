//! What cannot be is told before anything is begun, and how a verb that changes something ends.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deevnet_console::backends::proxmox::Waiting;
use deevnet_console::lab::names::Rrset;
use deevnet_console::lab::state::{Task, World};
use deevnet_console::provision::conduct::Course;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::{Change, Journal, Who};
use deevnet_console::provision::object::Object;
use deevnet_console::provision::plan::{Question, Step};
use deevnet_console::provision::trouble::{Trouble, TroubleKind};
use deevnet_console::provision::world::News;

use super::change_common::Bench;
use super::operators::{Operator, bench};
use super::program::run;
use super::{LONG, early};

/// A change of somebody that has the SDN lock and did nothing else yet.
async fn holding(bench: &Bench, journal: &Journal) -> Change {
    let permit = deevnet_console::backends::permit::Permit::grant("a-test");
    let token = bench.world.proxmox().unwrap().sdn_lock(&permit, Waiting::Allow).await.unwrap();
    let who = Who { user: "ann".to_owned(), host: "console".to_owned(), pid: std::process::id() };
    let now = (bench.world.clock)();
    let plan = bench.operator("ann").draft("onboard", &["picow"]).await.unwrap().plan;
    let change = journal.begin(&who, &plan, now).unwrap();
    change.notes.set("sdn-lock", token.expose(), now).unwrap();
    change
}

#[tokio::test]
async fn a_lock_of_a_change_that_nobody_runs_any_more_is_not_waited_for() {
    let bench = bench(Duration::from_secs(5)).await;
    let bo = bench.operator("bo");
    let asked = bo.asks("onboard", &["shop"]).await;
    let change = holding(&bench, &bo.desk.journal).await;
    let id = change.id;
    // While its process lives it is waited for.
    let (step, text, _) = early(bo.run(asked.clone()).await);
    assert!(step == 0 && text.contains("was not given back within 5 s by change C-0001"), "{text}");
    drop(change);
    let (step, text, help) = early(bo.run(asked).await);
    assert!(step == 0 && text.contains("held by change C-0001 of ann"), "{text}");
    assert!(text.contains("nobody runs any more"), "{text}");
    assert!(help.contains(&format!("resume {id}")) && help.contains(&format!("resume --later {id}")), "{help}");
    assert!(bench.lab.world().sdn.lock.is_some(), "it is not taken");
    drop(bo);
    bench.end().await;
}

#[tokio::test]
async fn a_machine_that_was_only_stopped_is_started_by_the_way_back_of_its_end() {
    let bench = bench(LONG).await;
    let mut ann = bench.operator("ann");
    ann.does("onboard", &["picow", "workload=app"]).await;
    let lab = Arc::clone(&bench.lab);
    ann.also = Arc::new(move |news| {
        if matches!(&news, News::Line(_, line) if line.contains("hard stop of VM")) {
            lab.fault_on("pve-no-quorum").unwrap();
        }
    });
    let ended = ann.run(ann.asks("workload-delete", &["picow/app"]).await).await;
    ann.also = Arc::new(|_| ());
    assert!(matches!(&ended, Ended::Early { trouble, .. } if trouble.text.contains("no quorum")), "{ended:?}");
    bench.lab.fault_off("pve-no-quorum").unwrap();
    let id = ann.newest().id.to_string();
    is_gone_around(&bench, &ann).await;
    let draft = ann.draft("undo", &[&id]).await.unwrap();
    assert_eq!(draft.left, [], "its disks are there");
    let (preview, course) = ann.look(draft).await;
    let names: Vec<String> = preview.plan.steps.iter().map(|step| step.object.ensure().name()).collect();
    assert!(names.first().is_some_and(|name| name.starts_with("power of VM")), "{names:?}");
    assert_eq!(preview.riders(), [""; 0], "{names:?}");
    assert_eq!(ann.run((preview, course)).await, Ended::Done);
    let again = ann.asks("workload-create", &["picow/app"]).await.0;
    assert!(again.is_empty(), "{:#?}", super::open_steps(&again));
    drop(ann);
    bench.end().await;
}

/// What an undo leaves of ann's newest change, and whether it starts the machine.
async fn undoes(ann: &Operator) -> (Vec<&'static str>, bool) {
    let draft = ann.draft("undo", &[&ann.newest().id.to_string()]).await.unwrap();
    let starts = draft.plan.steps.iter().any(|step| matches!(step.object, Object::VmPower(_)));
    (draft.left.iter().map(|(_, why)| *why).collect(), starts)
}

/// That ann's newest change cannot be taken back now: why, and what to do.
async fn not_yet(ann: &Operator, kind: TroubleKind, text: &str) {
    let why = ann.draft("undo", &[&ann.newest().id.to_string()]).await.err().unwrap();
    assert!(why.kind == kind && why.text.contains(text), "{why:?}");
    assert!(why.help().is_some_and(|help| help.contains("then undo again")), "{why:?}");
}

/// Writes a note of ann's newest change, so long ago.
fn note(ann: &Operator, (key, value): (&str, &str), ago: jiff::SignedDuration) {
    let (_, change) = ann.desk.journal.take_up(ann.newest().id).unwrap();
    change.notes.set(key, value, (ann.desk.world.clock)() - ago).unwrap();
}

/// The machine that ann's newest change removes.
fn goes(ann: &Operator) -> u32 {
    let gone = |step: &Step| match &step.object {
        Object::VmGone(gone) => Some(gone.vm.vmid),
        _ => None,
    };
    ann.newest().plan.steps.iter().find_map(gone).unwrap()
}

/// While a machine may be on its way out, or is at work, nothing is taken back; one that is not as it was is left alone.
async fn is_gone_around(bench: &Bench, ann: &Operator) {
    let (vmid, node) = (goes(ann), &bench.world.site.proxmox.node);
    let (now, long) = (jiff::SignedDuration::ZERO, jiff::SignedDuration::from_mins(2));
    let edit = |change: &dyn Fn(&mut World)| bench.lab.edit(|world| change(world)).unwrap();
    let config = |key: &str, value: Option<&str>| {
        edit(&|world| {
            let config = &mut world.guests.get_mut(&vmid).unwrap().config;
            match value {
                Some(value) => drop(config.insert(key.to_owned(), value.into())),
                None => drop(config.shift_remove(key)),
            }
        });
    };
    assert_eq!(undoes(ann).await, (vec![], true));

    // The console was killed after its request: the task runs, and the configuration is whole meanwhile.
    let upid = format!("UPID:{node}:00001234:00005678:6A6C2000:qmdestroy:{vmid}:root@pam:");
    let task = Task { upid: upid.clone(), ended: None, status: String::new(), log: Vec::new(), saved: false };
    edit(&|world| world.tasks.push(task.clone()));
    let (begun, asked) = (format!("qmdestroy-{vmid}"), format!("qmdestroy-{vmid}-asked"));
    note(ann, (&begun, &upid), long);
    not_yet(ann, TroubleKind::Busy, "its removal may be under way").await;
    // The last is that of a node that was restarted meanwhile.
    for status in ["storage is away", "unexpected status"] {
        edit(&|world| {
            let task = world.tasks.iter_mut().find(|task| task.upid == upid).unwrap();
            (task.ended, task.status) = (Some(0), status.to_owned());
        });
        assert_eq!(undoes(ann).await, (vec![], true), "{status}");
    }
    // Asked for, and no task yet: it may arrive. Or it never will.
    note(ann, (&begun, ""), now);
    note(ann, (&asked, &upid), now);
    not_yet(ann, TroubleKind::Busy, "its removal may be under way").await;
    note(ann, (&asked, &upid), long);
    assert_eq!(undoes(ann).await, (vec![], true), "it never arrived");
    note(ann, (&asked, ""), long);

    config("lock", Some("backup"));
    not_yet(ann, TroubleKind::Busy, "is locked (backup)").await;
    config("lock", None);

    bench.lab.fault_on("pve-down").unwrap();
    not_yet(ann, TroubleKind::Unknown, "are still there cannot be told").await;
    bench.lab.fault_off("pve-down").unwrap();

    for (key, there, said) in [("scsi7", None, "with other disks"), ("name", Some("picow-app"), "it was renamed")] {
        config(key, Some("local-zfs:vm-1-disk-7,size=1G"));
        let (left, starts) = undoes(ann).await;
        assert!(left.len() == 1 && left[0].contains(said) && !starts, "{left:?}");
        config(key, there);
    }
    assert_eq!(undoes(ann).await, (vec![], true));
    who_stopped_it(ann).await;
}

/// A machine that the change stopped is started, also where the answer to that was lost; one that others stopped is named.
async fn who_stopped_it(ann: &Operator) {
    let stop = format!("qmstop-{}", goes(ann));
    let path = ann.desk.journal.path(ann.newest().id);
    let whole = std::fs::read_to_string(&path).unwrap();
    let without = |keys: &[String]| {
        let keeps = |line: &&str| !keys.iter().any(|key| line.contains(&format!("\"{key}\"")));
        std::fs::write(&path, whole.lines().filter(keeps).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    };
    let (own, asked) = (format!("{stop}-own"), format!("{stop}-asked"));
    // Its task was found by the list, and followed to its end.
    without(std::slice::from_ref(&own));
    assert!([&stop, &own, &asked].iter().all(|key| ann.newest().notes().get(key).is_none()));
    assert_eq!(undoes(ann).await, (vec![], true), "this change stopped it");
    without(&[stop, own, asked]);
    let (left, starts) = undoes(ann).await;
    assert!(left.len() == 1 && left[0].contains("stopped now, not by this change") && !starts, "{left:?}");
    std::fs::write(&path, whole).unwrap();
}

#[tokio::test]
async fn a_lock_that_was_freed_since_is_not_said_to_stay() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    let change = holding(&bench, &ann.desk.journal).await;
    let (id, now) = (change.id.to_string(), (bench.world.clock)());
    change.notes.set("sdn-lock", "", now).unwrap();
    change.notes.set("sdn-lock-asked", &now.to_string(), now).unwrap();
    drop(change);
    let why = ann.draft("undo", &[&id]).await.err().unwrap();
    assert!(why.kind == TroubleKind::Refused && why.text.contains("got no answer"), "{why:?}");
    ann.does("sdn-unlock", &[]).await;
    assert_eq!(ann.draft("undo", &[&id]).await.unwrap().left, []);
    drop(ann);
    bench.end().await;
}

/// What would be refused is not promised either.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_runs_is_not_said_to_be_left_as_it_is() {
    let bench = bench(LONG).await;
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state/deevnet-console/mobile");
    std::fs::write(dir.path().join("site.toml"), bench.lab.site_toml()).unwrap();
    let change = holding(&bench, &Journal::in_state(&state)).await;
    let leave = async || {
        let at = dir.path().to_owned();
        tokio::task::spawn_blocking(move || run(&at, &["resume", "--leave", "C-0001"])).await.unwrap()
    };
    let (code, _, said) = leave().await;
    assert!(code == 4 && said.contains("is being run"), "{code} {said}");
    let now = (bench.world.clock)();
    drop(change);
    let (code, _, said) = leave().await;
    assert!(code == 4 && said.contains("holds the SDN lock") && said.contains("resume --later"), "{code} {said}");
    let (_, change) = Journal::in_state(&state).take_up("C-0001".parse().unwrap()).unwrap();
    change.notes.set("sdn-lock", "", now).unwrap();
    drop(change);
    let (code, _, said) = leave().await;
    assert!(code == 0 && said.contains("leaves C-0001 as it is"), "{code} {said}");
    bench.end().await;
}

#[tokio::test]
async fn a_way_back_that_is_open_is_named_and_no_second_is_begun() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow"]).await;
    ann.does("record-set", &["picow", "www", "value=10.20.129.10"]).await;
    let id = ann.newest().id.to_string();
    let asked = ann.asks("undo", &[&id]).await;
    // What the change itself left there is nobody else's.
    assert_eq!(asked.0.riders(), [""; 0]);
    assert_eq!(asked.0.question(), Question::Yes);
    let second = ann.asks("undo", &[&id]).await;
    bench.lab.fault_on("dns-write-refused").unwrap();
    assert!(matches!(asked.1, Course::TakeBack(_)));
    early(ann.run(asked).await);
    bench.lab.fault_off("dns-write-refused").unwrap();
    let back = ann.newest().id;
    let named = |why: &Trouble| {
        assert_eq!(why.kind, TroubleKind::Refused);
        assert!(why.text.contains(&format!("is being taken back by {back}")), "{why:?}");
        let help = why.help.as_deref().unwrap_or_default();
        assert!(help.contains(&format!("resume {back}")) && help.contains(&format!("resume --leave {back}")), "{help}");
    };
    named(&ann.draft("undo", &[&id]).await.err().unwrap());
    named(&ann.tried(second).await.map_err(Trouble::from).unwrap_err());
    assert_eq!(ann.newest().id, back, "nothing was begun");
    ann.does("resume", &[&back.to_string()]).await;
    drop(ann);
    bench.end().await;
}

async fn cannot(operator: &Operator, verb: &str, words: &[&str], kind: TroubleKind, text: &str) {
    let why = operator.draft(verb, words).await.err().unwrap_or_else(|| panic!("{verb} {words:?} is let through"));
    assert!(why.kind == kind && why.text.contains(text), "{verb} {words:?}: {why:?}");
    assert!(why.help.is_some(), "{why:?}");
}

#[tokio::test]
async fn what_is_not_understood_is_no_refusal_and_what_cannot_be_is_one() {
    use TroubleKind::{Refused, Usage};
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow", "workload=app"]).await;
    for (verb, words, kind, text) in [
        ("onboard", &["shop", "memory=4096"][..], Usage, "memory is of a first workload, and none is named"),
        ("workload-create", &["picow"], Usage, "\"picow\" is no workload"),
        ("record-set", &["picow", "www", "value=10.20.1"], Usage, "is no IPv4 address"),
        ("record-set", &["picow", "www", "type=AAAA", "value=fd00::1"], Refused, "tenants have no IPv6 network"),
        ("record-set", &["picow", "other.net", "value=10.20.129.10"], Refused, "other.net is not in picow.mobile"),
        ("record-delete", &["picow", "a.other.net"], Refused, "a.other.net is not in picow.mobile"),
        ("workload-delete", &["nobody/app"], Refused, "there is no zone nobody"),
    ] {
        cannot(&ann, verb, words, kind, text).await;
    }
    assert!(ann.draft("record-set", &["picow", "www.picow.mobile.deevnet.net", "value=10.20.129.10"]).await.is_ok());
    ann.does("workload-power", &["picow/app", "to=stop"]).await;
    cannot(&ann, "workload-power", &["picow/app", "to=reboot"], Refused, "does not run").await;
    cannot(&ann, "workload-resize", &["picow/app", "memory=4096", "restart=60"], Refused, "does not run").await;
    for to in ["to=stop", "to=shutdown"] {
        assert!(ann.asks("workload-power", &["picow/app", to]).await.0.is_empty(), "{to}");
    }
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn what_a_token_is_not_shown_is_not_taken_for_absent() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow", "workload=app"]).await;
    for fault in ["pve-denied", "list-filtered"] {
        bench.lab.fault_on(fault).unwrap();
        for verb in ["workload-create", "workload-delete"] {
            let Err(why) = ann.draft(verb, &["picow/app"]).await else { continue };
            let told = format!("{} / {}", why.text, why.help.clone().unwrap_or_default());
            assert_ne!(why.kind, TroubleKind::Refused, "{fault} {verb}: {told}");
            assert!(!told.contains("onboard") && told.contains("SDN.Audit"), "{fault} {verb}: {told}");
        }
        bench.lab.fault_off(fault).unwrap();
    }
    drop(ann);
    bench.end().await;
}

#[tokio::test]
async fn a_server_is_asked_before_names_are_led_to_it() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    let server = format!("server={}", bench.lab.authoritative().unwrap());
    let look = async |server: &str| {
        let (preview, _) = ann.asks("forward-set", &["lab.example", server]).await;
        preview.looks.first().unwrap().as_ref().map(|look| look.todo.is_nothing()).map_err(Clone::clone)
    };
    let why = look(&server).await.unwrap_err();
    assert_eq!(why.kind, TroubleKind::Refused, "{why:?}");
    assert!(why.text.contains("asked for the SOA of lab.example") && why.text.contains("REFUSED"), "{why:?}");
    // Whether what says nothing has the zone is not known.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let why = look(&format!("server={}", silent.local_addr().unwrap())).await.unwrap_err();
    assert_eq!(why.kind, TroubleKind::Unknown, "{why:?}");
    super::verbs::answered(&bench, "lab.example.");
    assert_eq!(look(&server).await, Ok(true));
    // One that has it from the server of the zone is not that server; on request it is not asked.
    ann.does("forward-set", &["lab.example", &server]).await;
    let resolver = format!("server={}", bench.lab.resolver().unwrap());
    let why = look(&resolver).await.unwrap_err();
    assert!(why.kind == TroubleKind::Refused && why.text.contains("the zone is not its own"), "{why:?}");
    assert!(why.help().is_some_and(|help| help.contains("asked=no")), "{why:?}");
    let (preview, _) = ann.asks("forward-set", &["lab.example", &resolver, "asked=no"]).await;
    assert_eq!(preview.untold().count(), 0, "{:?}", preview.looks);
    assert_eq!(
        ann.draft("forward-set", &["lab.example", &server, "asked=maybe"]).await.err().unwrap().kind,
        TroubleKind::Usage
    );
    // An alias leads to another zone's SOA.
    bench
        .lab
        .edit(|world| {
            let zone = world.names.zones.get_mut("lab.example.").unwrap();
            zone.set("alias.lab.example.", "CNAME", Rrset::one(60, "lab.example."));
        })
        .unwrap();
    let (preview, _) = ann.asks("forward-set", &["alias.lab.example", &server]).await;
    let why = preview.looks[0].clone().unwrap_err();
    assert!(why.text.contains("without its SOA"), "{why:?}");
    drop(ann);
    bench.end().await;
}

/// Runs each, and compares how it ends.
async fn all_end(at: &Path, cases: Vec<(i32, Vec<&str>)>) {
    let cases: Vec<(i32, Vec<String>)> =
        cases.into_iter().map(|(code, words)| (code, words.into_iter().map(str::to_owned).collect())).collect();
    let at = at.to_owned();
    let wrong = tokio::task::spawn_blocking(move || {
        let ended = |(wanted, words): &(i32, Vec<String>)| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (code, _, said) = run(&at, &words);
            (code != *wanted).then(|| format!("{}: {code}, not {wanted}: {said}", words.join(" ")))
        };
        cases.iter().filter_map(ended).collect::<Vec<_>>()
    });
    let wrong = wrong.await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every verb that changes something ends by the same table: 2 not understood, 4 refused, 3 not known, 1 begun and not ended.
#[tokio::test(flavor = "multi_thread")]
async fn every_verb_ends_by_one_table() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow", "workload=app"]).await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("site.toml"), bench.lab.site_toml()).unwrap();
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    let cases: Vec<(i32, Vec<&str>)> = vec![
        (2, vec!["tenant", "create", "x!"]),
        (2, vec!["tenant", "create", "shop", "--memory", "4096"]),
        (2, vec!["tenant", "create", "shop", "--index", "99"]),
        (2, vec!["workload", "create", "picow"]),
        (2, vec!["workload", "create", "picow/app", "--memory", "1"]),
        (2, vec!["record", "set", "picow", "www", "nonsense"]),
        (2, vec!["record", "set", "picow", "www", "x", "--type", "MX"]),
        (2, vec!["forward", "set", "lab.example", "nowhere"]),
        (2, vec!["undo", "C-9999"]),
        (2, vec!["resume", "C-9999"]),
        (2, vec!["resume", "--leave", "C-9999"]),
        (2, vec!["journal", "C-9999"]),
        (4, vec!["tenant", "create", "shop", "--index", "63"]),
        (4, vec!["tenant", "reconcile", "nobody"]),
        (4, vec!["workload", "create", "nobody/app"]),
        (4, vec!["tsig", "begin", "nobody"]),
        (4, vec!["record", "set", "picow", "www", "10.20.1.1"]),
        (4, vec!["record", "set", "picow", "www", "fd00::1", "--type", "AAAA"]),
        (4, vec!["forward", "set", "deevnet.net", "10.20.25.21"]),
        (4, vec!["tenant", "delete", "picow"]),
        (4, vec!["record", "set", "picow", "www", "10.20.129.10", "--write"]),
        (4, vec!["workload", "delete", "picow/app", "--write", "--yes"]),
        (3, vec!["forward", "set", "lab.example", &silent]),
        (3, vec!["forward", "set", "lab.example", &silent, "--write", "--yes"]),
        (0, vec!["workload", "start", "picow/app", "--write", "--yes"]),
        (0, vec!["record", "set", "picow", "www", "10.20.129.10"]),
    ];
    all_end(dir.path(), cases).await;
    // What is silent leaves unknown what is there, and nothing is begun.
    for (fault, words) in [
        ("pve-down", vec!["record", "set", "picow", "www", "10.20.129.10"]),
        ("pve-down", vec!["sdn", "status"]),
        ("pve-down", vec!["workload", "delete", "picow/app"]),
        ("dns-api-down", vec!["record", "set", "picow", "www", "10.20.129.10"]),
    ] {
        bench.lab.fault_on(fault).unwrap();
        all_end(dir.path(), vec![(3, words)]).await;
        bench.lab.fault_off(fault).unwrap();
    }
    drop(ann);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_is_missing_is_told_before_anything_is_begun() {
    let bench = bench(LONG).await;
    let ann = bench.operator("ann");
    ann.does("onboard", &["picow", "workload=app"]).await;
    let dir = tempfile::tempdir().unwrap();
    let reading = bench.lab.site_toml().replace("proxmox-writer-token", "proxmox-token");
    assert_ne!(reading, bench.lab.site_toml());
    std::fs::write(dir.path().join("site.toml"), reading).unwrap();
    let site = super::program::bench_site(dir.path());
    let cases = [
        ("workload delete picow/app", "picow/app", "VM.PowerMgmt at /vms/"),
        ("workload stop picow/app", "picow/app", "VM.PowerMgmt at /vms/"),
        ("workload create picow/db", "picow/db", "VM.Clone at /vms/"),
        ("sdn unlock", site.as_str(), "SDN.Allocate at /sdn"),
    ];
    let cases = cases.map(|(words, name, right)| {
        (format!("{words} --write --yes --confirm {name}"), format!("the console's token has not {right}"))
    });
    let at = dir.path().to_owned();
    let wrong = tokio::task::spawn_blocking(move || {
        let ended = |(words, wanted): &(String, String)| {
            let (code, shown, said) = run(&at, &words.split(' ').collect::<Vec<_>>());
            let told = shown.contains(wanted) || said.contains(wanted);
            (code != 4 || !told).then(|| format!("{words}: {code}: {shown} {said}"))
        };
        cases.iter().filter_map(ended).collect::<Vec<_>>()
    });
    let wrong = wrong.await.unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let journal = Journal::in_state(&dir.path().join("state/deevnet-console").join(site));
    assert_eq!(journal.ids().unwrap(), [], "nothing was begun");
    drop(ann);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_tells_a_change_that_runs_from_one_that_was_left() {
    let bench = bench(LONG).await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("site.toml"), bench.lab.site_toml()).unwrap();
    let site = super::program::bench_site(dir.path());
    let journal = Journal::in_state(&dir.path().join("state/deevnet-console").join(site));
    let change = holding(&bench, &journal).await;
    let told = async |at: &Path| {
        let at = at.to_owned();
        let told = tokio::task::spawn_blocking(move || {
            let (code, shown, _) = run(&at, &["journal"]);
            let document: serde_json::Value = serde_json::from_str(&run(&at, &["journal", "-o", "json"]).1).unwrap();
            (code, shown, document["items"][0].clone())
        });
        told.await.unwrap()
    };
    let (code, shown, item) = told(dir.path()).await;
    assert!(code == 1 && shown.contains("  running  ") && !shown.contains("resume"), "{shown}");
    assert!(item["state"] == "running" && item["resume"].is_null(), "{item}");
    drop(change);
    let (code, shown, item) = told(dir.path()).await;
    assert!(code == 1 && shown.contains("  left open  ") && shown.contains("resume C-0001"), "{shown}");
    assert!(item["state"] == "left open" && item["resume"] == "deevnet-console resume C-0001", "{item}");
    // A line that somebody wrote over is not passed over in silence.
    let file = dir
        .path()
        .join("state/deevnet-console")
        .join(super::program::bench_site(dir.path()))
        .join("journal/C-0001.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}garbage {{\n")).unwrap();
    let at = dir.path().to_owned();
    let (code, shown, said) = tokio::task::spawn_blocking(move || run(&at, &["audit", "export"])).await.unwrap();
    assert!(code == 3 && said.contains("C-0001: 1 line of its journal cannot be read"), "{code}: {said}");
    assert_eq!(shown.lines().count(), text.lines().count());
    bench.end().await;
}
