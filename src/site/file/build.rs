//! From checked values to a [`Site`], with the rules that concern more than one value.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::keys;
use super::reader::{Fields, Reader};
use super::report::Problem;
use super::text_of;
use super::values::{Aliases, DNS_PORT, Origin};
use crate::site::model::{
    BootstrapSite, ExitNodeSite, NumberingPlan, OpnsenseSite, PowerDnsMode, PowerDnsSite, ProxmoxSite, RegistrySite,
    ResolversSite, Site, Trust,
};

/// What the rules add to what the reader found.
#[derive(Default)]
struct Findings {
    problems: Vec<Problem>,
    warnings: Vec<String>,
}

/// The site, as far as everything it needs is there. What is wrong ends up in the reader.
pub(crate) fn site(reader: &mut Reader<'_>) -> Option<Site> {
    conditional_keys(reader);
    let mut findings = Findings::default();
    let site = assemble(reader, &mut findings);
    reader.problems.append(&mut findings.problems);
    site.map(|site| Site { warnings: findings.warnings, ..site })
}

fn assemble(reader: &Reader<'_>, findings: &mut Findings) -> Option<Site> {
    let one = |name| reader.sections(name).next();
    // Every section is looked at before the first `?`, so that all problems are found.
    let general = one("site");
    let aliases = general.and_then(|fields| aliases(reader, fields, findings));
    let numbering = one("numbering").and_then(|fields| numbering(fields, general, findings));
    let proxmox = one("proxmox").map(|fields| proxmox(fields, findings));
    let exit_nodes = exit_nodes(reader, findings);
    let powerdns = one("powerdns").map(|fields| powerdns(fields, findings));
    let opnsense = one("opnsense").map(|fields| opnsense(fields, &exit_nodes, findings));
    let resolvers = one("resolvers").map(resolvers);
    let bootstrap = one("bootstrap").map(|fields| bootstrap(fields, findings));
    let registry = one("registry").map(|fields| registry(fields, findings));
    let general = general?;
    Some(Site {
        name: general.get("name")?,
        domain: general.get("domain")?,
        octet: numbering.as_ref()?.octet,
        read_only: general.get("read_only")?,
        aliases: aliases?,
        numbering: numbering?,
        proxmox: proxmox??,
        exit_nodes: exit_nodes?,
        powerdns: whole(powerdns)?,
        opnsense: whole(opnsense)?,
        resolvers: whole(resolvers)?,
        internet: one("probes").and_then(|fields| fields.get("internet")),
        bootstrap: whole(bootstrap)?,
        registry: whole(registry)?,
        state_dir: one("state").and_then(|fields| fields.get("dir")),
        warnings: Vec::new(),
        redacted: std::sync::Arc::from(""),
    })
}

/// A section that is absent is `Some(None)`; one that is present but not whole is `None`.
fn whole<T>(section: Option<Option<T>>) -> Option<Option<T>> {
    section.map_or(Some(None), |section| section.map(Some))
}

/// Keys that are required because of what another key says.
fn conditional_keys(reader: &mut Reader<'_>) {
    let absent: Vec<_> = ["powerdns", "bootstrap"]
        .into_iter()
        .filter_map(|section| reader.sections(section).next().map(|fields| (section, fields)))
        .map(|(section, fields)| (fields, keys::wanted(section, |key| fields.get(key), |key| fields.was_given(key))))
        .flat_map(|(fields, wanted)| wanted.iter().map(move |key| (fields, key)))
        .filter(|(fields, key)| !fields.was_given(key))
        .map(|(fields, key)| (fields.section, key))
        .collect();
    for (section, key) in absent {
        reader.missing(section, key);
    }
}

fn aliases(reader: &Reader<'_>, fields: &Fields, findings: &mut Findings) -> Option<BTreeMap<String, String>> {
    let aliases: Aliases = fields.get("aliases")?;
    let nodes: Vec<String> = (reader.sections("proxmox").filter_map(|fields| fields.get("node")))
        .chain(reader.sections("exit_node").filter_map(|fields| fields.get("name")))
        .collect();
    for (alias, (span, name)) in &aliases {
        let (a, n) = (text_of(alias), text_of(name));
        let (message, help) = if alias == name {
            (format!("the alias `{a}` stands for itself"), "leave it out")
        } else if nodes.contains(alias) {
            (format!("the alias `{a}` hides the node of that name"), "turn it round: the node's name is the value")
        } else if aliases.contains_key(name) {
            (
                format!("the alias `{a}` stands for `{n}`, which is an alias too"),
                "give the name of the node or host itself",
            )
        } else {
            continue;
        };
        findings.problems.push(Problem::new(message).at(span.clone()).help(help));
    }
    Some(aliases.into_iter().map(|(alias, (_, name))| (alias, name)).collect())
}

fn unsigned(fields: &Fields, key: &str) -> Option<u32> {
    fields.get::<i64>(key).and_then(|value| u32::try_from(value).ok())
}

fn numbering(fields: &Fields, general: Option<&Fields>, findings: &mut Findings) -> Option<NumberingPlan> {
    let general = general?;
    let plan = NumberingPlan {
        octet: general.get::<i64>("octet").and_then(|octet| u8::try_from(octet).ok())?,
        vrf_vni_base: unsigned(fields, "vrf_vni_base")?,
        vnet_vni_base: unsigned(fields, "vnet_vni_base")?,
        overlay: fields.get("overlay")?,
        asn: unsigned(fields, "asn")?,
        vmid_base: unsigned(fields, "vmid_base")?,
        vmids_per_tenant: unsigned(fields, "vmids_per_tenant")?,
        reserved_names: fields.get("reserved_names")?,
    };
    for problem in plan.check() {
        let span =
            fields.span_of(problem.key).or_else(|| general.span_of(problem.key)).unwrap_or_else(|| fields.span.clone());
        findings.problems.push(Problem::new(problem.message.clone()).at(span).help(problem.help()));
    }
    if !plan.overlay_matches_octet() {
        let (overlay, octet) = (plan.overlay, plan.octet);
        findings.warnings.push(format!("[numbering] overlay {overlay} lies outside of the site's 10.{octet}.0.0/16"));
    }
    Some(plan)
}

/// Origin and trust of a section that has the keys `url`, `ca_file`, `fingerprint` and `plaintext`.
fn service(fields: &Fields, findings: &mut Findings) -> Option<(String, Trust)> {
    let origin: Origin = fields.get("url")?;
    let title = fields.section.title();
    let (ca_file, fingerprint) = (fields.get("ca_file"), fields.get("fingerprint"));
    let span = |key| fields.span_of(key).unwrap_or_else(|| fields.span.clone());
    if !origin.tls {
        if let Some(key) = ["ca_file", "fingerprint"].into_iter().find(|key| fields.was_given(key)) {
            let problem = Problem::new(format!("`{key}` has no use with http://")).at(span(key));
            findings.problems.push(problem.help("write https:// in `url`, or leave the key out"));
        }
        if origin.loopback {
            return Some((origin.text, Trust::Plaintext));
        }
        if fields.get("plaintext") == Some(true) {
            let what = format!("{title} {} is spoken to in plain text: secrets can be read on the way", origin.text);
            findings.warnings.push(what);
        } else if !fields.was_given("plaintext") || fields.get("plaintext") == Some(false) {
            let problem = Problem::new("http:// to an address that is not loopback sends secrets in plain text");
            let help = format!("write https://, or accept it with `plaintext = true` in {title}");
            findings.problems.push(problem.at(span("url")).help(help));
        }
        return Some((origin.text, Trust::Plaintext));
    }
    let trust = match (ca_file, fingerprint) {
        (Some(_), Some(_)) => {
            let problem = Problem::new("`ca_file` and `fingerprint` exclude each other").at(span("fingerprint"));
            findings
                .problems
                .push(problem.help("keep the fingerprint to pin one certificate, the file to trust an authority"));
            Trust::System
        }
        (Some(file), None) => Trust::CaFile(file),
        (None, Some(fingerprint)) => Trust::Fingerprint(fingerprint),
        (None, None) => Trust::System,
    };
    Some((origin.text, trust))
}

fn proxmox(fields: &Fields, findings: &mut Findings) -> Option<ProxmoxSite> {
    let (url, trust) = service(fields, findings)?;
    Some(ProxmoxSite {
        url,
        token: fields.get("token")?,
        trust,
        node: fields.get("node")?,
        controller: fields.get("controller")?,
        fabric: fields.get("fabric"),
        template_prefix: fields.get("template_prefix"),
        storage: fields.get("storage"),
        login_user: fields.get("login_user"),
    })
}

fn exit_nodes(reader: &Reader<'_>, findings: &mut Findings) -> Option<Vec<ExitNodeSite>> {
    let nodes: Vec<_> = reader.sections("exit_node").map(|fields| (fields, exit_node(fields, findings))).collect();
    for (i, (fields, _)) in nodes.iter().enumerate() {
        let name: Option<String> = fields.get("name");
        if name.is_some() && nodes.iter().take(i).any(|(earlier, _)| earlier.get::<String>("name") == name) {
            let problem = Problem::new("an exit node of this name is described above");
            let span = fields.span_of("name").unwrap_or_else(|| fields.span.clone());
            findings.problems.push(problem.at(span).help("describe each node once"));
        }
    }
    nodes.into_iter().map(|(_, node)| node).collect()
}

fn exit_node(fields: &Fields, findings: &mut Findings) -> Option<ExitNodeSite> {
    let node = ExitNodeSite {
        name: fields.get("name")?,
        transport: fields.get("transport")?,
        transit_interface: fields.get("transit_interface")?,
        transit_address: fields.get("transit_address")?,
        transit_gateway: fields.get("transit_gateway")?,
        egress_apply: fields.get("egress_apply"),
        egress_install: fields.get("egress_install").unwrap_or(false),
    };
    if node.transit_address == node.transit_gateway {
        let problem = Problem::new("the node and its gateway cannot have the same address");
        let span = fields.span_of("transit_gateway").unwrap_or_else(|| fields.span.clone());
        findings
            .problems
            .push(problem.at(span).help("transit_gateway is the perimeter's address on the transit segment"));
    }
    Some(node)
}

fn powerdns(fields: &Fields, findings: &mut Findings) -> Option<PowerDnsSite> {
    let mode = match fields.get::<String>("mode")?.as_str() {
        "api" => PowerDnsMode::Api,
        "tunnel" => PowerDnsMode::Tunnel,
        _ => PowerDnsMode::DnsOnly,
    };
    let (url, trust) = match service(fields, findings) {
        Some((url, trust)) => (Some(url), trust),
        None => (None, Trust::System),
    };
    Some(PowerDnsSite {
        mode,
        url,
        trust,
        api_key: fields.get("api_key"),
        tunnel: fields.get("tunnel"),
        dns: fields.get("dns")?,
        nameserver: fields.get("nameserver"),
        update_networks: fields.get("update_networks")?,
    })
}

fn opnsense(fields: &Fields, nodes: &Option<Vec<ExitNodeSite>>, findings: &mut Findings) -> Option<OpnsenseSite> {
    let (url, trust) = service(fields, findings)?;
    let site = OpnsenseSite {
        url,
        key: fields.get("key")?,
        secret: fields.get("secret")?,
        trust,
        transit: fields.get("transit")?,
    };
    for node in nodes.iter().flatten().filter(|node| !site.transit.contains(&node.transit_address)) {
        let (name, address, transit) = (text_of(&node.name), node.transit_address, site.transit);
        findings.warnings.push(format!("[opnsense] transit {transit} does not hold {address} of the exit node {name}"));
    }
    Some(site)
}

fn resolvers(fields: &Fields) -> Option<ResolversSite> {
    let perimeter = fields.get("perimeter")?;
    let ask = fields.get("ask").unwrap_or(SocketAddr::new(perimeter, DNS_PORT));
    Some(ResolversSite { perimeter, ask, substrate: fields.get("substrate") })
}

fn bootstrap(fields: &Fields, findings: &mut Findings) -> Option<BootstrapSite> {
    if !fields.was_given("file") {
        let (url, trust) = service(fields, findings)?;
        return Some(BootstrapSite::Api { url, trust, credential: fields.get("credential")? });
    }
    for key in ["url", "ca_file", "fingerprint", "plaintext", "credential"] {
        if let Some(span) = fields.span_of(key).filter(|_| fields.was_given(key)) {
            let problem = Problem::new(format!("`{key}` and `file` exclude each other")).at(span);
            findings.problems.push(problem.help("keep `file` to read a file of records, `url` to ask a service"));
        }
    }
    Some(BootstrapSite::File(fields.get("file")?))
}

fn registry(fields: &Fields, findings: &mut Findings) -> Option<RegistrySite> {
    let (url, trust) = service(fields, findings)?;
    Some(RegistrySite { url, trust, token: fields.get("token")? })
}
