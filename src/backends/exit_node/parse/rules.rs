//! `ip -j rule`.

use serde_json::Value;

use super::{NotUnderstood, needed, number, objects, text};
use crate::backends::exit_node::model::Rule;

/// Policy rules in the kernel's order.
///
/// # Errors
/// When the document is not a list of rules.
pub fn rules(document: &Value) -> Result<Vec<Rule>, NotUnderstood> {
    let rule = |object: &super::Object| {
        let src = needed(object, "src")?;
        let len: Option<u8> = number(object, "srclen");
        Ok(Rule {
            priority: number(object, "priority").ok_or_else(|| NotUnderstood::new("a rule has no \"priority\""))?,
            src: len.map_or_else(|| src.to_owned(), |len| format!("{src}/{len}")),
            table: text(object, "table").map(str::to_owned),
            // Its value is null: the key alone tells.
            l3mdev: object.contains_key("l3mdev"),
        })
    };
    objects(document)?.map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn l3mdev_is_told_by_its_key() {
        let doc = json!([{"priority": 100, "src": "10.20.99.0", "srclen": 24, "table": "99"},
            {"priority": 1000, "src": "all", "l3mdev": null}]);
        let rules = rules(&doc).unwrap();
        assert_eq!(
            (rules[0].src.as_str(), rules[0].table.as_deref(), rules[0].l3mdev),
            ("10.20.99.0/24", Some("99"), false)
        );
        assert_eq!((rules[1].priority, rules[1].table.as_deref(), rules[1].l3mdev), (1000, None, true));
        assert!(super::rules(&json!([{"priority": "x", "src": "all"}])).is_err());
    }
}
