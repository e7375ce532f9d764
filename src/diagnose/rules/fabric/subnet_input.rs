//! A subnet's values that do not fit its network.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::super::{Out, Rule};
use crate::backends::proxmox::Error;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "subnet-input-invalid",
    layer: Layer::Fabric,
    severity: Severity::Fault,
    says: "A subnet was refused for one of its values: the network is written with a host's address, or the gateway or the range \
           of addresses is outside it. What would fit is the same host in the network that was meant.",
    reads: "the refusals, the parameters they name and what was sent",
    unlike: &[("subnet-overlap", "the values fit, and another subnet has the network")],
    explains: &[],
    judge,
};

/// The host that `address` stands for, in `net`.
fn inside(net: Ipv4Net, address: Ipv4Addr) -> Ipv4Addr {
    let mask = u32::from(net.netmask());
    Ipv4Addr::from(u32::from(net.network()) | (u32::from(address) & !mask))
}

/// What is wrong in what was sent: field, value, what would fit.
fn misfits(form: &BTreeMap<String, String>) -> Vec<(&'static str, String, String)> {
    let mut out = Vec::new();
    let Some(net) = form.get("subnet").and_then(|subnet| subnet.parse::<Ipv4Net>().ok()) else { return out };
    if net != net.trunc() {
        out.push(("subnet", net.to_string(), net.trunc().to_string()));
    }
    let mut check = |field, value: &str| {
        if let Some(address) = value.parse::<Ipv4Addr>().ok().filter(|address| !net.contains(address)) {
            out.push((field, address.to_string(), inside(net, address).to_string()));
        }
    };
    form.get("gateway").into_iter().for_each(|gateway| check("gateway", gateway));
    let range = form.get("dhcp-range").map(String::as_str).unwrap_or_default();
    for (key, value) in range.split(',').filter_map(|part| part.split_once('=')) {
        match key {
            "start-address" => check("start-address", value),
            "end-address" => check("end-address", value),
            _ => {}
        }
    }
    out
}

const fn step(field: &str) -> &'static str {
    match field.as_bytes() {
        b"subnet" => "use-network",
        b"gateway" => "use-gateway",
        _ => "use-range",
    }
}

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let mut all: Vec<(&str, String, String, &str)> = Vec::new();
    let mut vnet = "";
    let subnets = facts.calls.of(Api::Proxmox).filter(|call| call.writes());
    for call in subnets.filter(|call| call.http.asks(Api::Proxmox, "cluster/sdn/vnets/*/subnets")) {
        let Some(Error::BadParameters { errors, .. }) = call.proxmox() else { continue };
        let wrong = misfits(&call.form());
        if wrong.is_empty() {
            let named: Vec<&str> = errors.keys().map(String::as_str).collect();
            out.unknown(format!("what was sent as {} of a subnet and refused", named.join(", ")), None);
        }
        vnet = call.http.segment(3);
        for (field, value, fits) in wrong {
            if !all.iter().any(|(known, have, ..)| *known == field && *have == value) {
                all.push((field, value, fits, &call.file));
            }
        }
    }
    if all.is_empty() {
        return;
    }
    let words: Vec<String> =
        all.iter().map(|(field, value, fits, _)| format!("{field} {value} (it takes {fits})")).collect();
    let title = format!("The subnet of {vnet} was refused for {}.", words.join(", "));
    let mut finding = out.finding(Subject::new("vnet", vnet), title).affects([vnet]);
    for (field, value, fits, file) in &all {
        finding = finding
            .fact("parameter.refused", *field, value)
            .fact("parameter.fits", *field, fits)
            .resting_on(file)
            .next(step(field), 0, format!("send {fits} as {field}"));
    }
    out.found(finding);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_host_in_the_network_that_was_meant() {
        let form = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let of = |pairs: &[(&str, &str)]| {
            misfits(&form(pairs)).into_iter().map(|(f, _, fits)| (f, fits)).collect::<Vec<_>>()
        };
        assert_eq!(
            of(&[("subnet", "192.0.2.9/24"), ("gateway", "192.0.2.1")]),
            [("subnet", "192.0.2.0/24".to_owned())]
        );
        let range = "start-address=198.51.100.40,end-address=192.0.2.90";
        let wrong = of(&[("subnet", "192.0.2.0/24"), ("gateway", "198.51.100.7"), ("dhcp-range", range)]);
        assert_eq!(wrong, [("gateway", "192.0.2.7".to_owned()), ("start-address", "192.0.2.40".to_owned())]);
        assert_eq!(of(&[("subnet", "192.0.2.0/24"), ("gateway", "192.0.2.1")]), []);
    }
}
