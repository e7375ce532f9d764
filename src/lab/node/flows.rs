//! Connections that running guests have, as `conntrack -L -s PREFIX` lists them (facts/exit-node.md §2).

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::routes::Tables;
use super::{Output, vrfs};
use crate::lab::state::{SnatState, World};

/// A web server on the Internet.
const WEB: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 80);
/// How the rule of the perimeter ends that lets tenants out.
const TO_INTERNET: &str = "tenant_transit -> internet";

/// What becomes of what a guest sends.
enum Fate {
    /// Nothing of it gets as far as being tracked.
    Untracked,
    /// It leaves as `as_whom`.
    Leaves {
        as_whom: Ipv4Addr,
        /// Whether an answer comes to the node.
        answered: bool,
        /// Whether the answer gets on to the guest.
        delivered: bool,
    },
}

fn fate(world: &World, tables: &Tables, zone: &str, vnet: &str, guest: Ipv4Addr) -> Fate {
    let exit = &world.exit;
    let vrf = exit.vrf(zone);
    if exit.forward_drop || exit.conntrack_full || !vrf.forwarding {
        return Fate::Untracked;
    }
    let Ok(out) = tables.get(WEB, Some(guest), Some(vnet)) else { return Fate::Untracked };
    let by_transit = out.route.dev == exit.transit_dev;
    let as_whom = match vrf.snat {
        SnatState::Right | SnatState::Duplicate if by_transit => exit.transit_address,
        SnatState::Source(address) if by_transit => address,
        _ => guest,
    };
    let lets_out = world.perimeter.rules.iter().any(|rule| rule.enabled && rule.description.ends_with(TO_INTERNET));
    let right_gateway = out.route.gateway.is_none_or(|gateway| gateway == exit.transit_gateway);
    let answered = as_whom == exit.transit_address && exit.gateway_answers && right_gateway && lets_out;
    let delivered = exit.transit_forwarding && exit.rp_filter == 0 && vrf.return_route;
    Fate::Leaves { as_whom, answered, delivered }
}

/// Seconds that a ping is tracked.
const TRACKED: i64 = 30;

/// A ping that the node sent from inside a VRF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Echo {
    at: i64,
    src: Ipv4Addr,
    dst: Ipv4Addr,
    as_whom: Ipv4Addr,
    answered: bool,
}

impl Echo {
    /// Whether it is still tracked at `now`.
    pub(in crate::lab) fn tracked(&self, now: i64) -> bool {
        now - self.at < TRACKED
    }

    /// As the table lists it; `number` tells pings apart.
    fn line(&self, number: usize, now: i64) -> String {
        let Self { at, src, dst, as_whom, answered } = self;
        let (left, mark) = (TRACKED - (now - at), if *answered { "" } else { "[UNREPLIED] " });
        let id = 1 + number % 65_000;
        format!(
            "icmp     1 {left} src={src} dst={dst} type=8 code=0 id={id} {mark}src={dst} dst={as_whom} type=0 code=0 \
             id={id} mark=0 use=1\n"
        )
    }
}

/// The flow that a ping of `dst` from inside the VRF leaves behind.
pub(super) fn echo(world: &World, now: i64, vrf: &str, dst: Ipv4Addr) -> Option<Echo> {
    let found = Tables::of(world).get(dst, None, Some(vrf)).ok()?;
    let zone = vrf.strip_prefix("vrf_")?;
    let own = vrfs(world).into_iter().find(|own| own.zone == zone)?;
    let src = own.vnets.iter().flat_map(|vnet| &vnet.subnets).find_map(|subnet| subnet.gateway)?;
    let by_transit = found.route.dev == world.exit.transit_dev;
    let as_whom = match world.exit.vrf(zone).snat {
        SnatState::Right | SnatState::Duplicate if by_transit => world.exit.transit_address,
        SnatState::Source(address) if by_transit => address,
        _ => src,
    };
    let answered = super::tools::answers_inside(world, &found.route, dst);
    Some(Echo { at: now, src, dst, as_whom, answered })
}

/// The listing of `prefix`.
pub(super) fn list(world: &World, now: i64, prefix: Ipv4Net, echoes: &[Echo]) -> Output {
    let tables = Tables::of(world);
    let (mut out, mut shown) = (String::new(), 0);
    for vrf in vrfs(world) {
        for vnet in vrf.vnets.iter().filter(|vnet| vnet.present) {
            let running = world.guests.values().filter(|guest| guest.started.is_some());
            let addresses = running.filter_map(|guest| guest.address.map(|(address, _)| address));
            let own =
                |ip: &Ipv4Addr| prefix.contains(ip) && vnet.subnets.iter().any(|subnet| subnet.prefix.contains(ip));
            for guest in addresses.filter(own) {
                if let Fate::Leaves { as_whom, answered, delivered } =
                    fate(world, &tables, &vrf.zone, &vnet.name, guest)
                {
                    let sport = 32_768 + (world.number(&format!("flow {guest} {}", now.div_euclid(30))) % 28_000);
                    shown += 1;
                    let (state, mark, end) = match (answered, delivered) {
                        (false, _) => ("118 SYN_SENT", "[UNREPLIED] ", ""),
                        (true, false) => ("57 SYN_RECV", "", ""),
                        (true, true) => ("431999 ESTABLISHED", "", "[ASSURED] "),
                    };
                    let _ = writeln!(
                        out,
                        "tcp      6 {state} src={guest} dst={WEB} sport={sport} dport=443 {mark}src={WEB} dst={as_whom} \
                         sport=443 dport={sport} {end}mark=0 use=1"
                    );
                }
            }
        }
    }
    for (number, echo) in echoes.iter().enumerate().filter(|(_, e)| e.tracked(now) && prefix.contains(&e.src)) {
        shown += 1;
        out.push_str(&echo.line(number, now));
    }
    let stderr = format!("conntrack v1.4.8 (conntrack-tools): {shown} flow entries have been shown.\n");
    Output { stdout: out, stderr, code: 0 }
}
