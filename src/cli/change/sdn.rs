//! `sdn status`: what waits in SDN, and what an apply would do.

use std::io::Write;
use std::sync::Arc;

use serde_json::json;

use super::{Office, failure, unwritten};
use crate::cli::args::Format;
use crate::cli::{Code, Failure, open, print, verdict};
use crate::provision::plans::sdn::{LockSeen, NodePreview, Status, preview, status as read};
use crate::provision::sdn::{Holder, left_behind, taken_up};
use crate::site::Site;
use crate::text::{clean, clean_lines};

/// Prints it. 1 where something waits.
pub(super) fn status(site: &Arc<Site>, format: Format) -> Result<Code, Failure> {
    let (status, nodes, left) = open::runtime()?.block_on(async {
        let office = Office::open(site).await?;
        let (world, journal) = (&office.desk.world, &office.desk.journal);
        let mut entries = Vec::new();
        for id in journal.ids().map_err(|e| unwritten(&e))? {
            // One that cannot be read tells nothing of whose an edit is.
            entries.extend(journal.read(id).ok());
        }
        let status = read(world, &entries).await.map_err(|trouble| failure(&trouble))?;
        let mut names: Vec<String> = site.exit_nodes.iter().map(|exit| exit.name.clone()).collect();
        names.push(site.proxmox.node.clone());
        names.sort();
        names.dedup();
        let nodes = match status.waits.is_empty() {
            true => Vec::new(),
            false => preview(world, &names).await.map_err(|trouble| failure(&trouble))?,
        };
        Ok::<_, Failure>((status, nodes, left_behind(journal, None)))
    })?;
    let out = &mut std::io::stdout();
    let printed = if format == Format::Table {
        people(out, (&status, left.as_ref()), &nodes)
    } else {
        print::document(out, &document(&status, &nodes), format)
    };
    verdict(printed, if status.waits.is_empty() { Code::Ok } else { Code::Found })
}

fn document(status: &Status, nodes: &[NodePreview]) -> serde_json::Value {
    let waits = status.waits.iter().map(|waits| {
        let by = waits.by.map(|id| id.to_string());
        json!({ "name": waits.name, "state": waits.state, "options": waits.options, "by": by })
    });
    let lock = match status.lock {
        LockSeen::Ours(id) => Some(id.to_string()),
        LockSeen::Probably(_) | LockSeen::NotKnown => None,
    };
    let holder = status.holder.as_ref().map(|holder| {
        json!({
            "change": holder.change.to_string(), "by": clean(&holder.who), "asked": holder.asked, "certain": holder.certain,
        })
    });
    let nodes = nodes.iter().map(
        |node| json!({ "node": node.node, "frr": node.frr, "interfaces": node.interfaces, "left_out": node.left_out }),
    );
    json!({
        "schema": "deevnet-console/sdn-status/v1", "waits": waits.collect::<Vec<_>>(), "lock_of_change": lock,
        "lock_holder": holder,
        "nodes": nodes.collect::<Vec<_>>(),
    })
}

fn people(
    out: &mut dyn Write,
    (status, left): (&Status, Option<&Holder>),
    nodes: &[NodePreview],
) -> Result<(), Failure> {
    if status.waits.is_empty() {
        writeln!(out, "nothing waits to be applied")?;
    }
    for waits in &status.waits {
        let by = waits.by.map_or_else(|| "whose: ?".to_owned(), |id| format!("change {id}"));
        let options: Vec<String> = waits.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let line = format!("{:<8} {:<28} {by}  {}", waits.state, waits.name, options.join(" "));
        writeln!(out, "{}", clean(line.trim_end()))?;
    }
    match &status.holder {
        Some(holder) if holder.certain => writeln!(out, "the SDN lock is held by {holder}")?,
        Some(holder) => writeln!(out, "the SDN lock is probably held by {holder}: it got no answer")?,
        None => writeln!(out, "the SDN lock: not held from here; whether others hold it shows when it is tried")?,
    }
    if let Some(holder) = left {
        writeln!(out, "nobody runs that change any more: {}", taken_up(holder))?;
    }
    for node in nodes {
        writeln!(out, "an apply on {}:", clean(&node.node))?;
        for diff in [&node.frr, &node.interfaces].into_iter().flatten() {
            writeln!(out, "{}", clean_lines(diff.trim_end()))?;
        }
        for line in &node.left_out {
            writeln!(out, "+ {}   (not in Proxmox' dry run)", clean(line))?;
        }
    }
    Ok(())
}
