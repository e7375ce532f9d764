//! How much of a verdict's time is the program's own: round trips, processor, and what comes after the last answer.

use std::time::{Duration, Instant};

use deevnet_console::diagnose::collect::Check;
use deevnet_console::inventory::feed::Clients;

use crate::bench::{Bench, ask};

/// Most processor time for one check, and most between the last answer and the verdict.
const VERDICT: Duration = Duration::from_secs(3);
/// Round trips of one check: a reading, packets with what FRR runs beside them, a second reading with flows beside it.
const TRIPS: usize = 5;

/// Processor time that this process has used: the program and the lab in it. What it started does not count.
fn processor() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name in brackets may hold blanks; user and system time are fields 14 and 15, in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// Prints them for a healthy node, and says where they are more than they may be.
pub async fn measure(bench: &Bench) -> Vec<String> {
    // Each session leaves a line behind, so that round trips are counted where they end.
    let counted =
        "echo 'echo session >>~/sessions' >/home/ops/.ssh/rc; : >/home/ops/sessions; chown ops: /home/ops/sessions";
    let counting = bench.root(counted);
    let (before, began) = (processor(), Instant::now());
    let said = bench.check(Check::Egress, Some("tdemo")).await;
    let (used, took) = (processor().saturating_sub(before), began.elapsed());
    let trips = bench.root("wc -l </home/ops/sessions; rm /home/ops/.ssh/rc").unwrap_or_default();
    let trips: usize = trips.trim().parse().unwrap_or(0);
    let clients = Clients::connect(&bench.site).await;
    let near = ask(&bench.site, &clients, Check::Egress, Some("tdemo")).await;
    let mut wrong: Vec<String> = counting.err().into_iter().collect();
    eprintln!(
        "check_vm: check egress of a healthy tenant: {:.1} s, of which the program used {:.2} s of a processor (the lab \
         of the site with it); {trips} round trips to the node; {} ms from the last answer to the verdict",
        took.as_secs_f64(),
        used.as_secs_f64(),
        said.after.as_millis()
    );
    eprintln!(
        "check_vm: the same of the lab's own node, which answers at once: {:.1} s, {} ms after the last answer",
        near.took.as_secs_f64(),
        near.after.as_millis()
    );
    if trips != TRIPS {
        wrong.push(format!("{trips} round trips instead of {TRIPS}"));
    }
    // How long a whole check takes is for machines to say; what is ours is not.
    for (what, took) in [("processor time", used), ("after the last answer", said.after)] {
        if took > VERDICT {
            wrong.push(format!("{what}: {took:?}, more than {VERDICT:?}"));
        }
    }
    wrong
}
