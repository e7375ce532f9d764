//! Zone, VNet and subnet of a tenant, by Proxmox' names of their fields. They are read as they will be after an apply.

use std::str::FromStr;

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

use super::{token, whole};
use crate::backends::permit::Permit;
use crate::backends::proxmox::endpoints::{VNETS, ZONES};
use crate::backends::proxmox::model::{Subnet, Vnet, Zone};
use crate::backends::proxmox::names::{Digest, SubnetId, VnetId, ZoneId};
use crate::backends::proxmox::{Edit, Error, NewSubnet, NewVnet, NewZone, SubnetChange, View, VnetChange, ZoneChange};
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// A value of a field, as the type that is sent.
fn typed<T: FromStr>(todo: &Difference, field: &str) -> Result<Option<T>, Trouble> {
    let parse = |value: &str| {
        value
            .parse()
            .map_err(|_| Trouble::new(TroubleKind::Refused, format!("{field} = {value:?} is nothing Proxmox takes")))
    };
    todo.value(field).map(parse).transpose()
}

/// A value that has to be there.
fn needed<T: FromStr>(todo: &Difference, field: &str) -> Result<T, Trouble> {
    typed(todo, field)?.ok_or_else(|| Trouble::new(TroubleKind::Refused, format!("{field} is missing")))
}

/// Names, comma between them.
fn names<T: FromStr>(todo: &Difference, field: &str) -> Result<Vec<T>, Trouble> {
    let parse = |name: &str| {
        let bad = || Trouble::new(TroubleKind::Refused, format!("{field}: {name:?} is nothing Proxmox takes"));
        name.trim().parse().map_err(|_| bad())
    };
    todo.value(field).map(|all| all.split(',').map(parse).collect()).transpose().map(Option::unwrap_or_default)
}

fn id<T: FromStr<Err = Error>>(name: &str) -> Result<T, Trouble> {
    name.parse().map_err(|e| Trouble::from(&e))
}

/// What is done to a field that changes: set, removed, or left.
fn edit<T: FromStr>(todo: &Difference, field: &str) -> Result<Edit<T>, Trouble> {
    if todo.unset().any(|name| name == field) {
        return Ok(Edit::Remove);
    }
    Ok(typed(todo, field)?.map_or(Edit::Leave, Edit::Set))
}

/// Refuses a change of a field that is for good.
fn fixed(todo: &Difference, field: &str, name: &str) -> Result<(), Trouble> {
    let Some(change) = todo.changes().iter().find(|change| change.field == field) else { return Ok(()) };
    let (now, wanted) = (change.now.as_deref().unwrap_or("nothing"), change.will_be.as_deref().unwrap_or("nothing"));
    let text = format!("{name}: its {field} is {now}, not {wanted}, and cannot be changed");
    Err(Trouble::new(TroubleKind::Refused, text).with_help("it is another's, or has to be removed and made again"))
}

/// The digest with which a change is refused unless everything is as it was read: the digest is read first, then the object,
/// whose fields have to be those that the change was made from.
async fn unchanged(
    object: &dyn Ensure,
    context: &Context,
    todo: &Difference,
    digest: Result<Option<String>, Error>,
) -> Result<Option<Digest>, Trouble> {
    let digest = digest.map_err(|e| Trouble::from(&e))?;
    let seen = object.observe(context).await?;
    if let Some(change) = todo.changes().iter().find(|change| seen.field(&change.field) != change.now.as_deref()) {
        let text = format!("{}: {} was changed by somebody else just now", object.name(), change.field);
        return Err(Trouble::new(TroubleKind::Moved, text).with_help("look at the plan again"));
    }
    // A digest of another form than is known is not sent: Proxmox would refuse it.
    Ok(digest.and_then(|digest| digest.parse().ok()))
}

fn done(answer: Result<(), Error>) -> Result<(), Trouble> {
    answer.map_err(|e| Trouble::from(&e))
}

/// An EVPN zone: the VRF of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SdnZone {
    /// Its id, the tenant's name.
    pub zone: String,
}

fn zone_fields(zone: &Zone) -> Fields {
    let list = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        Some(names.join(",")).filter(|names| !names.is_empty())
    };
    let flag = |on: Option<bool>| on.filter(|on| *on).map(|_| "1".to_owned());
    let all = [
        ("type", Some(zone.kind.clone())),
        ("controller", zone.controller.clone()),
        ("vrf-vxlan", zone.vrf_vxlan.map(|vni| vni.to_string())),
        ("nodes", list(&zone.nodes)),
        ("exitnodes", list(&zone.exit_nodes)),
        ("exitnodes-primary", zone.exit_nodes_primary.clone()),
        ("exitnodes-local-routing", flag(zone.exit_nodes_local_routing)),
        ("advertise-subnets", flag(zone.advertise_subnets)),
        ("mtu", zone.mtu.map(|mtu| mtu.to_string())),
        ("mac", zone.mac.clone()),
        ("ipam", zone.ipam.clone()),
    ];
    fields(all.into_iter().filter_map(|(name, value)| Some((name, value?))))
}

/// Options that are read into fields of their own, or are not the zone's own.
const KNOWN: [&str; 14] = [
    "zone",
    "digest",
    "state",
    "type",
    "controller",
    "vrf-vxlan",
    "nodes",
    "exitnodes",
    "exitnodes-primary",
    "exitnodes-local-routing",
    "advertise-subnets",
    "mtu",
    "mac",
    "ipam",
];

impl SdnZone {
    fn new_zone(&self, todo: &Difference) -> Result<NewZone, Trouble> {
        let flag = |field| Ok::<_, Trouble>(todo.value(field).map(|value| value == "1"));
        Ok(NewZone {
            nodes: names(todo, "nodes")?,
            exit_nodes: names(todo, "exitnodes")?,
            exit_nodes_primary: typed(todo, "exitnodes-primary")?,
            exit_nodes_local_routing: flag("exitnodes-local-routing")?,
            advertise_subnets: flag("advertise-subnets")?,
            mtu: typed(todo, "mtu")?,
            mac: typed(todo, "mac")?,
            ipam: typed(todo, "ipam")?,
            ..NewZone::new(id(&self.zone)?, needed(todo, "controller")?, needed(todo, "vrf-vxlan")?)
        })
    }

    fn change(&self, todo: &Difference, digest: Option<Digest>) -> Result<ZoneChange, Trouble> {
        for field in ["type", "mac", "ipam"] {
            fixed(todo, field, &self.name())?;
        }
        let list = |field| {
            let unset = todo.unset().any(|name| name == field);
            let set = || Ok(if todo.value(field).is_some() { Edit::Set(names(todo, field)?) } else { Edit::Leave });
            if unset { Ok::<_, Trouble>(Edit::Remove) } else { set() }
        };
        let flag = |field| {
            let unset = todo.unset().any(|name| name == field);
            let set = todo.value(field).map_or(Edit::Leave, |value| Edit::Set(value == "1"));
            if unset { Edit::Remove } else { set }
        };
        Ok(ZoneChange {
            controller: typed(todo, "controller")?,
            vrf_vxlan: typed(todo, "vrf-vxlan")?,
            nodes: list("nodes")?,
            exit_nodes: list("exitnodes")?,
            exit_nodes_primary: edit(todo, "exitnodes-primary")?,
            exit_nodes_local_routing: flag("exitnodes-local-routing"),
            advertise_subnets: flag("advertise-subnets"),
            mtu: edit(todo, "mtu")?,
            digest,
        })
    }
}

impl Ensure for SdnZone {
    fn in_one(&self) -> bool {
        true
    }

    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("zone {}", self.zone)
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Tenant
    }

    fn undo(&self, todo: &Difference) -> Undo {
        let lost = todo.changes().iter().any(|change| !KNOWN.contains(&change.field.as_str()));
        match todo {
            Difference::Delete(_) if lost => {
                Undo::None("it has options that this console does not send (its record in the journal names them)")
            }
            _ => Undo::Inverse,
        }
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let client = context.world.proxmox()?;
            let zones = client.zones(View::Pending).await.map_err(|e| Trouble::from(&e))?;
            let found = zones.iter().filter_map(|zone| zone.configured.as_ref()).find(|zone| zone.zone == self.zone);
            let Some(zone) = found else {
                whole(client, &[("zone", &ZONES)]).await?;
                return Ok(Seen::Absent);
            };
            let mut fields = zone_fields(zone);
            let options = client.zone_options(&self.zone).await.map_err(|e| Trouble::from(&e))?;
            let unknown = options.into_iter().filter(|(name, _)| !KNOWN.contains(&name.as_str()));
            fields.extend(unknown);
            Ok(Seen::Present(fields))
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            let (client, token) = (context.world.proxmox()?, token(context)?);
            let zone: ZoneId = id(&self.zone)?;
            done(match todo {
                Difference::Nothing => return Ok(()),
                Difference::Create(_) => client.zone_create(permit, &token, &self.new_zone(todo)?).await,
                Difference::Update(_) => {
                    let digest = unchanged(self, context, todo, client.zones_digest().await).await?;
                    client.zone_update(permit, &token, &zone, &self.change(todo, digest)?).await
                }
                Difference::Delete(_) => client.zone_delete(permit, &token, &zone).await,
            })
        })
    }
}

/// A VNet: a network of a tenant, and the bridge of its machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SdnVnet {
    /// Its id.
    pub vnet: String,
}

fn vnet_fields(vnet: &Vnet) -> Fields {
    let all = [
        ("zone", Some(vnet.zone.clone())),
        ("tag", vnet.tag.map(|tag| tag.to_string())),
        ("alias", vnet.alias.clone()),
    ];
    fields(all.into_iter().filter_map(|(name, value)| Some((name, value?))))
}

impl Ensure for SdnVnet {
    fn in_one(&self) -> bool {
        true
    }

    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("VNet {}", self.vnet)
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Tenant
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let client = context.world.proxmox()?;
            let vnets = client.vnets(View::Pending).await.map_err(|e| Trouble::from(&e))?;
            let found = vnets.iter().filter_map(|vnet| vnet.configured.as_ref()).find(|vnet| vnet.vnet == self.vnet);
            match found {
                Some(vnet) => Ok(Seen::Present(vnet_fields(vnet))),
                None => whole(client, &[("VNet", &VNETS)]).await.map(|()| Seen::Absent),
            }
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            let (client, token) = (context.world.proxmox()?, token(context)?);
            let vnet: VnetId = id(&self.vnet)?;
            done(match todo {
                Difference::Nothing => return Ok(()),
                Difference::Create(_) => {
                    let (zone, tag) = (needed(todo, "zone")?, needed(todo, "tag")?);
                    let new = NewVnet { vnet, zone, tag, alias: typed(todo, "alias")? };
                    client.vnet_create(permit, &token, &new).await
                }
                Difference::Update(_) => {
                    fixed(todo, "zone", &self.name())?;
                    let digest = unchanged(self, context, todo, client.vnets_digest().await).await?;
                    let change = VnetChange { tag: typed(todo, "tag")?, alias: edit(todo, "alias")?, digest };
                    client.vnet_update(permit, &token, &vnet, &change).await
                }
                Difference::Delete(_) => client.vnet_delete(permit, &token, &vnet).await,
            })
        })
    }
}

/// A subnet of a VNet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SdnSubnet {
    /// Zone, which is in its id.
    pub zone: String,
    /// VNet.
    pub vnet: String,
    /// Prefix.
    pub net: Ipv4Net,
}

fn subnet_fields(subnet: &Subnet) -> Fields {
    let gateway = subnet.gateway.map(|gateway| ("gateway", gateway.to_string()));
    fields(gateway.into_iter().chain(subnet.snat.then(|| ("snat", "1".to_owned()))))
}

impl Ensure for SdnSubnet {
    fn in_one(&self) -> bool {
        true
    }

    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("subnet {} of {}", self.net, self.vnet)
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Tenant
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let subnets = match context.world.proxmox()?.subnets(&self.vnet, View::Pending).await {
                Ok(subnets) => subnets,
                // A VNet that is not there, or is about to go, has none (facts/proxmox.md §5).
                Err(error) if error.is_absent() => return Ok(Seen::Absent),
                Err(error) => return Err(Trouble::from(&error)),
            };
            let ours = |subnet: &&Subnet| subnet.cidr.is_some_and(|cidr| cidr.trunc() == self.net.trunc());
            let found = subnets.iter().filter_map(|subnet| subnet.configured.as_ref()).find(ours);
            Ok(found.map_or(Seen::Absent, |subnet| Seen::Present(subnet_fields(subnet))))
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            let (client, token) = (context.world.proxmox()?, token(context)?);
            let vnet: VnetId = id(&self.vnet)?;
            let name = SubnetId::of(&id(&self.zone)?, self.net.trunc());
            done(match todo {
                Difference::Nothing => return Ok(()),
                Difference::Create(_) => {
                    let gateway = typed(todo, "gateway")?;
                    let new = NewSubnet { vnet, net: self.net, gateway, snat: todo.value("snat") == Some("1") };
                    client.subnet_create(permit, &token, &new).await
                }
                Difference::Update(changes) => {
                    let digest = unchanged(self, context, todo, client.subnets_digest(&self.vnet).await).await?;
                    let snat = changes.iter().any(|change| change.field == "snat");
                    let change = SubnetChange {
                        gateway: edit(todo, "gateway")?,
                        snat: snat.then(|| todo.value("snat") == Some("1")),
                        digest,
                    };
                    client.subnet_update(permit, &token, &vnet, &name, &change).await
                }
                Difference::Delete(_) => client.subnet_delete(permit, &token, &vnet, &name).await,
            })
        })
    }
}
