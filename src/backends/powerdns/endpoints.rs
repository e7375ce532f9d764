//! Every request the client can make, in one table.

use crate::backends::http::Access;

/// One endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// HTTP method.
    pub method: &'static str,
    /// Path below `/api/v1`, with the placeholder `{zone}`.
    pub path: &'static str,
    /// Query parameters the client may send.
    pub parameters: &'static [&'static str],
    /// What it does to PowerDNS.
    pub access: Access,
}

const fn get(path: &'static str, parameters: &'static [&'static str]) -> Endpoint {
    Endpoint { method: "GET", path, parameters, access: Access::Read }
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
/// TSIG keys with empty secrets. The endpoint of a single key returns its secret and is not in this table.
pub static TSIG_KEYS: Endpoint = get("/servers/localhost/tsigkeys", &[]);

/// All of them.
pub static ALL: [&Endpoint; 8] = [&SERVERS, &SERVER, &STATISTICS, &CONFIG, &ZONES, &ZONE, &METADATA, &TSIG_KEYS];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_only_reads_and_none_reads_a_secret() {
        for endpoint in ALL {
            assert_eq!((endpoint.method, endpoint.access), ("GET", Access::Read), "{}", endpoint.path);
            assert!(!endpoint.path.contains("tsigkeys/") && !endpoint.path.contains("cryptokeys"), "{}", endpoint.path);
        }
    }
}
