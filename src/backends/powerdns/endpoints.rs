//! Every request the client can make, in one table.

use crate::backends::http::Access;

/// One endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// HTTP method.
    pub method: &'static str,
    /// Path below `/api/v1`, with the placeholders `{zone}`, `{key}` and `{kind}`.
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

const fn write(method: &'static str, path: &'static str) -> Endpoint {
    Endpoint { method, path, parameters: &[], access: Access::Write, secret: false }
}

/// Makes a zone.
pub static ZONE_ADD: Endpoint = Endpoint { parameters: &["rrsets"], ..write("POST", "/servers/localhost/zones") };
/// Changes what a zone is.
pub static ZONE_SET: Endpoint = write("PUT", "/servers/localhost/zones/{zone}");
/// Changes record sets of a zone, all or none.
pub static ZONE_PATCH: Endpoint = write("PATCH", "/servers/localhost/zones/{zone}");
/// Deletes a zone with everything in it.
pub static ZONE_DELETE: Endpoint = write("DELETE", "/servers/localhost/zones/{zone}");
/// Replaces metadata of one kind.
pub static METADATA_SET: Endpoint = write("PUT", "/servers/localhost/zones/{zone}/metadata/{kind}");
/// Removes metadata of one kind.
pub static METADATA_DELETE: Endpoint = write("DELETE", "/servers/localhost/zones/{zone}/metadata/{kind}");
/// Makes a TSIG key; the answer holds its secret, and so may the request.
pub static TSIG_KEY_ADD: Endpoint = Endpoint { secret: true, ..write("POST", "/servers/localhost/tsigkeys") };
/// Deletes a TSIG key.
pub static TSIG_KEY_DELETE: Endpoint = write("DELETE", "/servers/localhost/tsigkeys/{key}");

/// All that change something. The API knows one right: its key.
pub static WRITES: [&Endpoint; 8] =
    [&ZONE_ADD, &ZONE_SET, &ZONE_PATCH, &ZONE_DELETE, &METADATA_SET, &METADATA_DELETE, &TSIG_KEY_ADD, &TSIG_KEY_DELETE];

/// All that read.
pub static ALL: [&Endpoint; 9] =
    [&SERVERS, &SERVER, &STATISTICS, &CONFIG, &ZONES, &ZONE, &METADATA, &TSIG_KEYS, &TSIG_KEY];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_and_what_writes_say_so_and_so_do_those_with_a_secret() {
        for endpoint in ALL {
            assert_eq!((endpoint.method, endpoint.access), ("GET", Access::Read), "{}", endpoint.path);
            assert_eq!(endpoint.secret, endpoint.path.contains("tsigkeys/"), "{}", endpoint.path);
            assert!(!endpoint.path.contains("cryptokeys"), "{}", endpoint.path);
        }
        for endpoint in WRITES {
            assert!(endpoint.method != "GET" && endpoint.access == Access::Write, "{}", endpoint.path);
            assert_eq!(endpoint.secret, *endpoint == TSIG_KEY_ADD, "{}", endpoint.path);
        }
    }
}
