//! `dig` on the exit node, 9.20 as Debian 13 has it, in a VRF with `ip vrf exec` or outside: it asks the perimeter's
//! resolver where the packet and its reply get through (facts/exit-node.md, facts/dns.md §7).

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::str::FromStr as _;
use std::time::Duration;

use hickory_proto::op::{Edns, Message, Query, ResponseCode};
use hickory_proto::rr::rdata::opt::EdnsOption;
use hickory_proto::rr::{Name, Record, RecordType};

use super::Role;
use crate::lab::node::Output;
use crate::lab::node::routes::Tables;
use crate::lab::sdn::scalar;
use crate::lab::state::{FrrUnit, SnatState, World};
use crate::lab::{Shared, moment};

/// The version that the node's dig gives itself.
const VERSION: &str = "9.20.30-1~deb13u1-Debian";
/// Extended DNS error (RFC 8914).
const EDE: u16 = 15;

/// A question as dig's arguments put it.
struct Asked<'a> {
    server: Ipv4Addr,
    name: &'a str,
    kind: RecordType,
    size: u16,
    /// Longest time without an answer.
    patience: Duration,
}

/// What `dig ARGS` says in `vrf`; slow where nothing answers.
pub(in crate::lab) async fn run(shared: &Shared, resolver: &Role, vrf: Option<&str>, args: &[&str]) -> Output {
    let Some(asked) = asked(args) else { return Output::fail(1, "dig: couldn't get address for '': not found") };
    let said = answer(shared, resolver, vrf, &asked);
    let (text, code) = match said {
        Way::Said(message, length) => (answered(shared, &asked, args, &message, length), 0),
        Way::Refused(why) => {
            let server = asked.server;
            let text = format!(
                ";; UDP setup with {server}#53({server}) for {} failed: {why}.\n;; no servers could be reached\n",
                asked.name.trim_end_matches('.')
            );
            (text, 9)
        }
        Way::Silent => {
            tokio::time::sleep(asked.patience).await;
            let text = format!(
                ";; communications error to {}#53: timed out\n\n{};; no servers could be reached\n",
                asked.server,
                banner(args)
            );
            (text, 9)
        }
    };
    Output { stdout: text, stderr: String::new(), code }
}

/// What becomes of a packet.
enum Way {
    /// An answer, and its length in bytes.
    Said(Box<Message>, usize),
    /// It does not leave.
    Refused(&'static str),
    /// Nothing comes back.
    Silent,
}

fn asked<'a>(args: &[&'a str]) -> Option<Asked<'a>> {
    let after = |option: &str| args.iter().position(|arg| *arg == option).and_then(|at| args.get(at + 1)).copied();
    let number = |option: &str| args.iter().find_map(|arg| arg.strip_prefix(option)?.parse::<u16>().ok());
    let server = args.iter().find_map(|arg| arg.strip_prefix('@'))?.parse().ok()?;
    let (tries, seconds) = (number("+tries=").unwrap_or(3), number("+time=").unwrap_or(5));
    Some(Asked {
        server,
        name: after("-q")?,
        kind: RecordType::from_str(after("-t").unwrap_or("A")).ok()?,
        size: number("+bufsize=").unwrap_or(1232),
        patience: Duration::from_secs(u64::from(tries) * u64::from(seconds)),
    })
}

fn answer(shared: &Shared, resolver: &Role, vrf: Option<&str>, asked: &Asked<'_>) -> Way {
    let world = shared.world();
    match passes(&world, vrf, asked.server) {
        Ok(true) => {}
        Ok(false) => return Way::Silent,
        Err(why) => return Way::Refused(why),
    }
    let Ok(name) = Name::from_ascii(asked.name) else { return Way::Silent };
    let mut message = Message::query();
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name, asked.kind));
    let mut edns = Edns::new();
    edns.set_max_payload(asked.size);
    message.set_edns(edns);
    // Translated, as it had to be to get through.
    if world.perimeter.resolver.refuses(world.exit.transit_address) {
        let refused = super::wire::response(&message, ResponseCode::Refused);
        let length = refused.to_vec().map_or(0, |bytes| bytes.len());
        return Way::Said(Box::new(refused), length);
    }
    let bytes = message.to_vec().ok().and_then(|packet| resolver.answer(shared, &packet, true));
    let said = bytes.and_then(|bytes| Some((Box::new(Message::from_vec(&bytes).ok()?), bytes.len())));
    said.map_or(Way::Silent, |(message, length)| Way::Said(message, length))
}

/// Whether a packet to `server` and its reply get through: out of the VRF over the transit, translated, and back.
fn passes(world: &World, vrf: Option<&str>, server: Ipv4Addr) -> Result<bool, &'static str> {
    let exit = &world.exit;
    let route = Tables::of(world).get(server, None, vrf).map_err(|words| match words {
        "No route to host" => "host unreachable",
        _ => "network unreachable",
    })?;
    // A VRF without a default falls through to main, which reaches the transit as well (facts/exit-node.md §2).
    let beyond = server == exit.transit_gateway && route.route.dev == exit.transit_dev;
    if route.route.gateway.is_some_and(|gateway| gateway != exit.transit_gateway) {
        return Ok(false);
    }
    let alive = exit.gateway_answers && !exit.conntrack_full && !exit.uplink_down;
    let Some(tenant) = vrf.and_then(|vrf| vrf.strip_prefix("vrf_")) else { return Ok(beyond && alive) };
    let state = exit.vrf(tenant);
    // Without translation the perimeter answers the VNet's own address.
    let untranslated =
        world.sdn.running.subnets_in(tenant).all(|subnet| subnet.get("snat").is_none_or(|on| scalar(on) != "1"));
    let translated = untranslated || matches!(state.snat, SnatState::Right | SnatState::Duplicate);
    let back = exit.frr == FrrUnit::Active && exit.transit_forwarding && !exit.rp_drops && state.return_route;
    Ok(beyond && alive && translated && back)
}

fn banner(args: &[&str]) -> String {
    let shown: Vec<&str> = args.iter().copied().filter(|arg| *arg != "-r").collect();
    format!("; <<>> DiG {VERSION} <<>> {}\n; (1 server found)\n;; global options: +cmd\n", shown.join(" "))
}

fn answered(shared: &Shared, asked: &Asked<'_>, args: &[&str], message: &Message, length: usize) -> String {
    let head = &message.metadata;
    let bits = [
        ("aa", head.authoritative),
        ("tc", head.truncation),
        ("rd", head.recursion_desired),
        ("ra", head.recursion_available),
        ("ad", head.authentic_data),
        ("cd", head.checking_disabled),
    ];
    let flags: String = bits.iter().filter(|(_, set)| *set).map(|(word, _)| format!(" {word}")).collect();
    let status = code(head.response_code.into());
    let additional = message.additionals.len() + usize::from(message.edns.is_some());
    let mut out = format!(
        "\n{};; Got answer:\n;; ->>HEADER<<- opcode: QUERY, status: {status}, id: {}\n;; flags: qr{flags}; QUERY: {}, \
         ANSWER: {}, AUTHORITY: {}, ADDITIONAL: {additional}\n\n",
        banner(args),
        head.id,
        message.queries.len(),
        message.answers.len(),
        message.authorities.len(),
    );
    out.push_str(&options(message));
    let _ = write!(out, ";; QUESTION SECTION:\n;{}.\t\tIN\t{}\n\n", asked.name.trim_end_matches('.'), asked.kind);
    for (title, records) in
        [("ANSWER", &message.answers), ("AUTHORITY", &message.authorities), ("ADDITIONAL", &message.additionals)]
    {
        if !records.is_empty() {
            let lines: String = records.iter().map(line).collect();
            let _ = write!(out, ";; {title} SECTION:\n{lines}\n");
        }
    }
    let when = moment(shared.now()).strftime("%a %b %d %H:%M:%S UTC %Y");
    let server = asked.server;
    let _ = write!(
        out,
        ";; Query time: 1 msec\n;; SERVER: {server}#53({server}) (UDP)\n;; WHEN: {when}\n;; MSG SIZE  rcvd: {length}\n\n"
    );
    out
}

/// The pseudo section of EDNS with its extended errors.
fn options(message: &Message) -> String {
    let Some(edns) = &message.edns else { return String::new() };
    let mut out = format!(";; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: {}\n", edns.max_payload());
    for (_, option) in edns.options().as_ref() {
        if let EdnsOption::Unknown(EDE, data) = option
            && let [high, low, text @ ..] = data.as_slice()
        {
            let _ = writeln!(out, "; EDE: {}: ({})", u16::from_be_bytes([*high, *low]), String::from_utf8_lossy(text));
        }
    }
    out
}

fn code(code: u16) -> String {
    let words = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];
    words.get(usize::from(code)).map_or_else(|| format!("RESERVED{code}"), |word| (*word).to_owned())
}

fn line(record: &Record) -> String {
    format!("{}\t\t{}\tIN\t{}\t{}\n", record.name, record.ttl, record.record_type(), record.data)
}
