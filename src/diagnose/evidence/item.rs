//! One thing that was read.

use std::collections::BTreeMap;
use std::fmt;

/// Which interface a request went to, told by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Api {
    /// Proxmox VE: `/api2/json/…`.
    Proxmox,
    /// PowerDNS: `/api/v1/…`.
    PowerDns,
    /// OPNsense: other paths below `/api/`.
    Opnsense,
    /// Something else.
    Other,
}

impl Api {
    /// What it is called.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Proxmox => "Proxmox VE",
            Self::PowerDns => "PowerDNS",
            Self::Opnsense => "OPNsense",
            Self::Other => "the service",
        }
    }
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// HTTP status; 0 = no answer within the limit.
    pub status: u16,
    /// Reason phrase, in which Proxmox puts its message.
    pub reason: String,
}

/// A request and its end; the body is the item's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// Method, upper-case.
    pub method: String,
    /// Which interface.
    pub api: Api,
    /// Path below the interface's root, without query: `cluster/sdn/zones`.
    pub path: String,
    /// Query.
    pub query: BTreeMap<String, String>,
    /// How it ended.
    pub ended: Ended,
    /// Body sent, secrets taken out.
    pub sent: Option<String>,
    /// Headers of the answer that were kept.
    pub headers: BTreeMap<String, String>,
}

impl Http {
    /// Reads `GET /api2/json/cluster/sdn/zones?running=1`.
    #[must_use]
    pub fn parse(request: &str, ended: Ended) -> Option<Self> {
        let (method, target) = request.split_once(' ')?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (api, path) = if let Some(rest) = path.strip_prefix("/api2/json/") {
            (Api::Proxmox, rest)
        } else if let Some(rest) = path.strip_prefix("/api/v1/") {
            (Api::PowerDns, rest)
        } else if let Some(rest) = path.strip_prefix("/api/") {
            (Api::Opnsense, rest)
        } else {
            (Api::Other, path)
        };
        let pair = |part: &str| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            (key.to_owned(), value.to_owned())
        };
        Some(Self {
            method: method.to_ascii_uppercase(),
            api,
            path: path.trim_end_matches('/').to_owned(),
            query: query.split('&').filter(|p| !p.is_empty()).map(pair).collect(),
            ended,
            sent: None,
            headers: BTreeMap::new(),
        })
    }

    /// The request line, as [`Http::parse`] takes it.
    #[must_use]
    pub fn request(&self) -> String {
        let root = match self.api {
            Api::Proxmox => "/api2/json/",
            Api::PowerDns => "/api/v1/",
            Api::Opnsense => "/api/",
            Api::Other => "",
        };
        let query: Vec<String> = self.query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{} {root}{}{mark}{}", self.method, self.path, query.join("&"))
    }

    /// Whether it is a GET of `path`, in which `*` stands for any one segment.
    #[must_use]
    pub fn gets(&self, api: Api, path: &str) -> bool {
        self.method == "GET" && self.asks(api, path)
    }

    /// Whether it asks for `path`, whatever the method; `*` stands for any one segment.
    #[must_use]
    pub fn asks(&self, api: Api, path: &str) -> bool {
        self.api == api && {
            let mut own = self.path.split('/');
            let fits = path.split('/').all(|want| own.next().is_some_and(|have| want == "*" || want == have));
            fits && own.next().is_none()
        }
    }

    /// Segment `n` of the path.
    #[must_use]
    pub fn segment(&self, n: usize) -> &str {
        self.path.split('/').nth(n).unwrap_or("")
    }

    /// Whether the answer is a success.
    #[must_use]
    pub const fn ok(&self) -> bool {
        self.ended.status >= 200 && self.ended.status < 300
    }
}

/// A question on a DNS port; the answer is the item's body, as `dig` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dns {
    /// Name and type as asked, e.g. `web.tdemo.example. A`, `-x 192.0.2.1`.
    pub question: String,
    /// Where the question was sent from, where that is not the console's own host.
    pub asked_from: Option<String>,
}

/// How an item was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// By an HTTP request.
    Http(Http),
    /// By a command.
    Command {
        /// The command line, a comment at its end left out. For people and readers, never run.
        line: String,
        /// Exit status; `None` where it was ended by a signal or never ran.
        exit: Option<i32>,
    },
    /// By a DNS query.
    Dns(Dns),
    /// By a person, elsewhere: the output of what they ran, pasted. Somebody's word, never a measurement.
    Pasted {
        /// Who pasted it.
        by: String,
        /// How it came: `screen`, or the name of a file.
        via: String,
    },
    /// Otherwise: a plan, a clock, a file.
    Material(String),
}

/// The place it was read from: a node, a host, an address, `console`. Compared, never printed raw.
pub type Origin = String;

/// One thing that was read.
#[derive(Clone, PartialEq, Eq)]
pub struct Item {
    /// Name of its body's file.
    pub file: String,
    /// Where.
    pub from: Origin,
    /// How.
    pub kind: Kind,
    /// When, where it was kept.
    pub at: Option<jiff::Timestamp>,
    /// How long it took, where that was kept.
    pub took: Option<std::time::Duration>,
    /// Body: an answer, an output, a text.
    pub body: String,
    /// What a command said on its error stream.
    pub stderr: String,
    /// Nothing came, and that is what came.
    pub empty: bool,
}

/// Without the body: bodies are foreign and long.
impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item")
            .field("file", &self.file)
            .field("from", &self.from)
            .field("kind", &self.kind)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl Item {
    /// The request, where it is one.
    #[must_use]
    pub const fn http(&self) -> Option<&Http> {
        match &self.kind {
            Kind::Http(http) => Some(http),
            _ => None,
        }
    }

    /// The command line and its exit status, where it is one.
    #[must_use]
    pub fn command(&self) -> Option<(&str, Option<i32>)> {
        match &self.kind {
            Kind::Command { line, exit } => Some((line, *exit)),
            _ => None,
        }
    }

    /// The question, where it is one.
    #[must_use]
    pub const fn dns(&self) -> Option<&Dns> {
        match &self.kind {
            Kind::Dns(dns) => Some(dns),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(request: &str) -> Http {
        Http::parse(request, Ended { status: 200, reason: "OK".into() }).expect("a request")
    }

    #[test]
    fn the_path_tells_the_interface() {
        for (request, api, path) in [
            ("GET /api2/json/cluster/sdn/zones?running=1", Api::Proxmox, "cluster/sdn/zones"),
            ("GET /api/v1/servers/localhost/zones/x.example.", Api::PowerDns, "servers/localhost/zones/x.example."),
            ("POST /api/firewall/filter/apply", Api::Opnsense, "firewall/filter/apply"),
            ("GET /metrics", Api::Other, "/metrics"),
        ] {
            let http = http(request);
            assert_eq!((http.api, http.path.as_str()), (api, path), "{request}");
        }
        assert_eq!(http("GET /api2/json/a?x=1&y").query.get("x").map(String::as_str), Some("1"));
        assert!(Http::parse("nonsense", Ended { status: 0, reason: String::new() }).is_none());
    }

    #[test]
    fn a_star_is_one_segment() {
        let one = http("GET /api2/json/nodes/pve1/sdn/zones/z/ip-vrf");
        assert!(one.gets(Api::Proxmox, "nodes/*/sdn/zones/*/ip-vrf"));
        assert!(!one.gets(Api::Proxmox, "nodes/*/sdn/zones/*"));
        assert!(!one.gets(Api::Proxmox, "nodes/*/sdn/zones/*/ip-vrf/x"));
        assert!(!one.gets(Api::Opnsense, "nodes/*/sdn/zones/*/ip-vrf"));
        assert_eq!(one.segment(1), "pve1");
    }
}
