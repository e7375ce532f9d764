//! Records of a tenant: names of its workloads with their pointers, and other names without.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use super::names::zones;
use crate::backends::dns::{DnsName, RecordData, RecordSet};
use crate::backends::powerdns::Change;
use crate::provision::names::{DnsRecords, SignedRecords};
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Step, Subject};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::World;
use crate::site::Site;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// Seconds of the records that are made here (domain.md §4.3).
pub const TTL: u32 = 300;

/// Whose records, and where.
#[derive(Debug, Clone, Copy)]
pub struct Of<'a> {
    /// The site.
    pub site: &'a Site,
    /// The tenant.
    pub tenant: &'a TenantName,
    /// Its index.
    pub index: TenantIndex,
}

/// The same plan, its record sets changed by signed updates. `key_file`: where the key is, else the API tells its secret.
#[must_use]
pub fn by_update(mut plan: Plan, tenant: &TenantName, key_file: Option<&Path>) -> Plan {
    for step in &mut plan.steps {
        if let Object::DnsRecords(set) = &step.object {
            step.object = Object::SignedRecords(SignedRecords {
                set: set.clone(),
                key_file: key_file.map(Path::to_owned),
                tenant: tenant.to_string(),
            });
        }
    }
    plan
}

fn refused(text: String, help: &str) -> Trouble {
    Trouble::new(TroubleKind::Refused, text).with_help(help)
}

impl Of<'_> {
    /// The plan of steps about a name.
    fn plan(&self, title: &str, name: &DnsName, steps: Vec<Step>) -> Plan {
        let subject = Subject { name: name.as_str().to_owned(), tenant: Some(self.tenant.as_str().to_owned()) };
        Plan { site: self.site.name.clone(), title: format!("{title} {}", name.as_str()), subject, steps, reach: None }
    }

    /// A name in the tenant's zone: a label, or the whole name.
    ///
    /// # Errors
    /// Where it is no name, or lies outside the zone.
    pub fn name(&self, text: &str) -> Result<DnsName, Trouble> {
        let [forward, _] = zones(self.site, self.tenant, self.index);
        let parse = |text: &str| text.parse::<DnsName>().map_err(|e| refused(e.to_string(), e.help()));
        let name = parse(text)?;
        if name.is_under(&forward) {
            return Ok(name);
        }
        if text.contains('.') {
            let help = if text.ends_with('.') || name.is_under(&self.site.domain) {
                "give a name of the tenant's zone".to_owned()
            } else {
                format!("give one label, or the whole name; for {name} below the zone write {name}.{forward}")
            };
            return Err(refused(format!("{name} is not in {forward}"), &help));
        }
        parse(&format!("{}.{forward}", name.as_str()))
    }

    /// Refuses an address that is not the tenant's to give.
    fn own_address(&self, address: Ipv4Addr) -> Result<(), Trouble> {
        let subnet = self.site.numbering.subnet(self.index);
        let reserved = address == subnet.network() || address == subnet.broadcast();
        if subnet.contains(&address) && !reserved {
            return Ok(());
        }
        Err(refused(format!("{address} is no address of {} in {subnet}", self.tenant.as_str()), "give one of its own"))
    }

    fn records(&self, zone: String, set: &RecordSet) -> Step {
        let Change::Replace { name, kind, ttl, records, .. } = Change::from(set) else {
            return Step::absent(self.object(zone, set.name(), &set.kind().to_string(), false));
        };
        let object = DnsRecords { zone, owner: name.to_string(), rtype: kind, known: false };
        let contents = records.iter().map(|record| record.content.raw().to_owned());
        Step::present(Object::DnsRecords(object), DnsRecords::wanted(ttl, contents))
    }

    fn object(&self, zone: String, owner: &DnsName, rtype: &str, known: bool) -> Object {
        Object::DnsRecords(self.records_of(zone, owner, rtype, known))
    }

    #[expect(clippy::unused_self, reason = "said of the same tenant as all of these")]
    fn records_of(&self, zone: String, owner: &DnsName, rtype: &str, known: bool) -> DnsRecords {
        DnsRecords { zone, owner: owner.as_str().to_owned(), rtype: rtype.to_owned(), known }
    }

    fn set_of(name: DnsName, ttl: u32, data: Vec<RecordData>) -> Result<RecordSet, Trouble> {
        RecordSet::new(name, ttl, data).map_err(|e| refused(e.to_string(), "correct the records"))
    }

    /// Address and pointer of a workload, as steps of a larger plan. The pointer is the workload's own (domain.md §4.3).
    ///
    /// # Errors
    /// Where the name or the address is not the tenant's.
    pub fn host_steps(&self, name: &DnsName, address: Ipv4Addr) -> Result<Vec<Step>, Trouble> {
        self.own_address(address)?;
        let [forward, reverse] = zones(self.site, self.tenant, self.index);
        let a = Self::set_of(name.clone(), TTL, vec![RecordData::A(address)])?;
        let pointer = Self::set_of(DnsName::reverse(IpAddr::V4(address)), TTL, vec![RecordData::Ptr(name.clone())])?;
        Ok(vec![self.records(forward, &a), self.records(reverse, &pointer)])
    }

    /// The same, gone: pointer first, so that no address points at a name that is not there.
    #[must_use]
    pub fn host_removal(&self, name: &DnsName, address: Ipv4Addr) -> Vec<Step> {
        let [forward, reverse] = zones(self.site, self.tenant, self.index);
        let pointer = self.object(reverse, &DnsName::reverse(IpAddr::V4(address)), "PTR", true);
        vec![Step::absent(pointer), Step::absent(self.object(forward, name, "A", true))]
    }

    /// Address and pointer of a workload that goes. Other addresses of the name, and other names of the address, stay.
    ///
    /// # Errors
    /// When the zones cannot be read.
    pub async fn workload_removal(
        &self,
        world: &World,
        name: &DnsName,
        address: Ipv4Addr,
    ) -> Result<Vec<Step>, Trouble> {
        let [forward, reverse] = zones(self.site, self.tenant, self.index);
        let pointer = self.records_of(reverse, &DnsName::reverse(IpAddr::V4(address)), "PTR", true);
        let own = format!("{}.", name.as_str().trim_end_matches('.'));
        let pointer = pointer.without(world, |content| content.eq_ignore_ascii_case(&own)).await?;
        let host = self.records_of(forward, name, "A", true);
        let host = host.without(world, |content| content.parse() == Ok(address)).await?;
        Ok(pointer.into_iter().chain(host).collect())
    }

    /// Addresses of the tenant that a name still has, and their pointers to it, gone: its machine is gone already.
    ///
    /// # Errors
    /// When the zones cannot be read.
    pub async fn leftovers(&self, world: &World, name: &DnsName) -> Result<Vec<Step>, Trouble> {
        let [forward, reverse] = zones(self.site, self.tenant, self.index);
        let host = self.records_of(forward, name, "A", true);
        let there = host.contents(world).await?;
        let own = |content: &String| content.parse().ok().filter(|address| self.own_address(*address).is_ok());
        let addresses: Vec<Ipv4Addr> = there.iter().filter_map(own).collect();
        let target = format!("{}.", name.as_str().trim_end_matches('.'));
        let mut steps = Vec::new();
        for address in &addresses {
            let pointer = self.records_of(reverse.clone(), &DnsName::reverse(IpAddr::V4(*address)), "PTR", true);
            steps.extend(pointer.without(world, |content| content.eq_ignore_ascii_case(&target)).await?);
        }
        let gone = |content: &str| content.parse().is_ok_and(|address| addresses.contains(&address));
        steps.extend(host.without(world, gone).await?);
        Ok(steps)
    }

    /// Name and pointer of a workload.
    ///
    /// # Errors
    /// As [`Of::host_steps`].
    pub fn host(&self, name: &str, address: Ipv4Addr) -> Result<Plan, Trouble> {
        let name = self.name(name)?;
        let steps = self.host_steps(&name, address)?;
        Ok(self.plan("Name", &name, steps))
    }

    /// All records of a name and type, in place of what is there. Addresses must be the tenant's own; pointers belong to
    /// workloads.
    ///
    /// # Errors
    /// Where the name or an address is not the tenant's, or the records do not go together.
    pub fn set(&self, name: &str, ttl: u32, data: Vec<RecordData>) -> Result<Plan, Trouble> {
        let name = self.name(name)?;
        for one in &data {
            match one {
                RecordData::A(address) => self.own_address(*address)?,
                // The numbering gives no tenant IPv6 addresses, and the fabric carries none (domain.md §6).
                RecordData::Aaaa(address) => {
                    let text = format!("{address} is no address of {}: tenants have no IPv6 network", self.tenant);
                    return Err(refused(text, "give an A record with one of its own"));
                }
                RecordData::Ptr(_) => {
                    return Err(refused(format!("{name}: a pointer is its workload's"), "name the workload instead"));
                }
                _ => {}
            }
        }
        let [forward, _] = zones(self.site, self.tenant, self.index);
        let set = Self::set_of(name.clone(), ttl, data)?;
        if name.as_str() == forward && matches!(set.kind().to_string().as_str(), "SOA" | "NS") {
            return Err(refused(format!("{name} {}: the apex is the zone's own", set.kind()), "change the zone"));
        }
        let step = self.records(forward, &set);
        Ok(self.plan("Record", &name, vec![step]))
    }

    /// All records of a name and type, gone; of a workload, give `address` too: its pointer goes first.
    ///
    /// # Errors
    /// Where the name is not the tenant's, or the zone would be dead without the records.
    pub fn delete(&self, name: &str, rtype: &str, address: Option<Ipv4Addr>) -> Result<Plan, Trouble> {
        let name = self.name(name)?;
        let [forward, _] = zones(self.site, self.tenant, self.index);
        let rtype = rtype.to_ascii_uppercase();
        if name.as_str() == forward && matches!(rtype.as_str(), "SOA" | "NS") {
            return Err(refused(format!("{name} {rtype}: the zone would be dead without it"), "keep it"));
        }
        let steps = match address {
            Some(address) => self.host_removal(&name, address),
            None => vec![Step::absent(self.object(forward, &name, &rtype, true))],
        };
        Ok(self.plan("Delete record", &name, steps))
    }
}
