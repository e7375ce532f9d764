//! Rules and forwards of the perimeter.

use serde_json::{Value, json};

use super::{Item, diffs};
use crate::console::{describe, lists};
use crate::inventory::{ForwardRow, RuleRow};

/// A filter rule.
pub(super) fn rule(r: &RuleRow) -> Value {
    Item::new(json!({
        "uuid": r.uuid,
        "place": r.place,
        "kind": lists::rule_kind(r.kind),
        "enabled": r.enabled,
        "action": lists::action(&r.action),
        "quick": r.quick,
        "direction": lists::direction(r.direction),
        "interfaces": r.interfaces,
        "protocol": r.protocol,
        "source": r.source,
        "destination": r.destination,
        "port": r.port,
        "description": r.description,
        "must_not_exist": r.must_not_exist,
        "protected": r.protected,
        "state": r.class,
        "word": r.word,
    }))
    .seen("loaded", &r.loaded, |loaded| json!(loaded))
    .seen("touches", &r.touches, describe::touches)
    .seen("hits", &r.hits, |hits| {
        json!(hits.map(|h| json!({
            "pf_rules": h.pf_rules,
            "evaluations": h.evaluations,
            "packets": h.packets,
            "bytes": h.bytes,
            "states": h.states,
        })))
    })
    .done()
}

/// A forward of the perimeter resolver, or one that ought to be there.
pub(super) fn forward(f: &ForwardRow) -> Value {
    json!({
        "tenant": f.tenant,
        "uuid": f.uuid,
        "domain": f.domain,
        "server": f.server,
        "type": f.kind,
        "enabled": f.enabled,
        "description": f.description,
        "present": f.uuid.is_some(),
        "state": f.class,
        "word": f.word,
        "diffs": diffs(&f.diffs),
    })
}
