//! The API has a zone and the name server refuses it, for a while.

use jiff::{SignedDuration, Timestamp};

use super::super::{Out, Rule};
use super::zone_of;
use crate::backends::dns::Rcode;
use crate::diagnose::evidence::Api;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Layer, Severity, Subject};

/// The rule.
pub static RULE: Rule = Rule {
    id: "zone-not-served",
    layer: Layer::Dns,
    severity: Severity::Fault,
    says: "The zone is in the server's database and not yet in its list of zones, which is read anew every \
           zone-cache-refresh-interval seconds when something else than its API made the zone. It heals by itself; making \
           the zone again does not help, and nothing is wrong with its delegation.",
    reads: "the zone by the API, the server's answer for it, the setting, when the zone was made and what time it is",
    unlike: &[
        ("zone-missing", "the API does not have the zone either"),
        ("apex-broken", "the zone has no SOA: its serial is 0"),
        ("resolver-refuses-network", "a resolver refuses the asker, whatever the name"),
    ],
    explains: &[],
    judge,
};

const INTERVAL: &str = "zone-cache-refresh-interval";

fn judge(facts: &Facts, out: &mut Out<'_>) {
    let resolvers = facts.dns.resolvers();
    for reply in facts.dns.replies.iter().filter(|r| r.is(Rcode::REFUSED) && !resolvers.contains(r.server.as_str())) {
        let zone = zone_of(facts, reply.name.as_str());
        let Some(head) = facts.powerdns.head(&super::named(&zone)) else {
            // The list says that it is not there, which is another rule's.
            if facts.powerdns.has(&super::named(&zone)) == Some(false) {
                continue;
            }
            let why = facts.calls.why(Api::PowerDns, "servers/*/zones/*");
            // Whether it is of PowerDNS at all only PowerDNS can say.
            if facts.powerdns.settings.is_some() {
                out.unknown_of([Subject::new("name", &zone)], format!("whether PowerDNS has {zone}"), why);
            }
            continue;
        };
        if head.serial == Some(0) {
            continue;
        }
        let Some(interval) = facts.powerdns.setting(INTERVAL).and_then(|v| v.parse::<i64>().ok()) else {
            out.unknown(format!("{INTERVAL} of PowerDNS"), facts.calls.why(Api::PowerDns, "servers/*/config"));
            continue;
        };
        let Some((made, now)) = times(facts) else {
            out.unknown_of([Subject::new("name", &zone)], format!("when {zone} was made, and what time it is"), None);
            continue;
        };
        let age = now.duration_since(made).as_secs();
        let by = made.checked_add(SignedDuration::from_secs(interval)).ok().filter(|_| age < interval);
        let Some(by) = by else {
            out.unknown_of(
                [Subject::new("name", &zone)],
                format!("why {} refuses {zone}, which PowerDNS has", reply.server),
                None,
            );
            continue;
        };
        let mut finding = out
            .finding(
                Subject::new("name", &zone),
                format!("{zone} is {age} s old, and the server looks for zones every {interval} s."),
            )
            .fact("zone.age", &zone, format!("{age} s"))
            .fact("zone-cache.refresh", &zone, format!("{interval} s"))
            .affects([&zone])
            .resting_on(&reply.file)
            .from(head)
            .next("wait-for-refresh", 0, format!("wait until {} UTC", by.strftime("%H:%M:%S")))
            .next("flush-zone", 1, format!("or flush {zone} from the server's cache, which makes it look at once"));
        if let Some(settings) = &facts.powerdns.settings {
            finding = finding.from(settings);
        }
        out.found(finding);
    }
}

/// When it was made and what time it is.
fn times(facts: &Facts) -> Option<(Timestamp, Timestamp)> {
    let made = facts.clocks.noted.iter().find(|(key, _)| key.contains("created")).map(|(_, at)| at.value)?;
    let now = facts.clocks.noted.get("now").or(facts.clocks.here.as_ref()).map(|at| at.value)?;
    Some((made, now))
}
