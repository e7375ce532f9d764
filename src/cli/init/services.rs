//! The services: certificates to compare, and the sections that may be left out.

use super::session::{OPTIONAL, Session};
use crate::backends::http::{Kind, Look, TlsFault, TlsSeen, Wait, fingerprint_text, look};
use crate::cli::{Failure, open};
use crate::diagnose::access::fingerprint_command;
use crate::runtime::clock;
use crate::site::model::Trust;

/// Asks for every section that may be left out.
pub(super) fn all(session: &mut Session<'_>) -> Result<(), Failure> {
    for section in OPTIONAL {
        if session.request.off.iter().any(|off| off == section) {
            session.draft.leave_out(section);
            continue;
        }
        let given = session.draft.has(section);
        if !given && !session.asks() {
            continue;
        }
        if !given {
            session.say("");
            let question = format!("[{section}]: describe it, or leave it off");
            if session.choose(&question, &["off", "on"], "off")? == "off" {
                continue;
            }
        }
        match section {
            "powerdns" => powerdns(session)?,
            "opnsense" => opnsense(session)?,
            "resolvers" => resolvers(session)?,
            // A file of records has no service to ask.
            "bootstrap" if session.draft.get("bootstrap", 0, "file").is_some() => {}
            "bootstrap" => service(session, "bootstrap", &["credential"])?,
            _ => service(session, "registry", &["token"])?,
        }
    }
    Ok(())
}

fn service(session: &mut Session<'_>, section: &'static str, secrets: &[&'static str]) -> Result<(), Failure> {
    session.ask(section, 0, "url", None)?;
    trust(session, section)?;
    secrets.iter().try_for_each(|key| session.secret(section, key))
}

fn opnsense(session: &mut Session<'_>) -> Result<(), Failure> {
    service(session, "opnsense", &["key", "secret"])?;
    let address = session.draft.text_of("exit_node", 0, "transit_address");
    let network = address.and_then(|ip| ip.rsplit_once('.').map(|(net, _)| format!("{net}.0/24")));
    session.ask("opnsense", 0, "transit", network)
}

fn resolvers(session: &mut Session<'_>) -> Result<(), Failure> {
    let gateway = session.draft.text_of("exit_node", 0, "transit_gateway");
    session.ask("resolvers", 0, "perimeter", gateway)?;
    if session.asks() {
        session.ask("resolvers", 0, "substrate", None)?;
    }
    Ok(())
}

fn powerdns(session: &mut Session<'_>) -> Result<(), Failure> {
    if session.asks() && session.draft.get("powerdns", 0, "mode").is_none() {
        session.say("  The API tells most; without it, port 53 tells serials and named records.");
        session.ask("powerdns", 0, "url", None)?;
        let proposal = match session.draft.service("powerdns", session.at()) {
            None => "dns-only",
            Some((url, trust)) => mode_by(session, &look_at(session, &url, &trust)?),
        };
        session.ask("powerdns", 0, "mode", Some(proposal.to_owned()))?;
    }
    session.ask("powerdns", 0, "mode", None)?;
    let mode = session.draft.text_of("powerdns", 0, "mode").unwrap_or_default();
    if mode != "dns-only" {
        session.ask("powerdns", 0, "url", None)?;
        trust(session, "powerdns")?;
        session.secret("powerdns", "api_key")?;
    }
    if mode == "tunnel" {
        session.ask("powerdns", 0, "tunnel", None)?;
    }
    let host = session.draft.service("powerdns", session.at()).and_then(|(url, _)| host_of(&url));
    session.ask("powerdns", 0, "dns", host)?;
    if session.asks() {
        session.ask("powerdns", 0, "nameserver", None)?;
        session.ask("powerdns", 0, "update_networks", None)?;
    }
    Ok(())
}

/// The address in an origin.
fn host_of(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    host.parse::<std::net::IpAddr>().ok().map(|ip| ip.to_string())
}

/// Which mode fits what the port did: an API that turns this host away may be reached from another.
fn mode_by(session: &Session<'_>, seen: &Look) -> &'static str {
    match (&seen.connect, &seen.http) {
        (Some(Ok(_)), Some(Ok(_))) => {
            session.say("  It answers this host.");
            "api"
        }
        (Some(Ok(_)), _) => {
            session
                .say("  It listens, and does not answer this host: a host in webserver-allow-from can be the tunnel.");
            "tunnel"
        }
        _ => {
            session.say("  It cannot be reached from here.");
            "dns-only"
        }
    }
}

fn look_at(session: &Session<'_>, url: &str, trust: &Trust) -> Result<Look, Failure> {
    let now = clock::system();
    session.block(look(url, trust, Wait(session.wait()), &*now))
}

/// How the service of `section` proves who it is. Its certificate is shown for comparison, never taken by itself.
pub(super) fn trust(session: &mut Session<'_>, section: &'static str) -> Result<(), Failure> {
    if !session.asks() {
        return Ok(());
    }
    if session.draft.is_plain_beyond_loopback(section, session.at()) {
        session.say("  Plain HTTP: secrets can be read on the way.");
        return session.ask(section, 0, "plaintext", None);
    }
    let answered = |key| session.draft.get(section, 0, key).is_some();
    if answered("fingerprint") || answered("ca_file") {
        return Ok(());
    }
    let Some((url, trust)) = session.draft.service(section, session.at()) else { return Ok(()) };
    if trust == Trust::Plaintext {
        return Ok(());
    }
    loop {
        let seen = look_at(session, &url, &Trust::System)?;
        let shown = match &seen.tls {
            Some(Ok(tls)) => Some(tls),
            _ => None,
        };
        match shown {
            Some(tls) => show(session, section, tls),
            None => open::warn(&format!("{url}: {}; its certificate is unknown", why_not(&seen))),
        }
        let (words, default): (&[&'static str], _) = match shown {
            Some(tls) if tls.verdict.is_ok() => (&["system", "pin", "ca_file", "retry"], "system"),
            Some(_) => (&["pin", "ca_file", "retry"], "ca_file"),
            None => (&["retry", "pin", "ca_file", "system"], "retry"),
        };
        match session.choose("  Whom to trust", words, default)? {
            "pin" => {
                // Enter alone pins nothing: the operator says that it was compared, or types what the server said.
                let found = shown.map(|tls| fingerprint_text(&tls.certificate.sha256));
                if pin(session, section, found)? {
                    return Ok(());
                }
            }
            "ca_file" if session.ask_once(section, "ca_file")? => return Ok(()),
            "system" => return Ok(()),
            _ => {}
        }
    }
}

/// Whether a fingerprint was named.
fn pin(session: &mut Session<'_>, section: &'static str, found: Option<String>) -> Result<bool, Failure> {
    if let Some(found) = found
        && session.choose("  Does the server itself say the same fingerprint", &["no", "yes"], "no")? == "yes"
    {
        session.set(section, 0, "fingerprint", &found).map_err(|e| Failure::plain(e.to_string()))?;
        return Ok(true);
    }
    session.ask_once(section, "fingerprint")
}

fn show(session: &Session<'_>, section: &str, tls: &TlsSeen) {
    let certificate = &tls.certificate;
    session.say(&format!("  SHA-256  {}", fingerprint_text(&certificate.sha256)));
    if let Some(subject) = &certificate.subject {
        session.say(&format!("  subject  {subject}, for {}", certificate.names.join(", ")));
    }
    if let Some((from, to)) = certificate.validity {
        session.say(&format!("  valid    {from:.0} to {to:.0}"));
    }
    let store = match &tls.verdict {
        Ok(()) => "trusted by this host's store".to_owned(),
        Err(Kind::Tls(TlsFault::UnknownIssuer)) => "signed by nobody this host knows".to_owned(),
        Err(why) => why.to_string(),
    };
    session.say(&format!("  {store}. Compare with what the server says itself:"));
    session.say(&format!("    {}", fingerprint_command(section)));
}

fn why_not(seen: &Look) -> String {
    let failed = [
        seen.lookup.as_ref().and_then(|r| r.as_ref().err()),
        seen.connect.as_ref().and_then(|r| r.as_ref().err()),
        seen.tls.as_ref().and_then(|r| r.as_ref().err()),
    ];
    failed.into_iter().flatten().next().map_or_else(|| "no answer".to_owned(), ToString::to_string)
}
