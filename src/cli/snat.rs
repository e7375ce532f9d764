//! `snat [TENANT] [--watch]`: new connections through each tenant's rules. A rate is activity, not health.

use std::io::Write;
use std::time::Duration;

use serde_json::json;

use super::args::{Format, Global, Kind};
use super::{Code, Failure, get, open};
use crate::inventory::feed::{Clients, Feed};
use crate::runtime::clock;

/// Runs the verb.
pub(super) fn run(global: &Global, tenant: Option<&str>, watch: bool, format: Format) -> Result<Code, Failure> {
    let site = open::site(global)?;
    open::runtime()?.block_on(async {
        let clock = clock::system();
        let mut feed = Feed::start(&site, Clients::connect(&site).await, &clock);
        feed.demand(get::demand(true));
        let mut out = std::io::stdout();
        let inv = get::picture(&mut feed, Kind::Snat, Duration::from_secs(30)).await;
        let code = get::show(&mut out, &inv, Kind::Snat, tenant, format, clock())?;
        let mut last = exit_read_at(&inv);
        if !watch {
            return Ok(code);
        }
        loop {
            let next = feed.inventory.wait_for(|inv| exit_read_at(inv) != last).await;
            let inv = next.map_err(|_| Failure::plain("the readers ended"))?.clone();
            last = exit_read_at(&inv);
            if format == Format::Json {
                let item = json!({ "at": clock().to_string(), "items": get::snat_items(&inv, tenant) });
                writeln!(out, "{item}")?;
            } else {
                writeln!(out)?;
                get::show(&mut out, &inv, Kind::Snat, tenant, format, clock())?;
            }
            out.flush()?;
        }
    })
}

/// When the exit node last answered, or failed to.
fn exit_read_at(inv: &crate::inventory::Inventory) -> (Option<jiff::Timestamp>, bool) {
    let health = inv.sources.get(crate::inventory::SourceId::Exit);
    (health.observed_at, health.error.is_some())
}
