//! `ip -j route get`.

use serde_json::Value;

use super::{objects, text};
use crate::backends::exit_node::model::Lookup;

/// The answer in one document. An error has no document: its words come from stderr (see [`super::batch`]).
#[must_use]
pub fn lookup(document: &Value) -> Lookup {
    let first = objects(document).ok().and_then(|mut all| all.next());
    let Some(object) = first else { return Lookup::Error("the answer was not understood".to_owned()) };
    let Some(dev) = text(object, "dev") else {
        return Lookup::Error(format!("no device ({})", text(object, "type").unwrap_or("no type")));
    };
    Lookup::Route {
        dev: dev.to_owned(),
        gateway: text(object, "gateway").and_then(|g| g.parse().ok()),
        prefsrc: text(object, "prefsrc").and_then(|p| p.parse().ok()),
        // Printed for main as well when details are asked for.
        table: text(object, "table").filter(|t| *t != "main").map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::net::Ipv4Addr;

    #[test]
    fn main_is_no_table() {
        let doc = |table: &str| json!([{"dst": "8.8.8.8", "gateway": "10.20.50.1", "dev": "vmbr0.50", "table": table}]);
        let route = |table: Option<&str>| Lookup::Route {
            dev: "vmbr0.50".to_owned(),
            gateway: Some(Ipv4Addr::new(10, 20, 50, 1)),
            prefsrc: None,
            table: table.map(str::to_owned),
        };
        assert_eq!(lookup(&doc("main")), route(None));
        assert_eq!(lookup(&doc("vrf_tdemo")), route(Some("vrf_tdemo")));
        assert!(matches!(lookup(&json!([])), Lookup::Error(_)));
        assert!(matches!(lookup(&json!([{"type": "blackhole"}])), Lookup::Error(_)));
    }
}
