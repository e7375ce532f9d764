//! Tenants, their VRFs and VNets.

use jiff::Timestamp;
use serde_json::json;

use super::Sheet;
use crate::backends::exit_node::model::SnatRule;
use crate::console::widgets::format;
use crate::inventory::{Class, Inventory, Owner, SubnetRow, Tenant, TenantStatus, VnetRow, Vrf};

const fn status(status: TenantStatus) -> &'static str {
    match status {
        TenantStatus::Ready => "ready",
        TenantStatus::Provisioning => "provisioning",
        TenantStatus::Deleting => "deleting",
        TenantStatus::Unknown => "unknown",
    }
}

/// Who owns the tenant, and what the registry says of it.
fn owner(sheet: &mut Sheet, t: &Tenant) {
    if let Owner::Unknown(gap) = &t.owner {
        sheet.gap("owner", "owner", gap);
        return;
    }
    sheet.fact("owner", "owner", t.owner.word());
    let Some(registration) = t.owner.registration() else { return };
    let entry = &registration.entry;
    sheet.head("In the registry");
    sheet.say("Shown and diagnosed here, never written.");
    sheet.fact("registry_status", "status", entry.status.word());
    sheet.maybe("registry_outcome", "outcome", entry.outcome.as_deref());
    sheet.maybe("registry_index", "index", entry.index);
    sheet.seen("registry_egress", "way out", &registration.egress, |on| {
        (if *on { "listed" } else { "not listed" }.to_owned(), json!(on))
    });
    if entry.secrets_stored == Some(false) {
        sheet.row("secrets", "the registry cannot read its copies", Some(Class::Warning));
    }
    sheet.data("registry_secrets_stored", json!(entry.secrets_stored));
    let steps = entry.steps.as_deref();
    if steps.is_none() {
        sheet.row("steps", "not in its list", None);
    }
    for step in steps.unwrap_or_default() {
        let (word, class) = if step.ok { ("done", Class::Fine) } else { ("failed", Class::Fault) };
        sheet.row(&step.name, word, Some(class));
    }
    let value = |s: &crate::backends::registry::Step| json!({ "name": s.name, "ok": s.ok, "updated_at": s.updated_at });
    sheet.data("registry_steps", json!(steps.map(|all| all.iter().map(value).collect::<Vec<_>>())));
    for d in &registration.diffs {
        let words = format!("the registry has {}, the fabric {}", d.observed, d.expected);
        sheet.row(&d.field, &words, Some(Class::Differs));
    }
    sheet.data("registry_differs", json!(registration.diffs));
}

pub(super) fn tenant(inv: &Inventory, t: &Tenant) -> Sheet {
    let mut sheet = Sheet::new("tenant", &t.name);
    sheet.fact("status", "status", status(t.status));
    owner(&mut sheet, t);
    sheet.head("Derived from the index");
    sheet.fact("index", "index", t.index).fact("drill", "for drills", t.drill);
    sheet.fact("vrf_vni", "VRF VNI", t.vrf_vni).fact("vnet_vni", "first VNet VNI", t.vnet_vni);
    sheet.fact("subnet", "subnet", t.subnet).fact("gateway", "gateway", t.gateway);
    sheet.fact("forward_zone", "forward zone", t.forward_zone.as_str());
    sheet.fact("reverse_zone", "reverse zone", t.reverse_zone.as_str());
    sheet.head("Layers, as observed");
    let mut presence = serde_json::Map::new();
    for (_, word, layer) in t.layers.all() {
        presence.insert(word.to_owned(), json!(layer.presence));
        match &layer.gap {
            Some(gap) => sheet.gap(word, word, gap),
            None => {
                sheet.state(word, word, &layer.words, layer.class);
            }
        }
    }
    sheet.data("presence", presence.into());
    let (workloads, vnets, vrfs) = (inv.workloads_of(t), inv.vnets_of(t), inv.vrfs_of(t));
    sheet.head("Objects");
    for v in vnets {
        sheet.row("VNet", &format!("{}, {}", v.vnet, v.word), Some(v.class));
    }
    for v in vrfs {
        sheet.row("VRF", &format!("{} on {}", v.device, inv.site.short_name(&v.node)), Some(v.class));
    }
    match &inv.workloads_gap {
        Some(gap) => sheet.gap("workload_list", "workloads", gap),
        None => {
            for w in workloads {
                sheet.row("workload", &format!("{}, VM {}, {}", w.name, w.vmid, w.status), Some(w.class));
            }
            sheet.data("workload_list", json!(workloads.iter().map(|w| w.vmid).collect::<Vec<_>>()));
        }
    }
    sheet.data("vnets", json!(vnets.iter().map(|v| &*v.vnet).collect::<Vec<_>>()));
    sheet.data("vrfs", json!(vrfs.iter().map(|v| json!({ "node": &*v.node, "device": v.device })).collect::<Vec<_>>()));
    let diffs: Vec<_> = t.layers.all().iter().flat_map(|(_, _, layer)| layer.diffs.clone()).collect();
    sheet.diffs(&diffs);
    sheet
}

fn rule(r: &SnatRule) -> String {
    let source = r.source.map_or_else(|| "any".to_owned(), |s| s.to_string());
    let to = r.to_source.map_or_else(|| "the interface's address".to_owned(), |t| t.to_string());
    format!("{source} → {to}, {} new connections", format::count(r.new_connections))
}

pub(super) fn vrf(inv: &Inventory, v: &Vrf, now: Timestamp) -> Sheet {
    let mut sheet = Sheet::new("vrf", &v.device);
    sheet.fact("tenant", "tenant", &*v.tenant).fact("node", "exit node", inv.site.short_name(&v.node));
    sheet.fact("vni", "VNI, derived", v.vni);
    sheet.head("Facts");
    for fact in &v.facts {
        match &fact.gap {
            Some(gap) => sheet.gap(fact.label, fact.label, gap),
            None => {
                let words = [fact.value.as_str(), fact.word.as_str()].into_iter().filter(|w| !w.is_empty());
                sheet.state(fact.label, fact.label, &words.collect::<Vec<_>>().join(", "), fact.class);
            }
        }
    }
    sheet.head("Routes");
    match &v.routes {
        Err(gap) => sheet.gap("routes", "routes", gap),
        Ok(routes) => {
            for (route, why) in routes {
                let via = route.gateway.map_or_else(String::new, |g| format!("via {g} "));
                let dev = route.dev.as_deref().map_or_else(String::new, |d| format!("dev {d} "));
                let words = format!("{via}{dev}· {}", why.words);
                sheet.row(&route.dst.to_string(), &words, Some(why.class));
            }
            let data = |(r, why): &(crate::backends::exit_node::model::Route, crate::inventory::RouteWhy)| {
                json!({ "dst": r.dst, "kind": r.kind, "gateway": r.gateway, "dev": r.dev, "protocol": r.protocol,
                        "metric": r.metric, "why": why.words })
            };
            sheet.data("routes", routes.iter().map(data).collect());
        }
    }
    sheet.head("Translation");
    match &v.snat {
        Err(gap) => sheet.gap("snat", "SNAT rules", gap),
        Ok(rules) => {
            for r in rules {
                sheet.row("rule", &rule(r), None);
            }
            if rules.is_empty() {
                sheet.row("rule", "–", None);
            }
            sheet.data(
                "snat",
                rules.iter().map(|r| json!({ "text": r.text, "new_connections": r.new_connections })).collect(),
            );
        }
    }
    sheet.seen("flow", "new connections", &v.flow, |flow| {
        let rate = flow.per_second.map_or_else(|| "rate needs a second reading".to_owned(), |r| format!("{}/s", format::rate(r)));
        let reset = flow.reset_at.map_or_else(String::new, |at| format!(", reset {}", format::moment(at, now)));
        let data = json!({ "total": flow.total, "per_second": flow.per_second, "reset_at": flow.reset_at, "since": flow.since });
        (format!("{}, {rate}{reset}: activity, not health", format::count(flow.total)), data)
    });
    sheet.seen("vnet_bytes_s", "VNet traffic", &v.vnet_bytes_s, |b| (format!("{}/s", format::byte_rate(*b)), json!(b)));
    sheet.diffs(&v.diffs);
    sheet
}

fn subnet(s: &SubnetRow) -> String {
    let gateway = s.gateway.map_or_else(|| "no gateway".to_owned(), |g| format!("gateway {g}"));
    let snat = if s.snat { "SNAT on" } else { "SNAT off" };
    let whose = if s.derived { "the tenant's derived subnet" } else { "not the derived subnet" };
    format!("{gateway}, {snat}, {whose}")
}

pub(super) fn vnet(inv: &Inventory, v: &VnetRow) -> Sheet {
    let mut sheet = Sheet::new("vnet", &v.vnet);
    sheet.state("state", "state", &v.word, v.class);
    sheet.fact("zone", "zone", &*v.zone).maybe("tenant", "tenant", v.tenant.as_deref());
    sheet.maybe("tag", "VNI", v.tag).maybe("ordinal", "ordinal", v.ordinal);
    sheet.maybe("alias", "alias", v.alias.as_deref());
    sheet.data("change", json!(v.change));
    sheet.head("Subnets");
    match &v.subnets {
        Err(gap) => sheet.gap("subnets", "subnets", gap),
        Ok(all) => {
            for s in all {
                sheet.row(&s.cidr, &subnet(s), None);
            }
            if all.is_empty() {
                sheet.say("–");
            }
            let data = |s: &SubnetRow| json!({ "cidr": s.cidr, "gateway": s.gateway, "snat": s.snat, "change": s.change, "derived": s.derived });
            sheet.data("subnets", all.iter().map(data).collect());
        }
    }
    sheet.head("On the nodes");
    let mut nodes = serde_json::Map::new();
    for (node, seen) in &v.nodes {
        let name = inv.site.short_name(node);
        match seen {
            Ok(state) => {
                sheet.row(name, state, None);
                nodes.insert(name.to_owned(), json!(state));
            }
            Err(gap) => {
                sheet.gap(&format!("nodes.{name}"), name, gap);
                nodes.insert(name.to_owned(), serde_json::Value::Null);
            }
        }
    }
    sheet.data("nodes", nodes.into());
    sheet.diffs(&v.diffs);
    sheet
}
