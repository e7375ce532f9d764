//! The system's own status.

use serde_json::{Value, json};

use super::Ask;

/// What needs attention: a rule set that pf refused is said here alone (facts/opnsense.md §1.3).
pub(super) fn system(ask: &Ask<'_>) -> Value {
    let fine = json!({"status": 2, "message": "No pending messages", "title": "System"});
    let words = json!({"dialogTitle": "System Status", "dialogCloseButton": "Close"});
    if ask.perimeter.unloaded.is_empty() {
        return json!({"metadata": {"system": fine, "translations": words, "subsystems": []}});
    }
    let message = "There were error(s) loading the rules: /tmp/rules.debug:88: syntax error - The line in question reads [88]: \
                   pass in quick on re0_vlan50 inet from {  } to any keep state";
    let since = ask.world.disturbed;
    json!({"metadata": {"system": {"status": "ERROR", "message": "No pending messages", "title": "System"},
            "translations": words, "subsystems": []},
        "subsystems": {"firewall": {"title": "Firewall", "statusCode": -1, "message": message,
            "location": "/ui/diagnostics/log/core/firewall", "timestamp": since, "persistent": false,
            "isBanner": false, "priority": 20, "status": "ERROR",
            "age": format!("{} seconds ago", (ask.now - since).max(0))}}})
}
