//! Whether the bases of a numbering plan make sense together.

use super::model::NumberingPlan;
use super::numbering::{FIRST_WORKLOAD_OCTET, MAX_VMID_IN_MAC, TenantIndex};

/// Largest VXLAN id: 24 bits (RFC 7348 §5).
pub const MAX_VNI: u32 = 0x00FF_FFFF;
/// Smallest VMID that Proxmox gives out.
pub const MIN_VMID: u32 = 100;
/// Ordinals that fit between the first workload's address and `.254`.
pub const MAX_VMIDS_PER_TENANT: u32 = 255 - FIRST_WORKLOAD_OCTET;

/// One thing wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PlanProblem {
    /// Key of `[numbering]` (or `octet` of `[site]`) that is to be changed.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    help: &'static str,
}

impl PlanProblem {
    fn new(key: &'static str, message: String, help: &'static str) -> Self {
        Self { key, message, help }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.help
    }
}

/// A plan that is coherent in itself.
impl NumberingPlan {
    /// Everything that is wrong with the plan; empty for a plan that works for all 63 indices.
    #[must_use]
    pub fn check(&self) -> Vec<PlanProblem> {
        [self.check_octet(), self.check_overlay(), self.check_asn(), self.check_per_tenant()]
            .into_iter()
            .flatten()
            .chain(self.check_vnis())
            .chain(self.check_vmids())
            .collect()
    }

    /// Whether the overlay lies in `10.<octet>.0.0/16`, as the platform's sites do. It works without, but it is worth a
    /// warning.
    #[must_use]
    pub fn overlay_matches_octet(&self) -> bool {
        let [a, b, ..] = self.overlay.network().octets();
        (a, b) == (10, self.octet)
    }

    fn check_octet(&self) -> Option<PlanProblem> {
        (self.octet > 99).then(|| {
            PlanProblem::new(
                "octet",
                format!("octet {} does not fit a MAC: its decimal digits become one byte", self.octet),
                "use a site octet of two digits at most",
            )
        })
    }

    fn check_overlay(&self) -> Option<PlanProblem> {
        let help = "give the /18 that holds one /24 per index, e.g. \"10.20.128.0/18\"";
        if self.overlay.prefix_len() != 18 {
            return Some(PlanProblem::new("overlay", format!("{} is not a /18", self.overlay), help));
        }
        (self.overlay.addr() != self.overlay.network()).then(|| {
            let text =
                format!("{} has bits set behind the prefix: its network is {}", self.overlay, self.overlay.trunc());
            PlanProblem::new("overlay", text, help)
        })
    }

    fn check_asn(&self) -> Option<PlanProblem> {
        // RFC 7607 reserves 0; RFC 7300 reserves the last one.
        matches!(self.asn, 0 | u32::MAX).then(|| {
            let help = "private numbers are 64512 to 65534 and 4200000000 to 4294967294";
            PlanProblem::new("asn", format!("{} is a reserved autonomous system number", self.asn), help)
        })
    }

    fn check_per_tenant(&self) -> Option<PlanProblem> {
        (!(1..=MAX_VMIDS_PER_TENANT).contains(&self.vmids_per_tenant)).then(|| {
            PlanProblem::new(
                "vmids_per_tenant",
                format!("{} workloads per tenant do not fit a /24", self.vmids_per_tenant),
                "use 1 to 245: workloads start at .10 and .255 is the broadcast address",
            )
        })
    }

    fn check_vnis(&self) -> Vec<PlanProblem> {
        let vrf = (self.vrf_vni(TenantIndex::MIN), self.vrf_vni(TenantIndex::DRILL));
        let vnet = (self.vnet_vni_base_of(TenantIndex::MIN), self.vnet_vni_last_of(TenantIndex::DRILL));
        let mut problems = Vec::new();
        for (key, what, (first, last)) in [("vrf_vni_base", "VRF VNIs", vrf), ("vnet_vni_base", "VNet VNIs", vnet)] {
            if last > MAX_VNI {
                let text = format!("{what} would run from {first} to {last}, beyond the largest VNI {MAX_VNI}");
                problems.push(PlanProblem::new(key, text, "choose a lower base"));
            }
        }
        if problems.is_empty() && vrf.0 <= vnet.1 && vnet.0 <= vrf.1 {
            let text = format!("VNet VNIs {}–{} overlap the VRF VNIs {}–{}", vnet.0, vnet.1, vrf.0, vrf.1);
            problems.push(PlanProblem::new("vnet_vni_base", text, "keep the two bands apart, e.g. 10000 and 20000"));
        }
        problems
    }

    fn check_vmids(&self) -> Option<PlanProblem> {
        let highest = TenantIndex::DRILL;
        let first = u64::from(self.vmid_base) + u64::from(self.vmids_per_tenant);
        let last = u64::from(self.vmid_base) + u64::from(self.vmids_per_tenant) * (u64::from(highest.get()) + 1) - 1;
        if first < u64::from(MIN_VMID) {
            let text = format!("VMIDs would start at {first}; Proxmox gives out {MIN_VMID} and above");
            return Some(PlanProblem::new("vmid_base", text, "choose a higher base, e.g. 2000"));
        }
        (last > u64::from(MAX_VMID_IN_MAC)).then(|| {
            let text = format!("VMIDs would reach {last}; a MAC has room for {MAX_VMID_IN_MAC}");
            PlanProblem::new("vmid_base", text, "choose a lower base, e.g. 2000")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mobile() -> NumberingPlan {
        NumberingPlan {
            octet: 20,
            vrf_vni_base: 10_000,
            vnet_vni_base: 20_000,
            overlay: "10.20.128.0/18".parse().unwrap(),
            asn: 65_020,
            vmid_base: 2_000,
            vmids_per_tenant: 40,
            reserved_names: Vec::new(),
        }
    }

    type Change = fn(&mut NumberingPlan);

    fn complaint(change: impl FnOnce(&mut NumberingPlan)) -> String {
        let mut plan = mobile();
        change(&mut plan);
        plan.check().iter().map(|p| format!("{}: {p}", p.key)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_platforms_plan_is_coherent() {
        assert_eq!(mobile().check(), []);
        assert!(mobile().overlay_matches_octet());
    }

    #[test]
    fn each_rule_names_the_key_to_change() {
        let cases: [(Change, &str); 10] = [
            (|p| p.octet = 100, "octet: octet 100 does not fit a MAC"),
            (|p| p.overlay = "10.20.128.0/17".parse().unwrap(), "overlay: 10.20.128.0/17 is not a /18"),
            (|p| p.overlay = "10.20.129.0/18".parse().unwrap(), "overlay: 10.20.129.0/18 has bits set behind"),
            (|p| p.asn = 0, "asn: 0 is a reserved"),
            (|p| p.vmids_per_tenant = 0, "vmids_per_tenant: 0 workloads"),
            (|p| p.vmids_per_tenant = 246, "vmids_per_tenant: 246 workloads"),
            (|p| p.vrf_vni_base = MAX_VNI - 62, "vrf_vni_base: VRF VNIs would run from 16777154 to 16777216"),
            (|p| p.vnet_vni_base = 10_053, "vnet_vni_base: VNet VNIs 10063–10692 overlap the VRF VNIs 10001–10063"),
            (|p| p.vmid_base = 59, "vmid_base: VMIDs would start at 99"),
            (|p| p.vmid_base = MAX_VMID_IN_MAC, "vmid_base: VMIDs would reach 16779774"),
        ];
        for (change, expected) in cases {
            let found = complaint(change);
            assert!(found.starts_with(expected) && !found.contains('\n'), "{expected:?} expected, found {found:?}");
        }
    }

    #[test]
    fn the_edges_themselves_are_fine() {
        let edges: [Change; 5] = [
            |p| p.vrf_vni_base = MAX_VNI - 63,
            |p| p.vnet_vni_base = 10_054,
            |p| p.vmid_base = 60,
            |p| p.vmid_base = MAX_VMID_IN_MAC - 40 * 64 + 1,
            |p| p.vmids_per_tenant = 245,
        ];
        for change in edges {
            assert_eq!(complaint(change), "");
        }
    }

    #[test]
    fn absurd_numbers_are_problems_not_panics() {
        let found = complaint(|p| {
            (p.vrf_vni_base, p.vnet_vni_base, p.vmid_base, p.vmids_per_tenant) =
                (u32::MAX, u32::MAX, u32::MAX, u32::MAX);
        });
        assert_eq!(found.lines().count(), 4, "{found}");
    }
}
