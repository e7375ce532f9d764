//! PowerDNS, its DNS port, and the resolvers.

use super::super::facts::{Asked, Facts, FaultKind, PowerDnsApi, PowerDnsFacts, Tried};
use super::super::{Check, Source, State, rights};
use super::{failed, millis, service};
use crate::backends::dns::{Rcode, RecordType};
use crate::site::Site;

/// Oldest PowerDNS whose API is read here.
const OLDEST: (u32, u32) = (4, 7);

pub(super) fn powerdns(site: &Site, facts: &PowerDnsFacts) -> Source {
    let mut checks = Vec::new();
    let mut target = site.powerdns.as_ref().map(|dns| dns.dns.to_string()).unwrap_or_default();
    match &facts.api {
        Some(api) => {
            target = format!("{}, {target}", api.service.origin);
            checks.extend(self::api(api));
        }
        None => {
            checks.push(Check::new("API", State::Off, "mode dns-only: lists and metadata stay unknown"));
        }
    }
    checks.push(authority(&facts.authority));
    super::source("dns", target, facts.took, checks)
}

fn api(api: &PowerDnsApi) -> Vec<Check> {
    // A host that is not let in is told by the API's own check, with the lines that let it in.
    let turned_away = matches!(&api.server, Tried::Failed(f) if f.kind == FaultKind::Host);
    let mut checks = service::checks(&api.service);
    checks.retain(|check| !(turned_away && check.what == "answer"));
    if let (Some(destination), Tried::Got(_)) = (&api.tunnel, &api.server) {
        checks.retain(|check| check.what != "reach");
        checks.push(Check::ok("tunnel", format!("through {destination}")));
    }
    checks.extend(credential(api));
    checks.extend(version(api));
    checks.extend(updates(api));
    checks.extend(failed("zones", &api.zones).or_else(|| {
        let count = api.zones.got().map_or(0, Vec::len);
        Some(Check::ok("zones", format!("{count} listed")))
    }));
    checks
}

fn credential(api: &PowerDnsApi) -> Option<Check> {
    let fault = match &api.server {
        Tried::Got(_) => return Some(Check::ok("key", "the key is accepted")),
        Tried::NotRun(why) => return Some(Check::new("key", State::NotRun, why.clone())),
        Tried::Failed(fault) => fault,
    };
    let mut check = fault.check("key");
    let lines = rights::pdns_api(api.from);
    let with = |names: &[&str]| {
        let wanted = lines.iter().filter(|line| names.iter().any(|name| line.starts_with(&format!("{name}="))));
        wanted.cloned().collect::<Vec<_>>()
    };
    let wanted: &[&str] = match fault.kind {
        FaultKind::Credential => &["api-key"],
        FaultKind::Host => &["webserver-allow-from"],
        FaultKind::NotOffered => &["api", "api-key"],
        FaultKind::NoAnswer if api.tunnel.is_none() => {
            &["webserver", "webserver-address", "webserver-allow-from", "api", "api-key"]
        }
        _ => &[],
    };
    if matches!(fault.kind, FaultKind::Host | FaultKind::NotOffered) {
        check.state = State::Fault;
    }
    check.commands = with(wanted);
    if !check.commands.is_empty() {
        check.help = Some(format!("{} In pdns.conf, then `systemctl restart pdns`:", fault.help));
    }
    Some(check)
}

fn version(api: &PowerDnsApi) -> Option<Check> {
    let server = api.server.got()?;
    let told = format!("PowerDNS {}", server.version.text);
    if server.daemon.as_deref().is_some_and(|daemon| daemon != "authoritative") {
        let check = Check::new("version", State::Fault, format!("{told} is no authoritative server"));
        return Some(check.help("Point url in [powerdns] to the authoritative server."));
    }
    let mut numbers = server.version.text.split(['.', '-']).map(|part| part.parse::<u32>().ok());
    let number = numbers.next().flatten().zip(numbers.next().flatten());
    Some(match number {
        Some(number) if number < OLDEST => Check::new("version", State::Warning, format!("{told} is older than 4.7"))
            .help("Update it; what this version does not tell stays unknown."),
        _ => Check::ok("version", told),
    })
}

/// Whether tenants can send updates at all; the console itself only reads.
fn updates(api: &PowerDnsApi) -> Option<Check> {
    let settings = api.settings.got()?;
    let evidence = |name: &str| settings.get(name).map(|value| format!("{name}={}", crate::text::clean(value)));
    match settings.flag("dnsupdate") {
        Some(true) => {
            let networks = settings.get("allow-dnsupdate-from").unwrap_or_default();
            let wide = networks.contains("0.0.0.0/0") || networks.contains("::/0");
            Some(match wide {
                true => Check::new("updates", State::Warning, "every zone takes updates from anywhere")
                    .evidence(evidence("allow-dnsupdate-from").unwrap_or_default())
                    .help("In pdns.conf; who may update is then said zone by zone:")
                    .commands(rights::PDNS_UPDATES.map(str::to_owned)),
                false => Check::ok("updates", "switched on"),
            })
        }
        Some(false) => Some(
            Check::new("updates", State::Warning, "dynamic updates are switched off: tenants cannot publish names")
                .evidence("dnsupdate=no")
                .help("In pdns.conf, then `systemctl restart pdns`:")
                .commands(rights::PDNS_UPDATES.map(str::to_owned)),
        ),
        None => Some(Check::new("updates", State::Unknown, "the server does not tell whether it takes updates")),
    }
}

fn authority(asked: &[Asked]) -> Check {
    let Some(first) = asked.first() else {
        return Check::new("authority", State::NotRun, "the site's domain cannot be asked for");
    };
    let Some(answer) = first.answer.got() else {
        return failed("authority", &first.answer).unwrap_or_else(|| Check::ok("authority", "answers"));
    };
    let mut evidence = Vec::new();
    for one in asked {
        if let Some(answer) = one.answer.got() {
            evidence.push(format!("{} SOA: {} in {}", one.name, answer.rcode, millis(answer.took)));
            if !answer.values(RecordType::SOA).is_empty() && answer.rcode == Rcode::NOERROR {
                return Check { evidence, ..Check::ok("authority", format!("answers for {}", one.name)) };
            }
        }
    }
    // It answers; whether for anything of the site, nobody here knows.
    let text = format!("{} for {}, and no zone of the site is known to ask for", answer.rcode, first.name);
    let check = Check::new("authority", State::Unknown, text);
    Check { evidence, ..check }.help("Is dns in [powerdns] the authoritative server of the tenants' zones?")
}

pub(super) fn resolvers(site: &Site, facts: &Facts) -> Source {
    let mut checks = Vec::new();
    if site.resolvers.is_none() {
        checks.push(Check::new("perimeter", State::Off, "the site file has no [resolvers]"));
    }
    let mut took = std::time::Duration::ZERO;
    let mut targets = Vec::new();
    for (who, asked) in &facts.resolvers {
        if let Some(server) = asked.server {
            targets.push(server.to_string());
        }
        took = took.max(asked.answer.got().map_or(took, |a| a.took));
        checks.push(resolver(who, asked));
    }
    super::source("resolvers", targets.join(", "), took, checks)
}

pub(super) fn resolver(who: &'static str, asked: &Asked) -> Check {
    let answer = match &asked.answer {
        Tried::Got(answer) => answer,
        // The console does without this host's own resolver, which is one column of `resolve`.
        Tried::Failed(fault) if who == "this host" => {
            return Check { state: State::Unknown, ..fault.check(who) };
        }
        other => return failed(who, other).unwrap_or_else(|| Check::ok(who, "answers")),
    };
    let evidence = format!("{} SOA: {} in {}", asked.name, answer.rcode, millis(answer.took));
    match answer.rcode {
        // The host's own resolver need not know the site.
        Rcode::NOERROR | Rcode::NXDOMAIN => Check::ok(who, "answers").evidence(evidence),
        Rcode::REFUSED => Check::new(who, State::Fault, "refuses to answer this host")
            .evidence(evidence)
            .help("OPNsense: Services → Unbound DNS → Access Lists, allow the network of this host:")
            .commands(["access-control: THIS-NETWORK allow".to_owned()]),
        rcode => Check::new(who, State::Unknown, format!("answers {rcode} for {}", asked.name))
            .evidence(evidence)
            .help("Ask it for a name by hand; `resolve` compares it with the other servers."),
    }
}
