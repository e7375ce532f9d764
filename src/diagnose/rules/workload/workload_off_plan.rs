//! A tenant's machine that is not what its number derives.

use super::super::plan::{Machine, machines};
use super::super::{Out, Rule};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "workload-off-plan",
    layer: Layer::Workload,
    severity: Severity::Warning,
    says: "A tenant's machine is called, addressed or wired otherwise than its VMID derives: name, MAC, address or gateway. \
           The address may be another machine's, or its name's records lead elsewhere.",
    reads: "the machine's configuration, the site's numbering, the zones in force",
    unlike: &[
        ("workload-on-foreign-network", "it has a card on a network that is not its tenant's"),
        ("tenant-off-plan", "the tenant's network itself is another"),
    ],
    explains: &[],
    judge,
};

fn judge(facts: &Facts, out: &mut Out<'_>) {
    for machine in machines(facts) {
        let name = machine.name();
        let differences = differences(&machine);
        let Some((_, is, derived)) = differences.first() else {
            out.pass(Subject::new("workload", &name));
            continue;
        };
        let title = format!("{name} is not what VMID {} derives: {is}, not {derived}.", machine.vmid);
        let mut finding = out
            .finding(Subject::new("workload", &name), title)
            .affects([&name, &machine.tenant.zone.zone])
            .from(machine.config);
        for (key, is, derived) in &differences {
            finding = finding.fact(key, &name, format!("{is}, derived {derived}"));
        }
        out.found(
            finding
                .next(
                    "compare-with-plan",
                    0,
                    "compare with what the number derives; the machine takes a change at its next cold start",
                )
                .command_for(
                    &machine.tenant.zone.zone,
                    format!("deevnet-console numbering {} --name {}", machine.tenant.index, machine.tenant.zone.zone),
                ),
        );
    }
}

fn differences(machine: &Machine<'_>) -> Vec<(&'static str, String, String)> {
    let (plan, config) = (&machine.tenant.site.numbering, machine.config);
    let mut all = Vec::new();
    let zone = &machine.tenant.zone.zone;
    if let Some(name) = config.name.as_ref().filter(|name| machine.tenant.label(name).is_none()) {
        all.push(("workload.name", name.clone(), format!("{zone}-…")));
    }
    let derived = plan.mac(machine.vmid).map(|mac| mac.to_string());
    if let (Some(is), Some(derived)) = (config.macs.first(), derived)
        && !is.eq_ignore_ascii_case(&derived)
    {
        all.push(("workload.mac", is.clone(), derived));
    }
    // A machine without cloud-init gets its address elsewhere, which is not seen here.
    if let (Some((is, gateway)), Some(derived)) =
        (config.address, plan.workload_address(machine.tenant.index, machine.ordinal))
    {
        if is.addr() != derived {
            all.push(("workload.address", is.addr().to_string(), derived.to_string()));
        }
        let right = plan.gateway(machine.tenant.index);
        if gateway != Some(right) {
            let is = gateway.map_or_else(|| "none".to_owned(), |gateway| gateway.to_string());
            all.push(("workload.gateway", is, right.to_string()));
        }
    }
    all
}
