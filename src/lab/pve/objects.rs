//! Changes of zones, VNets, subnets and controllers: they wait for an apply (facts/proxmox.md §4–§6).
//!
//! What the real code does not look at is let through here as well: tags against VRF VNIs, overlaps, node names.

use serde_json::{Value, json};

use super::apply::{self, guard, need};
use super::form::{self, DELETE, DIGEST, Parameter, Rule, TEXT, TOKEN};
use super::{Answer, Call, Done};
use crate::lab::acting::Act;
use crate::lab::sdn::{Kind, subnet_parts};
use crate::lab::state::{LocalStanza, Object};

mod options;

use options::{CONTROLLER, FOREIGN, SUBNET, VNET, ZONE};

pub(super) fn route(call: &Call<'_>, method: &str, path: &[&str]) -> Option<Done> {
    Some(match (method, path) {
        ("POST", ["lock"]) => apply::acquire(call),
        ("DELETE", ["lock"]) => apply::release(call),
        ("POST", ["rollback"]) => apply::rollback(call),
        ("PUT", []) => apply::apply(call),
        ("POST", ["zones"]) => create_zone(call),
        ("POST", ["controllers"]) => create_controller(call),
        ("POST", ["vnets"]) => create_vnet(call),
        ("POST", ["vnets", vnet, "subnets"]) => create_subnet(call, vnet),
        ("PUT", ["zones", zone]) => update(call, &Place::of(call, Kind::Zone, "zone", zone)),
        ("PUT", ["controllers", id]) => update(call, &Place::of(call, Kind::Controller, "controller", id)),
        ("PUT", ["vnets", vnet]) => update(call, &Place::of(call, Kind::Vnet, "vnet", vnet)),
        ("PUT", ["vnets", vnet, "subnets", id]) => update(call, &Place::subnet(vnet, id)),
        ("DELETE", ["zones", zone]) => delete(call, &Place::of(call, Kind::Zone, "zone", zone)),
        ("DELETE", ["controllers", id]) => delete(call, &Place::of(call, Kind::Controller, "controller", id)),
        ("DELETE", ["vnets", vnet]) => delete(call, &Place::of(call, Kind::Vnet, "vnet", vnet)),
        ("DELETE", ["vnets", vnet, "subnets", id]) => delete(call, &Place::subnet(vnet, id)),
        _ => return None,
    })
}

/// An object that is to be changed.
struct Place<'a> {
    kind: Kind,
    word: &'static str,
    id: &'a str,
    /// VNet of a subnet.
    vnet: Option<&'a str>,
    options: &'static [Parameter],
    /// Where its right is looked up.
    path: String,
}

impl<'a> Place<'a> {
    fn of(call: &Call<'_>, kind: Kind, word: &'static str, id: &'a str) -> Self {
        let (options, path) = match kind {
            Kind::Controller => (CONTROLLER, "/sdn/controllers".to_owned()),
            Kind::Vnet => {
                let zone = call.world.sdn.configured.text(Kind::Vnet, id, "zone").unwrap_or_default();
                (VNET, format!("/sdn/zones/{zone}/{id}"))
            }
            _ => (ZONE, format!("/sdn/zones/{id}")),
        };
        Self { kind, word, id, vnet: None, options, path }
    }

    fn subnet(vnet: &'a str, id: &'a str) -> Self {
        let zone = subnet_parts(id).map_or("", |(zone, ..)| zone);
        let path = format!("/sdn/zones/{zone}/{vnet}");
        Self { kind: Kind::Subnet, word: "subnet", id, vnet: Some(vnet), options: SUBNET, path }
    }

    fn action(&self, verb: &str) -> String {
        format!("{verb} sdn {} object failed", self.word)
    }

    /// The VNet above it, the right, and that path and parameters agree.
    fn enter(&self, call: &Call<'_>) -> Result<(), Answer> {
        let own = [(self.word, self.id)];
        form::agrees(call, self.vnet.map_or(&own[..], |_| &[]))?;
        if let Some(vnet) = self.vnet.or_else(|| (self.kind == Kind::Vnet).then_some(self.id)) {
            form::agrees(call, &[("vnet", vnet)])?;
            if call.world.sdn.configured.get(Kind::Vnet, vnet).is_none() {
                return Err(Answer::failed(&format!("sdn vnet '{vnet}' does not exist")));
            }
        }
        need(call, &self.path, "SDN.Allocate")
    }
}

/// A parameter error inside an SDN lock: flattened, and without its map (§1).
fn flat(action: &str, key: &str, text: &str) -> Answer {
    Answer::failed(&format!("{action}: 400 Parameter verification failed.\n{key}: {text}"))
}

/// What is stored of the parameters of a change.
fn options(call: &Call<'_>, known: &[Parameter]) -> Object {
    let mut out = Object::new();
    for (name, value) in call.query.iter().filter(|(name, _)| name != "lock-token") {
        let Some((_, rule, _)) = known.iter().find(|(key, ..)| key == name) else { continue };
        let value = match name.as_str() {
            "nodes" | "exitnodes" => {
                let mut names: Vec<&str> = value.split(',').collect();
                names.sort_unstable();
                json!(names.join(","))
            }
            _ => rule.stored(value),
        };
        out.insert(name.clone(), value);
    }
    out
}

fn set(kind: Kind, id: &str, options: Object) -> Done {
    let mut act = Act::default();
    let id = id.to_owned();
    act.now(move |world, _| world.sdn.set(kind, &id, options.clone()));
    Ok((Value::Null, act))
}

fn fresh(call: &Call<'_>, kind: Kind, id: &str, action: &str, word: &str) -> Result<(), Answer> {
    match call.world.sdn.configured.get(kind, id) {
        Some(_) => Err(Answer::failed(&format!("{action}: sdn {word} object ID '{id}' already defined"))),
        None => Ok(()),
    }
}

fn create_zone(call: &Call<'_>) -> Done {
    const TYPES: &[&str] = &["evpn", "faucet", "qinq", "simple", "vlan", "vxlan"];
    need(call, "/sdn/zones", "SDN.Allocate")?;
    let own = [("type", Rule::Word(TYPES), true), ("zone", Rule::Own(form::zone_id), true)];
    form::check(call, &[ZONE, &own].concat())?;
    let (zone, kind) = (call.param("zone").unwrap_or_default(), call.param("type").unwrap_or_default());
    let needed: &[&str] = match kind {
        "evpn" => &["controller", "vrf-vxlan"],
        "vlan" | "qinq" => &["bridge"],
        _ => &[],
    };
    if let Some(name) = needed.iter().find(|name| call.param(name).is_none()) {
        return Err(Answer::failed(&format!("missing value for required option '{name}'")));
    }
    if let Some(name) = FOREIGN.iter().find(|name| kind == "evpn" && call.param(name).is_some()) {
        return Err(Answer::failed(&format!("unexpected property '{name}'")));
    }
    let action = "create sdn zone object failed";
    guard(call, action, true)?;
    fresh(call, Kind::Zone, zone, action, "zone")?;
    let mut options = options(call, ZONE);
    options.insert("type".to_owned(), json!(kind));
    if kind == "evpn" {
        evpn_zone(call, zone, action)?;
        // The anycast MAC is made up and stored where none is given (§4).
        let bits = call.world.number(&format!("anycast {zone} {}", call.now_ms));
        let mac = format!("BC:24:11:{:02X}:{:02X}:{:02X}", bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff);
        options.entry("mac").or_insert(json!(mac));
    }
    // Its way out is for whoever keeps frr.conf.local to give.
    let (id, mut act) = (zone.to_owned(), Act::default());
    act.now(move |world, _| {
        if !world.exit.vrfs.contains_key(&id) && world.sdn.running.get(Kind::Zone, &id).is_none() {
            world.exit.vrf_mut(&id).local = LocalStanza::Missing;
        }
        world.sdn.set(Kind::Zone, &id, options.clone());
    });
    Ok((Value::Null, act))
}

/// What is looked at of an EVPN zone: its controller, and that no other zone has its VRF VNI.
fn evpn_zone(call: &Call<'_>, zone: &str, action: &str) -> Result<(), Answer> {
    let at = "at /usr/share/perl5/PVE/Network/SDN/Zones/EvpnPlugin.pm line";
    let tree = &call.world.sdn.configured;
    if let Some(controller) = call.param("controller") {
        let kind = tree.text(Kind::Controller, controller, "type");
        match kind.as_deref() {
            None => return Err(Answer::failed(&format!("{action}: controller {controller} don't exist {at} 354."))),
            Some("evpn") => {}
            Some(_) => {
                return Err(Answer::failed(&format!("{action}: controller {controller} is not a evpn type {at} 356.")));
            }
        }
    }
    let Some(vni) = call.param("vrf-vxlan") else { return Ok(()) };
    let same = tree
        .of(Kind::Zone)
        .find(|(id, _)| *id != zone && tree.text(Kind::Zone, id, "vrf-vxlan").as_deref() == Some(vni));
    same.map_or(Ok(()), |(id, _)| {
        Err(Answer::failed(&format!("{action}: vrf-vxlan {vni} is already declared in {id} {at} 368.")))
    })
}

fn create_controller(call: &Call<'_>) -> Done {
    need(call, "/sdn/controllers", "SDN.Allocate")?;
    let types = Rule::Word(&["bgp", "evpn", "faucet", "isis"]);
    let own = [("type", types, true), ("controller", Rule::Own(form::controller_id), true)];
    form::check(call, &[CONTROLLER, &own].concat())?;
    let (id, kind) = (call.param("controller").unwrap_or_default(), call.param("type").unwrap_or_default());
    if kind == "evpn" && call.param("asn").is_none() {
        return Err(Answer::failed("missing value for required option 'asn'"));
    }
    let action = "create sdn controller object failed";
    guard(call, action, true)?;
    fresh(call, Kind::Controller, id, action, "controller")?;
    let tree = &call.world.sdn.configured;
    if kind == "evpn" && tree.of(Kind::Controller).any(|(_, other)| other.get("type").is_some_and(|t| t == "evpn")) {
        let at = "at /usr/share/perl5/PVE/Network/SDN/Controllers/EvpnPlugin.pm line 491.";
        return Err(Answer::failed(&format!("{action}: only 1 global evpn controller can be defined {at}")));
    }
    let mut options = options(call, CONTROLLER);
    options.insert("type".to_owned(), json!(kind));
    set(Kind::Controller, id, options)
}

fn create_vnet(call: &Call<'_>) -> Done {
    let zone = call.param("zone").unwrap_or_default();
    need(call, &format!("/sdn/zones/{zone}"), "SDN.Allocate")?;
    let own = [("type", Rule::Word(&["vnet"]), false), ("vnet", Rule::Own(form::zone_id), true), ("zone", TEXT, true)];
    form::check(call, &[&own, VNET].concat())?;
    let vnet = call.param("vnet").unwrap_or_default();
    let action = "create sdn vnet object failed";
    guard(call, action, true)?;
    fresh(call, Kind::Vnet, vnet, action, "vnet")?;
    vnet_holds(call, vnet, zone, call.param("tag").map(str::to_owned), action)?;
    let mut options = options(call, VNET);
    options.insert("type".to_owned(), json!("vnet"));
    set(Kind::Vnet, vnet, options)
}

/// What is looked at of a VNet: its zone, and its tag among VNets. A VRF's VNI is not (§4).
fn vnet_holds(call: &Call<'_>, vnet: &str, zone: &str, tag: Option<String>, action: &str) -> Result<(), Answer> {
    let tree = &call.world.sdn.configured;
    let Some(kind) = tree.text(Kind::Zone, zone, "type") else {
        return Err(Answer::failed(&format!("{action}: cannot lookup undefined type!")));
    };
    if !matches!(kind.as_str(), "evpn" | "vxlan") {
        return Ok(());
    }
    if call.flag("vlanaware") {
        return Err(flat(action, "vlan-aware", "vlan aware vnets are not supported in this zone"));
    }
    let Some(tag) = tag else { return Err(flat(action, "tag", "missing vxlan tag")) };
    let tunnel =
        |zone: &str| tree.text(Kind::Zone, zone, "type").is_some_and(|kind| matches!(kind.as_str(), "evpn" | "vxlan"));
    for (other, _) in tree.of(Kind::Vnet).filter(|(other, _)| *other != vnet) {
        let its = tree.text(Kind::Vnet, other, "zone").unwrap_or_default();
        if tunnel(&its) && tree.text(Kind::Vnet, other, "tag").as_deref() == Some(tag.as_str()) {
            let text = format!("vxlan tag {tag} already exist in vnet {other} in zone {its} ");
            return Err(flat(action, "tag", &text));
        }
    }
    Ok(())
}

fn create_subnet(call: &Call<'_>, vnet: &str) -> Done {
    form::agrees(call, &[("vnet", vnet)])?;
    let Some(zone) = call.world.sdn.configured.text(Kind::Vnet, vnet, "zone") else {
        return Err(Answer::failed(&format!("sdn vnet '{vnet}' does not exist")));
    };
    need(call, &format!("/sdn/zones/{zone}/{vnet}"), "SDN.Allocate")?;
    let own =
        [("type", Rule::Word(&["subnet"]), true), ("subnet", Rule::Own(form::network), true), ("vnet", TEXT, false)];
    form::check(call, &[&own, SUBNET].concat())?;
    let cidr = call.param("subnet").unwrap_or_default();
    let action = "create sdn subnet object failed";
    guard(call, action, true)?;
    let id = format!("{zone}-{}", cidr.replace('/', "-"));
    fresh(call, Kind::Subnet, &id, action, "subnet")?;
    gateway_inside(call, cidr, action)?;
    let mut options = options(call, SUBNET);
    options.insert("type".to_owned(), json!("subnet"));
    options.insert("vnet".to_owned(), json!(vnet));
    set(Kind::Subnet, &id, options)
}

/// The gateway lies in its network, unless that is one address.
fn gateway_inside(call: &Call<'_>, cidr: &str, action: &str) -> Result<(), Answer> {
    let (Some(gateway), Ok(network)) = (call.param("gateway"), cidr.parse::<ipnet::IpNet>()) else { return Ok(()) };
    let inside = gateway.parse().is_ok_and(|gateway: std::net::IpAddr| network.contains(&gateway));
    if inside || network.prefix_len() == 32 {
        return Ok(());
    }
    Err(flat(action, "gateway", &format!("{gateway} is not in subnet {cidr}")))
}

fn update(call: &Call<'_>, place: &Place<'_>) -> Done {
    place.enter(call)?;
    let own = [("zone", TEXT, false), ("controller", TEXT, false), ("subnet", TEXT, false), ("vnet", TEXT, false)];
    let own: Vec<Parameter> =
        own.into_iter().filter(|(name, ..)| *name == place.word || place.vnet.is_some() && *name == "vnet").collect();
    form::check(call, &[place.options, &own, &[DELETE, DIGEST]].concat())?;
    let action = place.action("update");
    guard(call, &action, false)?;
    let tree = &call.world.sdn.configured;
    let Some(object) = tree.get(place.kind, place.id) else {
        return Err(Answer::failed(&format!("{action}: sdn '{}' does not exist", place.id)));
    };
    if call.param("digest").is_some_and(|digest| digest != tree.digest(place.kind)) {
        let text = "detected modified configuration - file changed by other user? Try again.";
        return Err(Answer::failed(&format!("{action}: {text}")));
    }
    let gone: Vec<&str> = call.param("delete").map_or_else(Vec::new, |list| list.split(',').collect());
    let options = options(call, place.options);
    removable(place, object, &options, &gone).map_err(|text| Answer::failed(&format!("{action}: {text}")))?;
    holds(call, place, &gone, &action)?;
    let mut act = Act::default();
    let (kind, id) = (place.kind, place.id.to_owned());
    let gone: Vec<String> = gone.into_iter().map(str::to_owned).collect();
    act.now(move |world, _| {
        world.sdn.set(kind, &id, options.clone());
        world.sdn.unset(kind, &id, &gone.iter().map(String::as_str).collect::<Vec<_>>());
    });
    Ok((Value::Null, act))
}

/// Whether these options can be removed.
fn removable(place: &Place<'_>, object: &Object, new: &Object, gone: &[&str]) -> Result<(), String> {
    let evpn = object.get("type").is_some_and(|kind| kind == "evpn");
    let needed: &[&str] = match place.kind {
        Kind::Zone if evpn => &["vrf-vxlan", "controller"],
        Kind::Vnet => &["zone"],
        Kind::Controller if evpn => &["asn"],
        _ => &[],
    };
    for name in gone {
        if needed.contains(name) {
            return Err(format!("unable to delete required option '{name}'"));
        }
        if !place.options.iter().any(|(key, ..)| key == name) {
            return Err(format!("no such option '{name}'"));
        }
        if new.contains_key(*name) {
            return Err(format!("cannot set and delete property '{name}' at the same time!"));
        }
    }
    Ok(())
}

/// What is looked at of a change.
fn holds(call: &Call<'_>, place: &Place<'_>, gone: &[&str], action: &str) -> Result<(), Answer> {
    let tree = &call.world.sdn.configured;
    match place.kind {
        Kind::Zone => evpn_zone(call, place.id, action),
        Kind::Vnet => {
            let zone = tree.text(Kind::Vnet, place.id, "zone").unwrap_or_default();
            let wanted = call.param("zone").unwrap_or(&zone);
            if wanted != zone && tree.subnets_of(place.id).next().is_some() {
                return Err(flat(action, "zone", "can't change zone if subnets exist"));
            }
            let tag = call.param("tag").map(str::to_owned);
            let kept = tree.text(Kind::Vnet, place.id, "tag").filter(|_| !gone.contains(&"tag"));
            vnet_holds(call, place.id, wanted, tag.or(kept), action)
        }
        Kind::Subnet => {
            let (_, network, mask) = subnet_parts(place.id).unwrap_or_default();
            gateway_inside(call, &format!("{network}/{mask}"), action)
        }
        _ => Ok(()),
    }
}

fn delete(call: &Call<'_>, place: &Place<'_>) -> Done {
    place.enter(call)?;
    form::check(call, &[TOKEN])?;
    let action = place.action("delete");
    guard(call, &action, false)?;
    let tree = &call.world.sdn.configured;
    // A subnet that is not there is removed all the same (§4).
    if tree.get(place.kind, place.id).is_none() && place.kind != Kind::Subnet {
        return Err(Answer::failed(&format!("{action}: sdn '{}' does not exist", place.id)));
    }
    let id = place.id;
    let of = |file: &str, line: u32| format!("at /usr/share/perl5/PVE/Network/SDN/{file} line {line}.");
    match place.kind {
        Kind::Vnet if tree.subnets_of(id).next().is_some() => {
            return Err(flat(&action, "vnet", "Can't delete vnet if subnets exists"));
        }
        Kind::Zone => {
            if let Some(vnet) = tree.vnets_of(id).next() {
                let at = of("Zones/Plugin.pm", 149);
                return Err(Answer::failed(&format!("{action}: zone {id} is used by vnet {vnet} {at}")));
            }
        }
        Kind::Controller => {
            let user = tree.of(Kind::Zone).find(|(_, zone)| zone.get("controller").is_some_and(|c| c == id));
            if let Some((zone, _)) = user {
                let at = of("Controllers/EvpnPlugin.pm", 476);
                return Err(Answer::failed(&format!("{action}: controller {id} is used by {zone} {at}")));
            }
        }
        _ => {}
    }
    let mut act = Act::default();
    let (kind, id) = (place.kind, id.to_owned());
    act.now(move |world, _| world.sdn.delete(kind, &id));
    Ok((Value::Null, act))
}
