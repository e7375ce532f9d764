//! One integer per tenant, the *index*, and everything that follows from it (domain.md §3).
//!
//! Forward: [`NumberingPlan::derive`] and the methods it uses. Backward: the `index_of_*` methods, which answer `None`
//! for a number that belongs to no tenant of this plan. Nothing here overflows or panics, whatever the numbers; a plan
//! whose bases make sense is one that [`NumberingPlan::check`](super::plan_check) accepts.

use std::fmt;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::{Serialize, Serializer};

use super::model::NumberingPlan;

/// VNets a tenant may have: `i` runs from 0 to 9.
pub const VNETS_PER_TENANT: u32 = 10;
/// Last octet of the workload with ordinal 0.
pub const FIRST_WORKLOAD_OCTET: u32 = 10;
/// Largest VMID that fits the three bytes a MAC has for it.
pub const MAX_VMID_IN_MAC: u32 = 0x00FF_FFFF;

/// A tenant's index: 1 to 63, of which 63 is kept for drills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantIndex(u8);

/// A number that is no tenant index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Zero: the overlay has room for it, but it is never used.
    #[error("0 is not a tenant index: the first /24 of the overlay stays unused")]
    Zero,
    /// Above 63: the overlay has no subnet for it.
    #[error("{0} is not a tenant index: the overlay holds 63 tenants' subnets")]
    TooLarge(u64),
}

impl IndexError {
    /// What to do instead.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "give 1 to 62 for a tenant, or 63 for the drill"
    }
}

impl TenantIndex {
    /// Lowest index.
    pub const MIN: Self = Self(1);
    /// Highest index; kept for drills and never allocated.
    pub const DRILL: Self = Self(63);

    /// Checks the range 1 to 63.
    ///
    /// # Errors
    /// [`IndexError`] outside of it.
    pub fn new(value: u64) -> Result<Self, IndexError> {
        match u8::try_from(value) {
            Ok(0) => Err(IndexError::Zero),
            Ok(small) if small <= Self::DRILL.0 => Ok(Self(small)),
            _ => Err(IndexError::TooLarge(value)),
        }
    }

    /// The number itself.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Whether this is the index of drills, 63.
    #[must_use]
    pub const fn is_drill(self) -> bool {
        self.0 == Self::DRILL.0
    }

    /// Whether a tenant may be given this index: 1 to 62.
    #[must_use]
    pub const fn is_allocatable(self) -> bool {
        !self.is_drill()
    }

    /// All of them, 1 to 63.
    pub fn all() -> impl Iterator<Item = Self> {
        (Self::MIN.0..=Self::DRILL.0).map(Self)
    }

    fn number(self) -> u32 {
        u32::from(self.0)
    }
}

impl fmt::Display for TenantIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for TenantIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

/// A MAC address, printed in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac([u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Everything that follows from one index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Derived {
    /// Name of the site.
    pub site: String,
    /// The index.
    pub index: TenantIndex,
    /// VXLAN id of the VRF, the zone's `vrf-vxlan`.
    pub vrf_vni: u32,
    /// Tag of VNet 0.
    pub vnet_vni_base: u32,
    /// Tag of VNet 9.
    pub vnet_vni_last: u32,
    /// The tenant's subnet, a /24.
    pub subnet: Ipv4Net,
    /// Anycast gateway, `.1`.
    pub gateway: Ipv4Addr,
    /// Reverse zone, without trailing dot.
    pub reverse_zone: String,
    /// Address of workload 0.
    pub workload_first: Ipv4Addr,
    /// Address of the last workload.
    pub workload_last: Ipv4Addr,
    /// VMID of workload 0.
    pub vmid_first: u32,
    /// VMID of the last workload.
    pub vmid_last: u32,
    /// BGP autonomous system of the site.
    pub asn: u32,
    /// MAC of workload 0; `None` where the plan's VMIDs do not fit a MAC.
    pub mac_first: Option<Mac>,
    /// MAC of the last workload; `None` as above.
    pub mac_last: Option<Mac>,
    /// Whether a tenant may be given this index.
    pub allocatable: bool,
}

/// From an index to its numbers.
impl NumberingPlan {
    /// Everything of `index`, under the site name `site`.
    #[must_use]
    pub fn derive(&self, site: &str, index: TenantIndex) -> Derived {
        let last = self.last_ordinal();
        let (vmid_first, vmid_last) = (self.vmid_at(index, 0), self.vmid_at(index, last));
        Derived {
            site: site.to_owned(),
            index,
            vrf_vni: self.vrf_vni(index),
            vnet_vni_base: self.vnet_vni_base_of(index),
            vnet_vni_last: self.vnet_vni_last_of(index),
            subnet: self.subnet(index),
            gateway: self.gateway(index),
            reverse_zone: self.reverse_zone(index),
            workload_first: self.host(index, FIRST_WORKLOAD_OCTET),
            workload_last: self.host(index, FIRST_WORKLOAD_OCTET.saturating_add(last)),
            vmid_first,
            vmid_last,
            asn: self.asn,
            mac_first: self.mac(vmid_first),
            mac_last: self.mac(vmid_last),
            allocatable: index.is_allocatable(),
        }
    }

    /// VXLAN id of the tenant's VRF.
    #[must_use]
    pub fn vrf_vni(&self, index: TenantIndex) -> u32 {
        self.vrf_vni_base.saturating_add(index.number())
    }

    /// Tag of VNet `i`; `None` unless `i` is 0 to 9.
    #[must_use]
    pub fn vnet_vni(&self, index: TenantIndex, i: u32) -> Option<u32> {
        (i < VNETS_PER_TENANT).then(|| self.vnet_vni_base_of(index).saturating_add(i))
    }

    /// Tag of VNet 0.
    #[must_use]
    pub fn vnet_vni_base_of(&self, index: TenantIndex) -> u32 {
        self.vnet_vni_base.saturating_add(VNETS_PER_TENANT * index.number())
    }

    /// Tag of VNet 9.
    #[must_use]
    pub fn vnet_vni_last_of(&self, index: TenantIndex) -> u32 {
        self.vnet_vni_base_of(index).saturating_add(VNETS_PER_TENANT - 1)
    }

    /// The tenant's subnet: the /24 number `index` of the overlay.
    #[must_use]
    pub fn subnet(&self, index: TenantIndex) -> Ipv4Net {
        Ipv4Net::new_assert(self.host(index, 0), 24)
    }

    /// Anycast gateway of the subnet, `.1`.
    #[must_use]
    pub fn gateway(&self, index: TenantIndex) -> Ipv4Addr {
        self.host(index, 1)
    }

    /// Addresses kept for the fabric, `.2` to `.9`.
    pub fn reserved_addresses(&self, index: TenantIndex) -> impl Iterator<Item = Ipv4Addr> + '_ {
        (2..FIRST_WORKLOAD_OCTET).map(move |octet| self.host(index, octet))
    }

    /// Address of the workload with ordinal `k`; `None` when the plan has no such ordinal.
    #[must_use]
    pub fn workload_address(&self, index: TenantIndex, k: u32) -> Option<Ipv4Addr> {
        let octet = FIRST_WORKLOAD_OCTET.checked_add(k).filter(|octet| *octet < 255)?;
        (k < self.vmids_per_tenant).then(|| self.host(index, octet))
    }

    /// Broadcast address of the subnet, `.255`.
    #[must_use]
    pub fn broadcast(&self, index: TenantIndex) -> Ipv4Addr {
        self.host(index, 255)
    }

    /// Reverse zone of the subnet, without trailing dot. It follows the index, not the name.
    #[must_use]
    pub fn reverse_zone(&self, index: TenantIndex) -> String {
        let [a, b, c, _] = self.host(index, 0).octets();
        format!("{c}.{b}.{a}.in-addr.arpa")
    }

    /// VMID of the workload with ordinal `k`; `None` when the plan has no such ordinal.
    #[must_use]
    pub fn vmid(&self, index: TenantIndex, k: u32) -> Option<u32> {
        (k < self.vmids_per_tenant).then(|| self.vmid_at(index, k))
    }

    /// MAC of the VM `vmid`: `02:de`, the site octet with its decimal digits, three bytes of VMID. `None` when the VMID
    /// needs more than three bytes or the octet more than two digits.
    #[must_use]
    pub fn mac(&self, vmid: u32) -> Option<Mac> {
        let [top, a, b, c] = vmid.to_be_bytes();
        let digits = (self.octet <= 99).then_some(((self.octet / 10) << 4) | (self.octet % 10))?;
        (top == 0).then_some(Mac([0x02, 0xde, digits, a, b, c]))
    }

    fn last_ordinal(&self) -> u32 {
        self.vmids_per_tenant.saturating_sub(1)
    }

    fn vmid_at(&self, index: TenantIndex, k: u32) -> u32 {
        self.vmid_base.saturating_add(self.vmids_per_tenant.saturating_mul(index.number())).saturating_add(k)
    }

    fn host(&self, index: TenantIndex, octet: u32) -> Ipv4Addr {
        let network = u32::from(self.overlay.network()) & 0xFFFF_FF00;
        Ipv4Addr::from_bits((network.saturating_add(index.number() << 8) & 0xFFFF_FF00) | octet.min(255))
    }
}

/// From a number back to its index; `None` means "no tenant's, as far as this plan goes".
impl NumberingPlan {
    /// Whose VRF has this VXLAN id.
    #[must_use]
    pub fn index_of_vrf_vni(&self, vni: u32) -> Option<TenantIndex> {
        index(vni.checked_sub(self.vrf_vni_base)?)
    }

    /// Whose VNet has this tag, and which of the ten.
    #[must_use]
    pub fn index_of_tag(&self, tag: u32) -> Option<(TenantIndex, u32)> {
        let offset = tag.checked_sub(self.vnet_vni_base)?;
        Some((index(offset / VNETS_PER_TENANT)?, offset % VNETS_PER_TENANT))
    }

    /// Whose workload has this VMID, and its ordinal.
    #[must_use]
    pub fn index_of_vmid(&self, vmid: u32) -> Option<(TenantIndex, u32)> {
        let offset = vmid.checked_sub(self.vmid_base)?;
        let owner = index(offset.checked_div(self.vmids_per_tenant)?)?;
        Some((owner, offset.checked_rem(self.vmids_per_tenant)?))
    }

    /// Whose subnet holds this address.
    #[must_use]
    pub fn index_of_address(&self, address: Ipv4Addr) -> Option<TenantIndex> {
        let network = self.overlay.network().to_bits() & 0xFFFF_FF00;
        index(address.to_bits().checked_sub(network)? >> 8)
    }

    /// Whose reverse zone this is. Case and a trailing dot do not matter.
    #[must_use]
    pub fn index_of_reverse_zone(&self, zone: &str) -> Option<TenantIndex> {
        let zone = zone.strip_suffix('.').unwrap_or(zone).to_ascii_lowercase();
        let mut labels = zone.strip_suffix(".in-addr.arpa")?.split('.');
        let (c, b, a) = (octet(labels.next()?)?, octet(labels.next()?)?, octet(labels.next()?)?);
        labels.next().is_none().then(|| self.index_of_address(Ipv4Addr::new(a, b, c, 0)))?
    }
}

fn index(number: u32) -> Option<TenantIndex> {
    TenantIndex::new(u64::from(number)).ok()
}

/// A label that is exactly an octet as DNS writes it: no sign, no leading zero.
fn octet(label: &str) -> Option<u8> {
    label.parse::<u8>().ok().filter(|octet| octet.to_string() == label)
}
