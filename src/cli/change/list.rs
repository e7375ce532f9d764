//! `… list`: what the verbs beside it change, as it is.

use std::io::Write as _;
use std::sync::Arc;

use serde_json::json;

use super::args::{Change, ForwardAction, Listed, RecordAction, TsigAction};
use super::{Office, failure};
use crate::cli::args::{Format, Global, Kind};
use crate::cli::{Code, Failure, get, open, print, verdict};
use crate::provision::names::{KeySeen, keys};
use crate::site::Site;
use crate::text::clean;

/// Seconds that the sources are waited for.
const PATIENCE: u16 = 30;

/// Runs a verb that lists; `None` where it is one that changes something.
pub(super) fn run(global: &Global, site: &Arc<Site>, change: &Change) -> Option<Result<Code, Failure>> {
    let get = |kind, listed: &Listed| {
        let tenant = listed.tenant.as_ref().map(|tenant| tenant.as_str());
        get::run(global, kind, tenant, listed.output, PATIENCE)
    };
    Some(match change {
        Change::Record { action: RecordAction::List(listed) } => get(Kind::Records, listed),
        Change::Forward { action: ForwardAction::List(listed) } => get(Kind::Forwards, listed),
        Change::Tsig { action: TsigAction::List(listed) } => tsig(site, listed),
        _ => return None,
    })
}

fn tsig(site: &Arc<Site>, listed: &Listed) -> Result<Code, Failure> {
    let all = open::runtime()?.block_on(async {
        let office = Office::open(site).await?;
        let tenant = listed.tenant.as_ref().map(|tenant| tenant.as_str());
        keys(&office.desk.world, tenant).await.map_err(|trouble| failure(&trouble))
    })?;
    let out = &mut std::io::stdout();
    if listed.output != Format::Table {
        let items: Vec<_> =
            all.iter().map(|key| json!({ "name": key.name, "algorithm": key.algorithm, "zones": key.zones })).collect();
        let document = json!({ "schema": "deevnet-console/tsig-list/v1", "items": items });
        return verdict(print::document(out, &document, listed.output), Code::Ok);
    }
    for KeySeen { name, algorithm, zones } in &all {
        let zones = if zones.is_empty() { "listed by no zone".to_owned() } else { zones.join(", ") };
        writeln!(out, "{}", clean(&format!("{name:<20} {algorithm:<12} {zones}")))?;
    }
    if all.is_empty() {
        open::note("there is no key");
    }
    Ok(Code::Ok)
}
