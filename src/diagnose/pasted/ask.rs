//! What only a workload, another segment or a person can run: where, the command, and what ought to come of it.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::Serialize;

use super::{Reading, Said, Tried};

/// Which packets a capture takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// From and to this network.
    Net(Ipv4Net),
    /// Arriving, to this address.
    InTo(Ipv4Addr),
}

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// Three echo requests.
    Ping(Ipv4Addr),
    /// A TCP connection, closed at once.
    Tcp(Ipv4Addr, u16),
    /// One question to a DNS server.
    Dns {
        /// Server.
        server: Ipv4Addr,
        /// Name, in lower case, without a final dot.
        name: String,
    },
    /// Twenty packets, or twenty seconds, of one device.
    Capture {
        /// Device.
        device: String,
        /// Which packets.
        filter: Filter,
    },
}

/// Whether a word may stand in a command as it is.
fn harmless(word: &str) -> bool {
    let ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !word.is_empty() && !word.starts_with('-') && word.chars().all(ok)
}

impl Ask {
    /// The command: reads only, and ends by itself. `None` where a name in it has to be quoted, which none has.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        Some(match self {
            Self::Ping(ip) => format!("ping -c 3 -W 1 {ip}"),
            Self::Tcp(ip, port) => format!("nc -zv -w 3 {ip} {port}; echo \"tcp {ip}:{port} exit $?\""),
            Self::Dns { server, name } if harmless(name) => format!("dig +time=2 +tries=1 @{server} {name} A"),
            Self::Capture { device, filter: Filter::Net(net) } if harmless(device) => {
                format!("timeout 20 tcpdump -nn -c 20 -i {device} net {net}")
            }
            Self::Capture { device, filter: Filter::InTo(ip) } if harmless(device) => {
                format!("timeout 20 tcpdump -nn -c 20 -Q in -i {device} dst host {ip}")
            }
            Self::Dns { .. } | Self::Capture { .. } => return None,
        })
    }

    /// As a result of it says what was tried.
    #[must_use]
    pub fn tried(&self) -> Tried {
        match self {
            Self::Ping(ip) => Tried::Ping(*ip),
            Self::Tcp(ip, port) => Tried::Tcp(*ip, *port),
            Self::Dns { server, name } => Tried::Dns(*server, name.clone()),
            Self::Capture { device, .. } => Tried::Capture(device.clone()),
        }
    }
}

/// What ought to come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wants {
    /// Silence: anything that answers is a leak.
    Nothing,
    /// An answer: it shows that the sender has a network at all, or that the path works.
    Answer,
}

/// Where it is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Whence {
    /// Tenant, segment or node.
    pub name: String,
    /// A workload of the tenant, where one is known to run.
    pub workload: Option<String>,
    /// In words: `in a workload of tdemo`.
    pub words: String,
    /// Networks of its own.
    pub nets: Vec<Ipv4Net>,
}

impl Whence {
    /// `tdemo/app`, or the name alone.
    #[must_use]
    pub fn label(&self) -> String {
        self.workload.as_ref().map_or_else(|| self.name.clone(), |workload| format!("{}/{workload}", self.name))
    }

    /// Whether `from` names it: `tdemo`, or `tdemo/anything`.
    #[must_use]
    pub fn is(&self, from: &str) -> bool {
        from.split('/').next() == Some(self.name.as_str())
    }
}

/// One thing to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Leg {
    /// Where.
    pub from: Whence,
    /// What.
    pub ask: Ask,
    /// What ought to come of it.
    pub wants: Wants,
    /// Networks behind the address: who answers from there was reached.
    pub behind: Vec<Ipv4Net>,
}

/// What a result says about a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Came {
    /// As it ought to be.
    Right,
    /// Not as it ought to be.
    Wrong,
    /// It decides nothing.
    Unclear,
}

impl Leg {
    /// What `reading` says about it. Of silence only a time-out is proof: whoever refuses has answered, and a router's
    /// word that it does not go there is no word of who is behind it.
    #[must_use]
    pub fn judge(&self, reading: &Reading) -> Came {
        let reached = match &reading.said {
            Said::Answered { .. }
            | Said::Connected
            | Said::Tls
            | Said::Http(_)
            | Said::Refused
            | Said::Resolved { .. } => true,
            Said::Unreachable { by: Some(by) } | Said::Prohibited { by: Some(by) }
                if self.behind.iter().any(|net| net.contains(by)) =>
            {
                true
            }
            Said::Captured { packets } => *packets > 0,
            // Whoever has to drop it sent it back.
            Said::Loop if self.wants == Wants::Nothing => true,
            Said::Timeout => false,
            Said::Unreachable { .. }
            | Said::Prohibited { .. }
            | Said::Loop
            | Said::NoRoute
            | Said::NotResolved
            | Said::NotConnected
            | Said::NotRun(_) => return Came::Unclear,
        };
        if reached == (self.wants == Wants::Answer) { Came::Right } else { Came::Wrong }
    }
}
