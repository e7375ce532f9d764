//! A tenant's way out put in place and taken back on a real FRR, over a real sshd, in a VM (`tests/tools/exit-node-vm.sh`).
//!
//! Skipped, with the reason, where the VM's programs or its image are missing.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on must fail, and says what it skips"
)]

#[allow(dead_code, reason = "other tests of the VM need more of it")]
#[path = "exit_node_common/vm.rs"]
mod vm;

use std::path::Path;
use std::sync::Arc;

use deevnet_console::provision::approve::{ApprovedPlan, Consent, Refusal};
use deevnet_console::provision::conduct::{Ears, begin};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::{Journal, Who};
use deevnet_console::provision::plan::{Plan, Preview, Subject};
use deevnet_console::provision::plans::egress;
use deevnet_console::provision::trouble::{Trouble, TroubleKind};
use deevnet_console::provision::undo::way_back;
use deevnet_console::provision::world::{Patience, World};
use deevnet_console::runtime::clock;
use deevnet_console::site::Site;
use vm::{Vm, boot};

const FILE: &str = "/etc/frr/frr.conf.local";

/// The site of the VM, whose exit node is `hv02`; nothing else of it is reached.
fn world(vm: &Vm) -> Arc<World> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sites/good/mobile.toml");
    let text = std::fs::read_to_string(&data).unwrap();
    let mut site = Site::parse(&text, &data).unwrap();
    site.read_only = false;
    site.exit_nodes.truncate(1);
    let node = &mut site.exit_nodes[0];
    (node.name, node.egress_apply, node.egress_install) = ("hv02".to_owned(), None, true);
    let none = || Trouble::new(TroubleKind::Unknown, "not in this test");
    Arc::new(World {
        site: Arc::new(site),
        proxmox: Err(none()),
        powerdns: Err(none()),
        opnsense: Err(none()),
        registry: None,
        exit_nodes: vec![("hv02".to_owned(), Ok(vm.login("root")))],
        clock: Arc::new(clock::now),
        sleep: Arc::new(|length| Box::pin(tokio::time::sleep(length))),
        // An emulated machine is some 50 times slower than a node.
        patience: Patience { looks: 60, ..Patience::default() },
    })
}

fn plan(world: &World, tenant: &str) -> Plan {
    Plan {
        site: world.site.name.clone(),
        title: format!("Way out of {tenant}"),
        subject: Subject { name: tenant.to_owned(), tenant: Some(tenant.to_owned()) },
        steps: egress::onboarding(&world.site, tenant),
        reach: None,
    }
}

async fn look(world: &Arc<World>, plan: Plan) -> Preview {
    plan.preview(world, Default::default()).await
}

fn approved(world: &World, preview: Preview) -> Result<ApprovedPlan, Refusal> {
    let consent = Consent::Flags { write: true, yes: true, confirm: None };
    ApprovedPlan::of(preview, &world.site, &consent, (world.clock)())
}

async fn run(world: &Arc<World>, journal: &Journal, plan: Plan) -> Ended {
    let approved = approved(world, look(world, plan).await).unwrap();
    let who = Who { user: "operator".to_owned(), host: "console".to_owned(), pid: std::process::id() };
    let (_keep, stop) = tokio::sync::watch::channel(false);
    let ears = Ears { listener: Arc::new(|news| eprintln!("egress_vm: {news:?}")), stop };
    begin(world, journal, approved, &who, &ears, |_| ()).await.unwrap()
}

/// The kernel's own default route of tdemo's VRF.
fn kernel(vm: &Vm) -> String {
    vm.guest("ip -4 route show vrf vrf_tdemo default").trim().to_owned()
}

/// Without the head that names another writer, and without tdemo's way out: as where the tenant is new.
fn make_new(vm: &Vm) {
    vm.guest(&format!(
        "cp -a {FILE} /root/local.before && sed -i -e 1d -e '/^vrf vrf_tdemo/,/^exit-vrf/d' {FILE} && vtysh -c 'configure \
         terminal' -c 'vrf vrf_tdemo' -c 'no ip route 0.0.0.0/0 10.20.50.1 vmbr0.50 nexthop-vrf default'"
    ));
    for _ in 0..60 {
        if kernel(vm).is_empty() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("FRR keeps the route: {}", kernel(vm));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_way_out_is_put_in_place_proven_and_taken_back() {
    let vm = match boot("egress_vm") {
        Ok(vm) => vm,
        Err(why) => {
            eprintln!("SKIPPED a_way_out_is_put_in_place_proven_and_taken_back: {why}");
            return;
        }
    };
    let world = world(&vm);
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::in_state(state.path());

    // What is there needs nothing, in whichever form; what another writer keeps is left to it.
    let there = look(&world, plan(&world, "tdemo")).await;
    assert!(there.is_empty(), "{:?}", there.looks);
    let refused = approved(&world, look(&world, plan(&world, "newone")).await).unwrap_err();
    assert!(refused.to_string().contains("another writer, who left the remark"), "{refused}");

    make_new(&vm);
    let (before, mode) = (vm.guest(&format!("cat {FILE}")), vm.guest(&format!("stat -c '%a %U:%G' {FILE}")));
    assert_eq!(run(&world, &journal, plan(&world, "tdemo")).await, Ended::Done);
    let after = vm.guest(&format!("cat {FILE}"));
    let stanza = "vrf vrf_tdemo\n ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default\nexit-vrf\n";
    assert!(after.contains(stanza), "{after}");
    assert_eq!(after.replace(stanza, ""), before, "all else is as it was, to the letter");
    assert_eq!(vm.guest(&format!("stat -c '%a %U:%G' {FILE}")), mode);
    assert!(kernel(&vm).contains("via 10.20.50.1 dev vmbr0.50"), "{}", kernel(&vm));
    vm.guest("ip netns exec vm-tdemo ping -c 3 -W 5 198.51.100.10");
    assert!(look(&world, plan(&world, "tdemo")).await.is_empty());

    // The file is taken back; the route stays until an apply, since packets would leave by the main table without one.
    let back = way_back(&journal.read(*journal.ids().unwrap().last().unwrap()).unwrap());
    assert_eq!(run(&world, &journal, back.plan).await, Ended::Done);
    assert_eq!(vm.guest(&format!("cat {FILE}")), before);
    assert!(kernel(&vm).contains("via 10.20.50.1"), "{}", kernel(&vm));
    assert_eq!(vm.guest("ls -A /etc/frr | grep -c '^[.]frr.conf.local' || :").trim(), "0", "nothing is left beside it");

    // What FRR itself cannot read does not get there.
    vm.guest(&format!("printf 'nonsense of somebody\\n' >>{FILE}"));
    let ended = run(&world, &journal, plan(&world, "tdemo")).await;
    let Ended::Early { step: 0, trouble } = ended else { panic!("{ended:?}") };
    assert!(trouble.text.contains("FRR does not take it"), "{trouble}");
}
