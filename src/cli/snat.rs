//! `snat [TENANT] [--watch]`: new connections through each tenant's rules. A rate is activity, not health.

use std::io::Write;
use std::time::Duration;

use jiff::Timestamp;

use super::args::{Format, Global, Kind};
use super::{Code, Failure, get, open};
use crate::inventory::feed::Feed;
use crate::inventory::{Inventory, SourceId};
use crate::runtime::clock;

/// Runs the verb.
pub(super) fn run(global: &Global, tenant: Option<&str>, watch: bool, format: Format) -> Result<Code, Failure> {
    let site = open::site(global)?;
    open::runtime()?.block_on(async {
        let clock = clock::system();
        let mut feed = Feed::start(&site, open::clients(&site).await?, &clock);
        feed.demand(get::demand(true));
        let mut out = std::io::stdout();
        let mut inv = get::picture(&mut feed, get::Wanted::all(&[Kind::Snat]), Duration::from_secs(30)).await;
        if !watch {
            return get::show(&mut out, &inv, Kind::Snat, tenant, format, clock());
        }
        loop {
            print(&mut out, &inv, tenant, format, clock())?;
            out.flush()?;
            let last = exit_read_at(&inv);
            let next = feed.inventory.wait_for(|inv| exit_read_at(inv) != last).await;
            inv = next.map_err(|_| Failure::plain("the readers ended"))?.clone();
        }
    })
}

/// One reading of a watch.
fn print(
    out: &mut dyn Write,
    inv: &Inventory,
    tenant: Option<&str>,
    format: Format,
    now: Timestamp,
) -> Result<Code, Failure> {
    match format {
        Format::Json => return get::show_line(out, inv, Kind::Snat, tenant, now),
        Format::Yaml => writeln!(out, "---")?,
        Format::Table => writeln!(out, "{now:.0}")?,
    }
    get::show(out, inv, Kind::Snat, tenant, format, now)
}

/// When the exit node last answered, or failed to.
fn exit_read_at(inv: &Inventory) -> (Option<Timestamp>, bool) {
    let health = inv.sources.get(SourceId::Exit);
    (health.observed_at, health.error.is_some())
}
