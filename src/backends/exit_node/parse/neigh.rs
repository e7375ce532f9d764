//! `ip -j neigh`.

use serde_json::Value;

use super::{NotUnderstood, needed, objects, text, words};
use crate::backends::exit_node::model::Neighbour;

/// Neighbours of both families.
///
/// # Errors
/// When the document is not a list of neighbours.
pub fn neighbours(document: &Value) -> Result<Vec<Neighbour>, NotUnderstood> {
    let neighbour = |object: &super::Object| {
        Ok(Neighbour {
            ip: needed(object, "dst")?.parse().map_err(|_| NotUnderstood::new("\"dst\" is not an address"))?,
            dev: needed(object, "dev")?.to_owned(),
            mac: text(object, "lladdr").map(str::to_owned),
            states: words(object, "state"),
        })
    };
    objects(document)?.map(neighbour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_failed_neighbour_has_no_mac() {
        let doc = json!([{"dst": "10.20.50.99", "dev": "vmbr0.50", "state": ["FAILED"]}, {}]);
        let found = neighbours(&doc).unwrap();
        assert_eq!((found.len(), found[0].mac.as_deref(), found[0].states.join("")), (1, None, "FAILED".to_owned()));
        assert!(neighbours(&json!([{"dst": "nonsense", "dev": "x"}])).is_err());
    }
}
