//! Rules and forwards of the perimeter.

use serde_json::json;

use super::Sheet;
use crate::console::lists;
use crate::console::widgets::format;
use crate::inventory::{Class, ForwardRow, Inventory, RuleRow, Touch};

pub(super) fn rule(inv: &Inventory, r: &RuleRow) -> Sheet {
    let mut sheet = Sheet::new("rule", &format!("{} of {}", r.place, inv.rules.len()));
    sheet.state("state", "state", &r.word, r.class);
    if let Some(why) = &r.must_not_exist {
        sheet.state("must_not_exist", "must not exist", why, Class::Fault);
    }
    sheet.fact("description", "description", &*r.description);
    sheet.fact("uuid", "uuid", &*r.uuid).fact("kind", "made by", lists::rule_kind(r.kind));
    sheet.fact("enabled", "enabled", r.enabled).fact("protected", "protected", r.protected);
    sheet.head("What it matches");
    sheet.fact("action", "action", lists::action(&r.action)).fact("quick", "first match", r.quick);
    sheet.fact("interfaces", "interfaces", &*r.interfaces);
    sheet.fact("direction", "direction", lists::direction(r.direction));
    sheet.fact("protocol", "protocol", &*r.protocol);
    sheet.fact("source", "source", &*r.source).fact("destination", "destination", &*r.destination);
    sheet.fact("port", "destination port", &*r.port);
    sheet.seen("touches", "touches", &r.touches, |touch| (touched(touch), touches(touch)));
    sheet.head("In force");
    sheet.seen("loaded", "pf has it", &r.loaded, |loaded| {
        (if *loaded { "yes" } else { "no" }.to_owned(), json!(loaded))
    });
    sheet.seen("hits", "counters", &r.hits, |hits| match hits {
        None => ("–".to_owned(), json!(null)),
        Some(h) => {
            let count = format::count;
            let text = format!(
                "{} packets, {} bytes, {} states, {} evaluations",
                count(h.packets),
                count(h.bytes),
                count(h.states),
                count(h.evaluations)
            );
            let value =
                json!({ "packets": h.packets, "bytes": h.bytes, "states": h.states, "evaluations": h.evaluations });
            (text, value)
        }
    });
    sheet.say("Counters start anew with each load of the rule set.");
    sheet
}

fn touched(touch: &Touch) -> String {
    match touch {
        Touch::No => "no tenant".to_owned(),
        Touch::Every => "every tenant".to_owned(),
        Touch::Some(names) if names.is_empty() => "a part of the overlay that is nobody's".to_owned(),
        Touch::Some(names) => names.join(", "),
    }
}

/// `"none"`, `"every"`, or the names.
pub fn touches(touch: &Touch) -> serde_json::Value {
    match touch {
        Touch::No => json!("none"),
        Touch::Every => json!("every"),
        Touch::Some(names) => json!(names),
    }
}

pub(super) fn forward(f: &ForwardRow) -> Sheet {
    let mut sheet = Sheet::new("forward", &f.domain);
    sheet.state("state", "state", &f.word, f.class);
    sheet.maybe("tenant", "tenant", f.tenant.as_deref());
    sheet.fact("domain", "domain", &*f.domain).maybe("server", "server", f.server.as_deref());
    sheet.maybe("type", "type", f.kind).maybe("enabled", "enabled", f.enabled);
    sheet.fact("description", "description", &*f.description).maybe("uuid", "uuid", f.uuid.as_deref());
    sheet.say("Only an enabled forward of type forward exempts its domain from rebind protection.");
    sheet.diffs(&f.diffs);
    sheet
}
