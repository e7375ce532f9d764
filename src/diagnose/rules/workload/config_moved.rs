//! Settings were changed by somebody else between the look and the change.

use super::super::{Out, Rule};
use super::provisioning::settings;
use crate::backends::proxmox::Error;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "config-moved",
    layer: Layer::Workload,
    severity: Severity::Fault,
    says: "A change of a guest was refused since its configuration is not as it was when it was read: somebody else changed \
           it. The digest that was sent with the change protects their edit; nothing was changed.",
    reads: "the refusal, and whether a digest was sent",
    unlike: &[
        ("lock-held", "somebody's task holds the guest, nothing was changed yet"),
        ("flag-form", "a value has the wrong form"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for call in settings(facts).filter(|call| matches!(call.proxmox(), Some(Error::Modified { .. }))) {
        let vmid = call.http.segment(3);
        let finding = out
            .finding(
                Subject::new("workload", vmid),
                format!("Guest {vmid} was changed by somebody else since it was read; nothing was done."),
            )
            .fact("config.changed", vmid, "since it was read")
            .fact("request.digest", vmid, if call.form().contains_key("digest") { "sent" } else { "not seen" })
            .affects([vmid])
            .resting_on(&call.file)
            .next(
                "reload-and-compare",
                0,
                format!("read {vmid} again and look at the difference before anything is sent"),
            )
            .not_tested("what was changed, and by whom");
        out.found(finding);
    }
}
