//! What requests to PowerDNS and the perimeter change: each is judged in the world as it is served, and what it does is a
//! deed like any other ([`super::acting`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::acting::Deed;
use super::http::{Answer, Call};
use super::node::files::{self, Entry};
use super::node::{Output, vrf_tables};
use super::state::{LocalStanza, World};
use super::writing::{Putting, WrittenAnswer};
use super::{Shared, opnsense, pdns};

impl Shared {
    /// Answers from the world as it is, and does what comes of it, with nobody in between.
    pub(super) fn transact<T>(&self, act: impl FnOnce(&World) -> (T, Option<Deed>)) -> T {
        let now = self.now_ms();
        let mut state = self.state();
        state.settle(now);
        let world = Arc::clone(&state.current);
        let (answer, deed) = act(&world);
        if let Some(deed) = deed {
            state.perform(&[deed], now.div_euclid(1000));
        }
        answer
    }

    /// Answers a request to the API of PowerDNS, and says what becomes of the answer.
    pub(super) fn powerdns(&self, call: &Call) -> (Answer, WrittenAnswer) {
        let now = self.now();
        if call.method == "GET" {
            return (pdns::answer(&self.world(), now, call), WrittenAnswer::Given);
        }
        self.transact(|world| {
            let (answer, op) = pdns::write(world, now, call);
            let Some(op) = op else { return ((answer, WrittenAnswer::Given), None) };
            let deed: Deed = Arc::new(move |world, _| op(&mut world.names));
            ((answer, world.names.writing.answer), Some(deed))
        })
    }

    /// Puts a file in the place of the exit node's `frr.conf.local`, as the site's own command does. What is merged already
    /// stays in FRR until an apply makes its file anew.
    pub(super) fn put_local(&self, text: &str, replaces: Option<&str>) -> Output {
        let opened = text.lines().filter_map(|line| line.strip_prefix("vrf vrf_"));
        let zones: BTreeSet<String> = opened.map(|zone| zone.trim().to_owned()).collect();
        let now = self.now();
        self.transact(move |world| match world.writing.putting {
            _ if replaces.is_some_and(|digest| digest != local_digest(world, now)) => (Output::fail(2, MOVED), None),
            Putting::Fails => (Output::fail(1, "frr.conf.local: the play failed"), None),
            Putting::Idle => (Output::default(), None),
            Putting::Right => {
                let deed: Deed = Arc::new(move |world, _| put(world, &zones));
                (Output { stdout: "frr.conf.local is in place\n".to_owned(), ..Output::default() }, Some(deed))
            }
        })
    }

    /// Answers a request to the API of the perimeter.
    pub(super) fn perimeter(&self, call: &Call) -> Answer {
        let now = self.now();
        let (answer, restarted) = self.transact(|world| match opnsense::write(world, now, call) {
            None => ((None, false), None),
            Some((answer, None)) => ((Some(answer), false), None),
            Some((answer, Some(op))) => {
                let restarts = op.restarts;
                let deed: Deed = Arc::new(move |world, _| (op.change)(&mut world.perimeter));
                ((Some(answer), restarts), Some(deed))
            }
        });
        if restarted {
            // Whoever starts anew has kept nothing.
            self.state().epoch += 1;
        }
        answer.unwrap_or_else(|| opnsense::answer(&self.world(), now, call))
    }
}

/// What the command says of a file that is not as it was read.
const MOVED: &str =
    "deevnet-exit-egress: refused: /etc/frr/frr.conf.local is not as it was read: somebody changed it meanwhile";

/// SHA-256 of the file that is there.
fn local_digest(world: &World, now: i64) -> String {
    let all = files::files(world, now);
    let Some(Entry::Text(text)) = all.get("etc/frr/frr.conf.local") else { return "absent".to_owned() };
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn put(world: &mut World, zones: &BTreeSet<String>) {
    let here = vrf_tables(world).into_keys();
    let known: BTreeSet<String> = here.chain(world.exit.vrfs.keys().cloned()).chain(zones.iter().cloned()).collect();
    for zone in known {
        let vrf = world.exit.vrf_mut(&zone);
        let running = matches!(vrf.local, LocalStanza::Merged | LocalStanza::Unkept);
        vrf.kept = true;
        vrf.local = match (zones.contains(&zone), running) {
            (true, true) => LocalStanza::Merged,
            (true, false) => LocalStanza::NotMerged,
            (false, true) => LocalStanza::Unkept,
            (false, false) => LocalStanza::Missing,
        };
    }
}
