//! A tenant's way out by plan, against the lab: its stanza in `frr.conf.local`, and the kernel's default route after the apply.
//! And the script that puts the file in place over a transport, run by a real shell in a directory of its own.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

mod change_common;
#[path = "change_common/network.rs"]
mod network;

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use change_common::{Bench, early};
use deevnet_console::backends::exit_node::egress::SCRIPT;
use deevnet_console::lab::Lab;
use deevnet_console::lab::gate::{Arrival, Gate, Way};
use deevnet_console::lab::state::LocalStanza;
use deevnet_console::provision::approve::Refusal;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::plan::Plan;
use deevnet_console::provision::plans::egress;
use deevnet_console::provision::sdn::SdnLock;
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::undo::way_back;
use network::bench;

/// The network of a tenant with its way out: stanzas, network, apply, proofs.
fn with_way_out(bench: &Bench) -> Plan {
    let (network, site) = (bench.plan(), &bench.world.site);
    let steps = [network.steps[..1].to_vec(), egress::stanzas(site, "rtrip"), network.steps[1..].to_vec()].concat();
    Plan { steps: [steps, egress::proofs(site, "rtrip")].concat(), ..network }
}

async fn file(bench: &Bench) -> String {
    let node = &bench.world.site.exit_nodes[0].name;
    let reading = bench.world.exit_node(node).unwrap().read(Duration::from_secs(20), &[]).await.unwrap();
    reading.frr_local.value().unwrap().text.clone()
}

#[tokio::test]
async fn a_new_tenant_gets_its_way_out_and_gives_it_back() {
    let bench = bench().await;
    let before = file(&bench).await;
    assert_eq!(bench.run(with_way_out(&bench)).await, Ended::Done);
    let made = *bench.journal.ids().unwrap().last().unwrap();
    let stanza = "vrf vrf_rtrip\n ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default\nexit-vrf\n";
    let after = file(&bench).await;
    assert_eq!(after.replace(stanza, ""), before, "all else is as it was, to the letter");
    assert!(after.contains(stanza));
    let again = bench.look(with_way_out(&bench)).await;
    assert!(again.is_empty(), "{:?}", again.looks);

    let back = way_back(&bench.journal.read(made).unwrap());
    assert!(back.left.is_empty());
    assert_eq!(bench.run(back.plan).await, Ended::Done);
    assert_eq!(file(&bench).await, before);
    bench.end().await;
}

#[tokio::test]
async fn an_apply_alone_gives_no_way_out_and_the_proof_says_so() {
    let bench = bench().await;
    let site = &bench.world.site;
    let plan = Plan { steps: [bench.plan().steps, egress::proofs(site, "rtrip")].concat(), ..bench.plan() };
    let (step, kind, text) = early(bench.run(plan).await);
    assert_eq!((step, kind), (5, TroubleKind::NotSeen), "{text}");
    assert!(text.contains("default route of vrf_rtrip"), "{text}");
    bench.end().await;
}

#[tokio::test]
async fn a_command_that_fails_or_does_nothing_is_not_believed() {
    for (fault, said) in [("egress-apply-fails", "the play failed"), ("egress-apply-idle", "is not as it was to be")] {
        let bench = bench().await;
        bench.lab.fault_on(fault).unwrap();
        let (step, kind, text) = early(bench.run(with_way_out(&bench)).await);
        assert_eq!((step, kind), (1, TroubleKind::NotSeen), "{fault}: {text}");
        assert!(text.contains(said), "{fault}: {text}");
        assert!(bench.lab.world().sdn.lock.is_none(), "the lock is given back");
        bench.lab.fault_off(fault).unwrap();
        assert_eq!(bench.resume_with(SdnLock::default()).await, Ended::Done);
        bench.end().await;
    }
}

#[tokio::test]
async fn a_file_that_another_writer_keeps_is_left_to_it() {
    let bench = bench().await;
    bench.lab.fault_on("frr-local-contested@tdemo").unwrap();
    let before = file(&bench).await;
    let refused = bench.approved(bench.look(with_way_out(&bench)).await).unwrap_err();
    let said = refused.to_string();
    assert!(matches!(refused, Refusal::Untold { number: 2, .. }), "{said}");
    assert!(said.contains("another writer, who left the remark") && said.contains("deevnet-egress-agent"), "{said}");
    assert_eq!(file(&bench).await, before);
    // What is there already needs no writer.
    let eds = Plan { steps: egress::onboarding(&bench.world.site, "eds"), ..bench.plan() };
    assert!(bench.look(eds).await.is_empty());
    bench.end().await;
}

#[tokio::test]
async fn a_tenant_that_goes_takes_its_stanza_and_no_other() {
    let bench = bench().await;
    let before = file(&bench).await;
    let plan = Plan { steps: egress::removal(&bench.world.site, "eds"), ..bench.plan() };
    assert_eq!(bench.run(plan).await, Ended::Done);
    let after = file(&bench).await;
    assert!(!after.contains("vrf_eds") && after.contains("vrf_tdemo"), "{after}");
    let back = way_back(&bench.journal.read(*bench.journal.ids().unwrap().last().unwrap()).unwrap());
    assert_eq!(bench.run(back.plan).await, Ended::Done);
    assert_eq!(file(&bench).await, before);
    bench.end().await;
}

/// Another writer puts its file there between this one's look and its writing, once.
struct Between {
    lab: std::sync::Weak<Lab>,
    times: AtomicU32,
}

impl Gate for Between {
    fn arrives(&self, request: &Arrival) -> Way {
        if request.method == "put" && self.times.fetch_add(1, Ordering::SeqCst) == 0 {
            let gone = |world: &mut deevnet_console::lab::state::World| {
                let vrf = world.exit.vrf_mut("eds");
                (vrf.local, vrf.kept) = (LocalStanza::Unkept, true);
            };
            self.lab.upgrade().unwrap().edit(gone).unwrap();
        }
        Way::Pass
    }
}

#[tokio::test]
async fn what_another_writer_changed_meanwhile_is_kept_and_not_written_over() {
    let bench = bench().await;
    let gate = Arc::new(Between { lab: Arc::downgrade(&bench.lab), times: AtomicU32::new(0) });
    bench.lab.gate(Some(gate.clone()));
    assert_eq!(bench.run(with_way_out(&bench)).await, Ended::Done);
    bench.lab.gate(None);
    assert_eq!(gate.times.load(Ordering::SeqCst), 2, "refused, read again, written");
    let after = file(&bench).await;
    assert!(after.contains("vrf_rtrip") && !after.contains("vrf_eds"), "{after}");
    bench.end().await;
}

/// The script with another place for FRR's files, run as `put ARGS` with `text` behind it.
fn put(dir: &std::path::Path, args: [&str; 3], text: &str) -> (i32, String) {
    let script = SCRIPT.replace("/etc/frr", &dir.display().to_string());
    let body = script.strip_suffix("\nmain \"$@\"\n").unwrap();
    let mut sh = Command::new("sh")
        .args(["-s", "--", "put"])
        .args(args)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let input = format!("{body}\nmain \"$@\" <<'END'\n{text}END\n");
    sh.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = sh.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_script_replaces_the_file_in_one_step_or_not_at_all() {
    if !is_root() {
        eprintln!("SKIPPED the_script_replaces_the_file_in_one_step_or_not_at_all: it needs root");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("frr.conf.local");
    let text = "vrf vrf_a\nexit-vrf\n";
    let (code, said) = put(dir.path(), ["absent", "-", "-"], text);
    assert_eq!((code, std::fs::read_to_string(&file).unwrap().as_str()), (0, text), "{said}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);

    // Owner and mode stay; line ends count as the console reads them.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o604)).unwrap();
    std::os::unix::fs::chown(&file, Some(1), Some(2)).unwrap();
    std::fs::write(&file, "vrf vrf_a\r\nexit-vrf").unwrap();
    let read = "7ce5fdd1c5b4d1f8d3a2b8f1a1c0f3e7d2c9b8a70000000000000000000000aa";
    let (code, said) = put(dir.path(), [read, "-", "-"], "changed\n");
    assert!(code == 2 && said.contains("somebody changed it meanwhile"), "{code} {said}");
    let sum = Command::new("sh").args(["-c", "printf 'vrf vrf_a\\nexit-vrf\\n' | sha256sum | cut -d' ' -f1"]).output();
    let sum = String::from_utf8(sum.unwrap().stdout).unwrap();
    let (code, said) = put(dir.path(), [sum.trim(), "-", "-"], "changed\n");
    assert_eq!((code, std::fs::read_to_string(&file).unwrap().as_str()), (0, "changed\n"), "{said}");
    let about = std::fs::metadata(&file).unwrap();
    assert_eq!((about.permissions().mode() & 0o777, about.uid(), about.gid()), (0o604, 1, 2));

    for bad in [["absent", "-", "-"], ["x", "-", "-"], [sum.trim(), "a b", "-"], [sum.trim(), "vrf_a", "1.2.3"]] {
        let (code, said) = put(dir.path(), bad, "changed\n");
        assert!(code == 2 && said.contains("refused"), "{bad:?}: {code} {said}");
    }
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/null", &file).unwrap();
    assert!(put(dir.path(), ["absent", "-", "-"], text).1.contains("symbolic link"));
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["frr.conf.local"], "nothing is left beside it");
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}
