//! Text about one object: for people, as YAML, as JSON. All three are made from one description.

mod checkin;
mod fabric;
mod names;
mod perimeter;
mod sheet;
mod tenant;
mod workload;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::model::{Model, TextForm};
use super::nav;
use crate::inventory::{Class, Inventory, ObjectId};

pub use perimeter::touches;
pub use sheet::Sheet;

/// A line of a text screen. All text is clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextLine {
    /// A heading.
    Head(String),
    /// A label with its value.
    Pair {
        /// Label.
        label: String,
        /// Value.
        value: String,
        /// Class, where the value is a state.
        class: Option<Class>,
    },
    /// Running text, or a line of YAML or JSON.
    Plain(String),
}

/// The description of `id`; `None` when there is no such object in the picture.
#[must_use]
pub fn describe(inv: &Inventory, id: &ObjectId, now: jiff::Timestamp) -> Option<Sheet> {
    match id {
        ObjectId::Tenant(name) => inv.tenant(name).map(|t| tenant::tenant(inv, t)),
        ObjectId::Vrf(t, node) | ObjectId::VrfFact(t, node, _) | ObjectId::Route(t, node, _) => {
            inv.vrfs.iter().find(|v| v.tenant == *t && v.node == *node).map(|v| tenant::vrf(inv, v, now))
        }
        ObjectId::Vnet(name) => inv.vnets.iter().find(|v| v.vnet == *name).map(|v| tenant::vnet(inv, v)),
        ObjectId::Workload(vmid) => {
            inv.workloads.iter().find(|w| w.vmid == *vmid).map(|w| workload::workload(inv, w, now))
        }
        ObjectId::Record(name, kind) => {
            inv.records.iter().find(|r| r.name == *name && r.kind == *kind).map(|r| names::record(inv, r))
        }
        ObjectId::DnsZone(zone) => inv.zones.iter().find(|z| z.zone == *zone).map(|z| names::zone(inv, z)),
        ObjectId::CheckIn(tenant, workload) => {
            let rows = &inv.checkins;
            rows.iter().find(|c| c.tenant == *tenant && c.workload == *workload).map(|c| checkin::checkin(inv, c, now))
        }
        ObjectId::Rule(id) => inv.rules.iter().find(|r| r.uuid == *id).map(|r| perimeter::rule(inv, r)),
        ObjectId::Forward(id) => {
            let named = |f: &&crate::inventory::ForwardRow| f.uuid.as_ref().unwrap_or(&f.domain) == id;
            inv.forwards.iter().find(named).map(perimeter::forward)
        }
        ObjectId::Node(node) => inv.fabric.members.iter().find(|m| m.node == *node).map(|m| fabric::member(inv, m)),
        ObjectId::Zone(zone) => {
            let zones = inv.fabric.foreign_zones.as_ref().ok()?;
            zones.iter().find(|z| z.zone == *zone).map(fabric::zone)
        }
        ObjectId::Pending(kind, id) => {
            let pending = inv.fabric.pending.as_ref().ok()?;
            pending.iter().find(|p| p.kind == *kind && p.id == *id).map(fabric::pending)
        }
        ObjectId::Source(source) => Some(fabric::source(inv, *source, now)),
        ObjectId::Task(upid) => {
            let tasks = inv.tasks.as_ref().ok()?;
            tasks.iter().find(|t| t.upid == **upid).map(|t| fabric::task(inv, t, now))
        }
        ObjectId::Attention(_) => nav::attention(inv, id).map(|a| fabric::attention(inv, a, now)),
    }
}

/// The value of `id` for YAML and JSON.
#[must_use]
pub fn value(inv: &Inventory, id: &ObjectId, now: jiff::Timestamp) -> Option<Value> {
    describe(inv, id, now).map(Sheet::into_value)
}

/// The lines of a text screen about `subject`. An object that is gone says so.
#[must_use]
pub fn lines(model: &Model, subject: &ObjectId, form: TextForm) -> Vec<TextLine> {
    let Some(inv) = model.picture() else {
        return vec![TextLine::Plain("Nothing was read yet.".to_owned())];
    };
    let Some(sheet) = describe(inv, subject, model.now) else {
        let name = crate::text::clean(&nav::name_of(inv, subject)).into_owned();
        return vec![
            TextLine::Head(name),
            TextLine::Plain("  It is not in the newest picture: gone, or its source cannot be read.".to_owned()),
        ];
    };
    let rendered = match form {
        TextForm::Describe => return sheet.into_lines(),
        TextForm::Yaml => serde_yaml_ng::to_string(&sheet.into_value()).map_err(|e| e.to_string()),
        TextForm::Json => serde_json::to_string_pretty(&sheet.into_value()).map_err(|e| e.to_string()),
    };
    let text = rendered.unwrap_or_else(|e| format!("this object cannot be shown in this form: {e}"));
    text.lines().map(|l| TextLine::Plain(crate::text::clean(l).into_owned())).collect()
}

/// The lines as text to copy or to edit.
#[must_use]
pub fn plain(lines: &[TextLine]) -> String {
    let line = |l: &TextLine| match l {
        TextLine::Head(text) | TextLine::Plain(text) => text.clone(),
        TextLine::Pair { label, value, .. } => format!("  {label}: {value}"),
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
