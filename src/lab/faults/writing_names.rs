//! Faults that show only when something is changed at PowerDNS or in the perimeter's resolver.

use super::Scope::Site;
use super::Spec;
use crate::lab::writing::WrittenAnswer;

/// Faults of writing.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        id: "dns-write-lost",
        scope: Site,
        title: "the PowerDNS API makes a change and its answer is lost",
        changes: "the connection ends after the change, without an answer",
        apply: |w, _| w.names.writing.answer = WrittenAnswer::Lost,
    },
    Spec {
        id: "dns-write-500",
        scope: Site,
        title: "the PowerDNS API makes a change and says that it failed",
        changes: "a bare 500 after the change",
        apply: |w, _| w.names.writing.answer = WrittenAnswer::Instead(500, "Internal Server Error"),
    },
    Spec {
        id: "dns-write-refused",
        scope: Site,
        title: "PowerDNS keeps its zones where the API cannot write",
        changes: "422 to every change: Hosting backend does not support editing records.",
        apply: |w, _| w.names.writing.refused = true,
    },
    Spec {
        id: "dns-write-outdone",
        scope: Site,
        title: "somebody else writes the same records a moment later",
        changes: "what the API was given is another address, another name or gone when it is read again",
        apply: |w, _| w.names.writing.rival = true,
    },
    Spec {
        id: "dns-serial-stuck",
        scope: Site,
        title: "changes do not move the serial of their zone",
        changes: "the SOA stays as it is, whoever writes",
        apply: |w, _| w.names.writing.serial_stuck = true,
    },
    Spec {
        id: "dns-update-lost",
        scope: Site,
        title: "a dynamic update is made and its answer is lost",
        changes: "the connection ends after the change, without an answer",
        apply: |w, _| w.names.writing.update_lost = true,
    },
    Spec {
        id: "forward-not-applied",
        scope: Site,
        title: "the resolver is told of its forwards and runs on with the old ones",
        changes: "reconfigure says ok and nothing is loaded",
        apply: |w, _| w.perimeter.writing.apply_idle = true,
    },
    Spec {
        id: "forward-apply-fails",
        scope: Site,
        title: "the resolver cannot be told of its forwards",
        changes: "reconfigure says failed",
        apply: |w, _| w.perimeter.writing.apply_fails = true,
    },
];
