//! What every HTTP service has: secrets, a name, a port, a certificate, a clock.

use super::super::facts::{SecretFacts, ServiceFacts, Tried};
use super::super::{Check, SKEW_S, Source, State, TSIG_FUDGE_S};
use super::{failed, millis, source};
use crate::backends::http::{Certificate, ClockSeen, HttpError, Kind, Look, TlsFault, TlsSeen, fingerprint_text};
use crate::site::model::Trust;

/// The checks before anybody logs in.
pub(super) fn checks(service: &ServiceFacts) -> Vec<Check> {
    let mut checks: Vec<Check> = service.secrets.iter().map(secret).collect();
    let look = match &service.look {
        Tried::Got(look) => look,
        other => {
            checks.extend(failed("reach", other));
            return checks;
        }
    };
    checks.extend(name(service, look));
    checks.extend(reach(service, look));
    checks.extend(tls(service, look));
    checks.extend(answer(service, look));
    checks
}

/// A service whose API is not spoken here.
pub(super) fn alone(name: &str, service: &ServiceFacts) -> Source {
    let mut checks = checks(service);
    let seen = service.look.got().and_then(|look| look.http.as_ref()?.as_ref().ok());
    if let Some(seen) = seen {
        let state = if seen.status >= 500 { State::Warning } else { State::Ok };
        checks.push(Check::new("status", state, format!("HTTP {} to GET /", seen.status)));
        checks.push(Check::new("credential", State::Off, "not sent: only the way there is checked"));
    }
    source(name, service.origin.clone(), service.took, checks)
}

pub(super) fn secret(seen: &SecretFacts) -> Check {
    match &seen.fault {
        None => Check::ok("secret", seen.key).evidence(format!("{} from {}", seen.key, seen.source)),
        Some(fault) => {
            let check = fault.check("secret");
            let text = format!("{}: {}", seen.key, check.text);
            Check { text, ..check }
        }
    }
}

fn kind(what: &'static str, service: &ServiceFacts, kind: &Kind) -> Check {
    let error = HttpError { origin: service.origin.clone(), kind: kind.clone() };
    let mut check = Check::new(what, State::Fault, kind.to_string()).help(error.help());
    check.configuration = matches!(kind, Kind::Setup(_));
    check
}

fn name(service: &ServiceFacts, look: &Look) -> Option<Check> {
    Some(match look.lookup.as_ref()? {
        Err(why) => kind("name", service, why),
        Ok(found) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            Check::ok("name", found.join(", "))
        }
    })
}

fn reach(service: &ServiceFacts, look: &Look) -> Option<Check> {
    Some(match look.connect.as_ref()? {
        Ok(took) => Check::ok("reach", millis(*took)),
        Err(why) => kind("reach", service, why),
    })
}

fn tls(service: &ServiceFacts, look: &Look) -> Option<Check> {
    if service.trust == Trust::Plaintext {
        let reached = matches!(look.connect, Some(Ok(_)));
        return reached.then(|| plaintext(&service.origin));
    }
    let seen = match look.tls.as_ref()? {
        Ok(seen) => seen,
        Err(why) => return Some(kind("TLS", service, why)),
    };
    let check = match &seen.verdict {
        Ok(()) => Check::ok("TLS", trusted(&service.trust)),
        Err(Kind::Tls(TlsFault::PinMismatch { expected, seen: got })) => Check::new(
            "TLS",
            State::Fault,
            "the certificate is not the pinned one",
        )
        .evidence(format!("pinned   {}", fingerprint_text(expected)))
        .evidence(format!("presented {}", fingerprint_text(got)))
        .help("Compare with what the server itself says; change `fingerprint` in the site file only if they agree.")
        .commands([fingerprint_command(service.section)]),
        Err(why) => untrusted(service, seen, why, look),
    };
    Some(described(check, &seen.certificate))
}

fn untrusted(service: &ServiceFacts, seen: &TlsSeen, why: &Kind, look: &Look) -> Check {
    let mut check = kind("TLS", service, why);
    match why {
        Kind::Tls(TlsFault::UnknownIssuer) => {
            check.text = match seen.certificate.is_self_issued() {
                true => "the certificate is signed by itself".to_owned(),
                false => "the certificate is signed by an unknown issuer".to_owned(),
            };
            check.help = Some(
                "Compare the fingerprint with what the server itself says, then pin it, or name the CA with ca_file."
                    .to_owned(),
            );
            check.commands = vec![
                fingerprint_command(service.section),
                format!("fingerprint = \"{}\"", fingerprint_text(&seen.certificate.sha256)),
            ];
        }
        Kind::Tls(TlsFault::NotYetValid | TlsFault::Expired) => {
            let clock = look.http.as_ref().and_then(|http| http.as_ref().ok()).and_then(|http| http.clock);
            if let Some(clock) = clock {
                let told = format!("this host's clock {:.0}, the server's {:.0}", clock.ours.1, clock.theirs);
                check = check.evidence(told);
            }
        }
        _ => {}
    }
    check
}

/// What prints a certificate's fingerprint on the server itself, where nobody is in between. `what` is the section of the
/// site file.
#[must_use]
pub fn fingerprint_command(what: &str) -> String {
    let file = match what {
        "proxmox" => "/etc/pve/local/pve-ssl.pem",
        "opnsense" => "/var/etc/cert.pem",
        _ => "CERTIFICATE.pem",
    };
    format!("openssl x509 -noout -fingerprint -sha256 -in {file}")
}

fn trusted(trust: &Trust) -> String {
    match trust {
        Trust::System => "trusted by this host's store".to_owned(),
        Trust::CaFile(_) => "signed by ca_file".to_owned(),
        Trust::Fingerprint(_) => "pin matches".to_owned(),
        Trust::Plaintext => "none".to_owned(),
    }
}

fn plaintext(origin: &str) -> Check {
    let host = reqwest::Url::parse(origin).ok();
    let loopback = host.as_ref().and_then(reqwest::Url::host_str).is_some_and(|host| {
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    });
    if loopback {
        return Check::new("TLS", State::Off, "plain text on loopback");
    }
    Check::new("TLS", State::Warning, "plain text: secrets can be read on the way")
        .help("Give the service a certificate and write https:// in the site file.")
}

fn described(check: Check, certificate: &Certificate) -> Check {
    let mut check = check.evidence(format!("sha256 {}", fingerprint_text(&certificate.sha256)));
    if let Some(subject) = &certificate.subject {
        let names = if certificate.names.is_empty() { "no names".to_owned() } else { certificate.names.join(", ") };
        check = check.evidence(format!("subject {subject}; for {names}"));
    }
    if let Some((from, to)) = certificate.validity {
        check = check.evidence(format!("valid {from:.0} to {to:.0}"));
    }
    check
}

fn answer(service: &ServiceFacts, look: &Look) -> Vec<Check> {
    match &look.http {
        None => Vec::new(),
        Some(Err(why)) => vec![kind("answer", service, why)],
        Some(Ok(seen)) => match seen.clock {
            Some(clock) => vec![skew(clock)],
            None => vec![Check::new("clock", State::Off, "the server sends no time")],
        },
    }
}

/// How far two clocks are apart.
pub(super) fn skew(clock: ClockSeen) -> Check {
    let ahead = clock.ahead_s();
    let apart = ahead.saturating_abs();
    let told = if ahead < 0 { format!("{apart} s behind this host") } else { format!("{apart} s ahead of this host") };
    let evidence = format!("this host {:.0}, there {:.0}", clock.ours.1, clock.theirs);
    let bounds = format!("TSIG and short-lived tokens fail from {TSIG_FUDGE_S} s on; set both clocks by NTP.");
    let state = match apart {
        0..SKEW_S => return Check::ok("clock", if apart == 0 { "agrees".to_owned() } else { told }),
        SKEW_S..TSIG_FUDGE_S => State::Warning,
        _ => State::Fault,
    };
    Check::new("clock", state, told).evidence(evidence).help(bounds).commands(["timedatectl".to_owned()])
}
