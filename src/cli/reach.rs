//! `reach TENANT ADDRESS[:PORT]`: one address, tried from inside the tenant's VRF.

use std::io::Write;
use std::net::Ipv4Addr;

use serde_json::json;

use super::args::{Format, Global, ReachArgs};
use super::check::there;
use super::{Code, Failure, open, print, verdict};
use crate::diagnose::collect::reach::{Ended, From, MISSES, Step, Target, reach, untold};
use crate::diagnose::collect::{Check, Sink, Wanted};
use crate::inventory::Class;
use crate::inventory::feed::Clients;
use crate::runtime::clock;

/// Runs the verb.
pub(super) fn run(global: &Global, request: &ReachArgs) -> Result<Code, Failure> {
    let (address, port) = parse(&request.target).ok_or_else(|| {
        Failure::usage(
            format!("{} is no IPv4 address with an optional port", request.target),
            "write it like 192.0.2.10 or 192.0.2.10:443",
        )
    })?;
    let site = open::site(global)?;
    let target = Target { tenant: request.tenant.to_string(), address, port };
    let sink = Sink::new(clock::system());
    let found = open::runtime()?.block_on(async {
        let clients = Clients::connect(&site).await;
        reach(&site, &clients, &target, &sink).await
    });
    let untold = untold(&sink.evidence(None)).filter(|_| found.is_empty());
    if found.is_empty() {
        there(&sink.evidence(None), &Wanted::of(Check::Isolation, Some(&target.tenant)), &site)?;
    }
    if found.is_empty() {
        let tenant = &target.tenant;
        open::note(&match &untold {
            Some(why) => format!("which subnet and exit node tenant {tenant} has is unknown: {why}"),
            None => format!("tenant {tenant} has no subnet in force with an exit node, as far as could be read"),
        });
    }
    show(&mut std::io::stdout(), &target, (&found, untold.as_deref()), request.output)
}

fn parse(text: &str) -> Option<(Ipv4Addr, Option<u16>)> {
    match text.split_once(':') {
        None => Some((text.parse().ok()?, None)),
        Some((address, port)) => Some((address.parse().ok()?, Some(port.parse().ok().filter(|port| *port > 0)?))),
    }
}

fn show(
    out: &mut dyn Write,
    target: &Target,
    (found, untold): (&[From], Option<&str>),
    format: Format,
) -> Result<Code, Failure> {
    let printed = if format == Format::Table {
        found.iter().try_for_each(|from| people(out, target, from))
    } else {
        let document = json!({
            "schema": "deevnet-console/reach/v1",
            "tenant": target.tenant,
            "address": target.address.to_string(),
            "port": target.port,
            "from": found,
            "unknown": untold,
            "misses": MISSES,
        });
        print::document(out, &document, format)
    };
    verdict(printed, code(found))
}

/// Reached from everywhere, not reached from somewhere, or unknown.
fn code(found: &[From]) -> Code {
    let any = |ended| found.iter().any(|from| from.ended() == ended);
    if any(Ended::Failed) {
        Code::Found
    } else if found.is_empty() || any(Ended::Unknown) {
        Code::Unknown
    } else {
        Code::Ok
    }
}

fn people(out: &mut dyn Write, target: &Target, from: &From) -> Result<(), Failure> {
    let glyphs = print::glyphs();
    writeln!(out, "{} {}", from.node, from.vrf)?;
    let tcp = format!("tcp {}", target.port.unwrap_or_default());
    let steps = [("lookup", Some(&from.lookup)), ("ping", Some(&from.ping)), (tcp.as_str(), from.tcp.as_ref())];
    for (name, Step { ended, text, command }) in steps.into_iter().filter_map(|(name, step)| Some((name, step?))) {
        let class = match ended {
            Ended::Reached => Class::Fine,
            Ended::Failed => Class::Fault,
            Ended::Unknown => Class::Unknown,
        };
        writeln!(out, "  {} {name:<10} {text}", glyphs.of(class))?;
        if !command.is_empty() {
            writeln!(out, "    $ {command}")?;
        }
    }
    writeln!(out, "  {MISSES}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(ping: Ended, tcp: Option<Ended>) -> From {
        let step = |ended| Step { ended, text: String::new(), command: String::new() };
        let (node, vrf) = ("hv".to_owned(), "vrf_shop".to_owned());
        From { node, vrf, lookup: step(Ended::Reached), ping: step(ping), tcp: tcp.map(step) }
    }

    #[test]
    fn an_address_has_an_optional_port() {
        let ip = Ipv4Addr::new(192, 0, 2, 1);
        assert_eq!(parse("192.0.2.1"), Some((ip, None)));
        assert_eq!(parse("192.0.2.1:443"), Some((ip, Some(443))));
        for bad in ["192.0.2.1:0", "192.0.2.1:", "192.0.2.1:99999", "web", "::1"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_port_decides_where_there_is_one() {
        use Ended::{Failed, Reached, Unknown};
        assert_eq!(code(&[from(Reached, None)]), Code::Ok);
        assert_eq!(code(&[from(Failed, Some(Reached))]), Code::Ok);
        assert_eq!(code(&[from(Reached, Some(Failed))]), Code::Found);
        assert_eq!(code(&[from(Reached, None), from(Unknown, None)]), Code::Unknown);
        assert_eq!(code(&[from(Failed, None), from(Unknown, None)]), Code::Found);
        assert_eq!(code(&[]), Code::Unknown);
    }
}
