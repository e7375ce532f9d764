//! The connections that exit nodes track for the tenant whose path is on screen.

use super::Line;
use crate::backends::exit_node::model::TrackedFlow;
use crate::console::model::Model;
use crate::console::widgets::format;
use crate::inventory::{SourceId, Vrf};
use crate::text::clean;

/// What each exit node tracks, as text; `None` where none was asked, or none has answered yet.
#[must_use]
pub fn tracked(model: &Model) -> Option<Vec<Line>> {
    let (tenant, inv) = (model.inquiry.as_ref()?.tenant.as_ref()?, model.picture()?);
    let mine: Vec<&Vrf> = inv.vrfs.iter().filter(|vrf| vrf.tenant == *tenant && vrf.tracked.is_some()).collect();
    let read = inv.sources.get(SourceId::Exit).observed_at.map(|at| format!(", read {}", at.strftime("%H:%M:%SZ")));
    let mut out = Vec::new();
    for vrf in &mine {
        let node = inv.site.short_name(&vrf.node);
        out.push(Line::Head(format!("flows of {tenant} on {node}{}", read.clone().unwrap_or_default())));
        match &vrf.tracked {
            Some(Ok(tracked)) => {
                let counts = format!(
                    "{}, {} unanswered, {} listed",
                    format::count(tracked.total),
                    format::count(tracked.unreplied),
                    tracked.listed.len()
                );
                out.push(Line::Pair("tracked".to_owned(), counts));
                out.push(Line::Pair("beware".to_owned(), "flows are activity, not health".to_owned()));
                out.extend(tracked.listed.iter().map(|flow| Line::Text(self::line(flow))));
            }
            Some(Err(gap)) => out.push(Line::Pair("unknown".to_owned(), gap.why.to_string())),
            None => {}
        }
        out.push(Line::Text(String::new()));
    }
    (!mine.is_empty()).then_some(out)
}

fn line(flow: &TrackedFlow) -> String {
    let at =
        |ip: std::net::Ipv4Addr, port: Option<u16>| port.map_or_else(|| ip.to_string(), |port| format!("{ip}:{port}"));
    let reply = if flow.unreplied { "no reply" } else { "reply seen" };
    // The guest's own address after translation is none.
    let whom = if flow.reply_dst == flow.src { "untranslated".to_owned() } else { format!("as {}", flow.reply_dst) };
    let state = flow.state.as_deref().unwrap_or("-");
    let (from, to) = (at(flow.src, flow.sport), at(flow.dst, flow.dport));
    clean(&format!("  {:<5} {from:<21} → {to:<21} {whom:<18} {state:<12} {reply}", flow.protocol)).into_owned()
}
