//! Tenants as their index derives them: the site's numbering beside the zones that are in force.

use crate::diagnose::facts::Facts;
use crate::diagnose::facts::guests::Config;
use crate::diagnose::facts::sdn::Zone;
use crate::site::Site;
use crate::site::numbering::TenantIndex;

/// A tenant's zone and its index.
pub struct Planned<'a> {
    /// The site.
    pub site: &'a Site,
    /// The index that its VRF VNI stands for.
    pub index: TenantIndex,
    /// The zone, which is called as the tenant.
    pub zone: &'a Zone,
}

impl Planned<'_> {
    /// Name of the forward zone.
    pub fn forward_zone(&self) -> String {
        format!("{}.{}", self.zone.zone, self.site.domain).to_ascii_lowercase()
    }

    /// What a machine is called inside the tenant: machines are called TENANT-WORKLOAD.
    pub fn label<'n>(&self, machine: &'n str) -> Option<&'n str> {
        machine.strip_prefix(self.zone.zone.as_str())?.strip_prefix('-').filter(|label| !label.is_empty())
    }
}

/// The tenants whose zones are in force. Zones whose VNI is outside the band are nobody's; none without a site.
pub fn tenants(facts: &Facts) -> Vec<Planned<'_>> {
    let (Some(site), Some(zones)) = (&facts.site, facts.sdn.zones_in_force()) else { return Vec::new() };
    let planned = |zone| {
        let zone: &Zone = zone;
        let index = site.numbering.index_of_vrf_vni(zone.vrf_vni?).filter(|_| zone.kind == "evpn")?;
        Some(Planned { site: &site.value, index, zone })
    };
    zones.value.iter().filter_map(planned).collect()
}

/// A tenant's machine.
pub struct Machine<'a> {
    /// Whose.
    pub tenant: Planned<'a>,
    /// Its ordinal among the tenant's.
    pub ordinal: u32,
    /// Its number.
    pub vmid: u32,
    /// Its configuration.
    pub config: &'a crate::diagnose::facts::Sourced<Config>,
}

impl Machine<'_> {
    /// What it is called, else its number.
    pub fn name(&self) -> String {
        self.config.name.clone().unwrap_or_else(|| self.vmid.to_string())
    }
}

/// Machines whose number is a tenant's, as far as their configuration was read.
pub fn machines(facts: &Facts) -> Vec<Machine<'_>> {
    let machine = |(vmid, config)| {
        let (vmid, config): (&String, _) = (vmid, config);
        let vmid = vmid.parse().ok()?;
        let (index, ordinal) = facts.site.as_ref()?.numbering.index_of_vmid(vmid)?;
        let tenant = tenants(facts).into_iter().find(|tenant| tenant.index == index)?;
        Some(Machine { tenant, ordinal, vmid, config })
    };
    facts.guests.config.iter().filter_map(machine).collect()
}
