//! Every request the client can make, in one table.

use crate::backends::http::Access;

/// One endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// HTTP method.
    pub method: &'static str,
    /// Path below `/api/v1`, with the placeholder `{zone}` or `{key}`.
    pub path: &'static str,
    /// Query parameters the client may send.
    pub parameters: &'static [&'static str],
    /// What it does to PowerDNS.
    pub access: Access,
    /// Its answer holds a secret: it is asked on request alone, and no recorder hears of it.
    pub secret: bool,
}

const fn get(path: &'static str, parameters: &'static [&'static str]) -> Endpoint {
    Endpoint { method: "GET", path, parameters, access: Access::Read, secret: false }
}

/// Servers behind this API; the authoritative server lists itself alone, as `localhost`.
pub static SERVERS: Endpoint = get("/servers", &[]);
/// The server: version and kind of daemon.
pub static SERVER: Endpoint = get("/servers/localhost", &[]);
/// Counters. `includerings=false` keeps 190 KB of rings out (facts/dns.md §4).
pub static STATISTICS: Endpoint = get("/servers/localhost/statistics", &["includerings"]);
/// Settings; secrets among them come masked.
pub static CONFIG: Endpoint = get("/servers/localhost/config", &[]);
/// Zones without their records. `dnssec=false` leaves out two fields that cost a look into every zone.
pub static ZONES: Endpoint = get("/servers/localhost/zones", &["dnssec"]);
/// One zone. `rrsets=false` leaves out its records.
pub static ZONE: Endpoint = get("/servers/localhost/zones/{zone}", &["rrsets"]);
/// Metadata of one zone.
pub static METADATA: Endpoint = get("/servers/localhost/zones/{zone}/metadata", &[]);
/// TSIG keys with empty secrets.
pub static TSIG_KEYS: Endpoint = get("/servers/localhost/tsigkeys", &[]);
/// One TSIG key with its secret, for the proof that it writes no other tenant's zone.
pub static TSIG_KEY: Endpoint = Endpoint { secret: true, ..get("/servers/localhost/tsigkeys/{key}", &[]) };

/// All of them.
pub static ALL: [&Endpoint; 9] =
    [&SERVERS, &SERVER, &STATISTICS, &CONFIG, &ZONES, &ZONE, &METADATA, &TSIG_KEYS, &TSIG_KEY];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_only_reads_and_those_with_a_secret_say_so() {
        for endpoint in ALL {
            assert_eq!((endpoint.method, endpoint.access), ("GET", Access::Read), "{}", endpoint.path);
            assert_eq!(endpoint.secret, endpoint.path.contains("tsigkeys/"), "{}", endpoint.path);
            assert!(!endpoint.path.contains("cryptokeys"), "{}", endpoint.path);
        }
    }
}
