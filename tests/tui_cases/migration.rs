//! TUI-08: a guest that migrates is not gone.

use deevnet_console::backends::http::Limits;
use deevnet_console::backends::proxmox::model::{Task, TaskState, Vm};
use deevnet_console::backends::proxmox::{Client, Error, Upid};
use deevnet_console::console::list::{ListId, Scope};
use deevnet_console::console::model::Screen;
use deevnet_console::console::{Model, Msg, update, view};
use deevnet_console::inventory::{Class, Gap, GapKind};
use deevnet_console::site::model::Trust;
use deevnet_console::terminal::{Input, Key};

use crate::loopback::{Canned, Seen, Server, site, token};
use crate::picture;

const TASK: &str = include_str!("../data/cases/TUI-08/task.json");
const TARGET: &str = include_str!("../data/cases/TUI-08/target.json");
const RESOURCES: &str = include_str!("../data/cases/TUI-08/resources.json");
const UPID: &str = "UPID:pve2:0000F001:00C4D5E6:6926B2A0:qmigrate:5001:svc-console@pve!ops:";

async fn server() -> Server {
    Server::start(|seen: &Seen| match seen.path.as_str() {
        path if path.ends_with("/status/current") => {
            Canned { status: 500, reason: "Internal Server Error".to_owned(), close: true, ..Canned::json(TARGET) }
        }
        path if path.contains("/tasks/") => Canned::json(TASK),
        _ => Canned::json(RESOURCES),
    })
    .await
}

/// What the case's answers say: the guest, the target's refusal, the task.
async fn read() -> (Vm, Error, TaskState) {
    let server = server().await;
    let client = Client::new(&site(&server.origin, Trust::Plaintext), token(), Limits::default()).unwrap();
    let guest = client.resources().await.unwrap().vms.remove(0);
    let refusal = client.vm_status("pve3", guest.vmid).await.unwrap_err();
    let task = client.task_state(&UPID.parse().unwrap()).await.unwrap();
    (guest, refusal, task)
}

fn task() -> Task {
    let upid: Upid = UPID.parse().unwrap();
    Task {
        node: upid.node.clone(),
        kind: upid.kind.clone(),
        id: upid.id.clone(),
        user: upid.user.clone(),
        started: Some(upid.started),
        upid: upid.as_str().to_owned(),
        ended: None,
        status: None,
    }
}

fn shown(model: &Model) -> String {
    picture::rows(&view(model).buffer).join("\n")
}

fn console(guest: Vm, config: Option<Gap>, size: (u16, u16)) -> Model {
    let mut reading = picture::reading(vec![guest.clone(), picture::guest(2040, "tdemo-app", "running")]);
    reading.tasks = Ok(vec![task()]);
    if let Some(gap) = config {
        // What is known of the guest is its name alone: it must carry the tenant's.
        reading.configs.insert(guest.vmid, Err(gap));
    }
    let screen = Screen::List { list: ListId::Workloads, scope: Scope::All };
    let mut model = picture::showing(picture::joined(reading), size, Some(screen));
    update(&mut model, Msg::Input(Input::Key(Key::char('G'))));
    model
}

#[tokio::test]
async fn the_guest_stays_where_it_is_and_is_said_to_migrate() {
    let (guest, refusal, task) = read().await;
    assert_eq!((guest.node.as_str(), guest.lock.as_deref()), ("pve2", Some("migrate")));
    assert!(matches!(refusal, Error::Absent { .. }), "{refusal:?}");
    assert_eq!(task, TaskState::Running);
    for size in [(80, 24), (120, 40)] {
        let model = console(guest.clone(), None, size);
        let text = shown(&model);
        let row = text.lines().find(|line| line.contains(" 5001 ")).unwrap_or_else(|| panic!("it is gone:\n{text}"));
        assert!(row.contains("… migrate"), "{row}");
        assert!(text.contains("migrating from pve2"), "{text}");
        assert!(text.contains("when its task has ended"), "it offers to wait: {text}");
        for never in ["missing", "absent", "does not exist", "create"] {
            assert!(!text.contains(never), "{never:?}:\n{text}");
        }
    }
}

#[tokio::test]
async fn what_the_target_says_meanwhile_takes_nothing_away() {
    let (mut guest, refusal, _) = read().await;
    guest.name = Some("tdemo-web1".to_owned());
    let gap = Gap::new(GapKind::Failed, refusal.to_string());
    let model = console(guest, Some(gap), (120, 40));
    let inv = model.picture().unwrap();
    let row = inv.workloads.iter().find(|w| w.vmid == 5001).unwrap();
    assert_eq!((row.class, &*row.status), (Class::Progress, "running"));
    assert!(row.address.is_err(), "unknown, not absent");
    assert!(shown(&model).contains("migrating from pve2"), "{}", shown(&model));
    let about = inv.attention.iter().filter(|a| a.what.contains("5001") || a.what.contains("web1"));
    assert!(about.clone().all(|a| a.kind == "foreign"), "{:?}", about.collect::<Vec<_>>());
}

#[tokio::test]
async fn other_locks_and_states_are_work_in_progress_too() {
    let (guest, _, _) = read().await;
    for (lock, status, row, words) in [
        ("migrate", "stopped", "… migrate", "migrating from pve2"),
        ("backup", "running", "… backup", "locked: backup"),
        ("snapshot-delete", "running", "… snapshot-delete", "locked: snapshot-delete"),
        ("a-lock-that-nobody-knows-yet", "running", "… locked", "locked: a-lock-that-nobody-knows-yet"),
    ] {
        let guest = Vm { lock: Some(lock.to_owned()), status: status.to_owned(), ..guest.clone() };
        let text = shown(&console(guest, None, (120, 40)));
        let line = text.lines().find(|line| line.contains(" 5001 ")).unwrap();
        assert!(line.contains(row), "{line}");
        assert!(text.contains(words), "{lock}:\n{text}");
    }
}

#[tokio::test]
async fn the_running_task_is_shown() {
    let (guest, _, _) = read().await;
    let mut model = console(guest, None, (120, 40));
    model.show(Screen::Activity);
    let text = shown(&model);
    let row = text.lines().find(|line| line.contains("qmigrate")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.contains("5001") && row.contains("pve2") && row.contains("… running"), "{row}");
}

#[tokio::test]
async fn nothing_offers_to_create_it() {
    let (guest, _, _) = read().await;
    let mut model = console(guest, None, (120, 40));
    update(&mut model, Msg::Input(Input::Key(Key::char('a'))));
    let menu = shown(&model).to_lowercase();
    assert!(
        menu.contains("actions · tdemo/web1") && ["create", "clone", "onboard"].iter().all(|word| !menu.contains(word)),
        "{menu}"
    );
}
