//! A report as a document.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Report;
use super::finding::Finding;

impl Report {
    /// `deevnet-console/findings/v1`; `at` is when the evidence was read.
    #[must_use]
    pub fn document(&self, at: Option<Timestamp>) -> Value {
        json!({
            "schema": "deevnet-console/findings/v1",
            "at": at.map(|t| t.to_string()),
            "headline": self.headline().map(|f| json!({ "id": f.id, "subject": f.subject })),
            "findings": self.findings.iter().map(Finding::document).collect::<Vec<_>>(),
            "passed": self.passed,
            "unknown": self.unknown,
        })
    }
}

impl Finding {
    /// One of `findings`.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut value = json!(self);
        if let (Some(map), Some((id, subject))) = (value.as_object_mut(), &self.caused_by) {
            map.insert("caused_by".to_owned(), json!({ "id": id, "subject": subject }));
        }
        value
    }
}
