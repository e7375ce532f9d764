//! Probes along a path: packets from inside a tenant's VRF or from the main table, and the flows a tenant has.
//!
//! They come back as they were printed: what they mean is for rules to say, which read them from evidence. What every
//! such probe misses is in `facts/exit-node.md` §5: it is sent by the node itself.

use std::net::Ipv4Addr;
use std::time::Duration;

use ipnet::Ipv4Net;

use super::client::Client;
use super::error::Error;
use super::frame::{Code, Frame};
use super::helper;
use super::probe::MAX_QUESTIONS;

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Three echo requests.
    Ping,
    /// The same with this many bytes of payload, not to be fragmented: 28 more on the wire.
    Mtu(u16),
    /// A connection to this port.
    Tcp(u16),
    /// A request to this port, for its status code.
    Http(u16),
}

/// What a reading leaves out, since it takes its time and changes seldom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// VNIs as FRR has bound them.
    Vnis,
    /// FRR's configuration in force, passwords masked.
    Running,
    /// `frr.conf.sav`, passwords masked.
    Saved,
}

impl Show {
    /// As the helper takes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Vnis => "vnis",
            Self::Running => "running",
            Self::Saved => "saved",
        }
    }

    /// The command that the helper runs for it.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self {
            Self::Vnis => "vtysh -c 'show evpn vni json'",
            Self::Running => "vtysh -c 'show running-config'",
            Self::Saved => "cat /etc/frr/frr.conf.sav",
        }
    }
}

/// One probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathProbe {
    vrf: Option<String>,
    source: Option<Ipv4Addr>,
    destination: Target,
    what: Option<What>,
    /// Asked for its hardware address on this interface.
    neighbour: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Address(Ipv4Addr),
    Prefix(Ipv4Net),
}

/// A probe as it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The command line as it ran on the node.
    pub line: String,
    /// How it ended.
    pub code: Code,
    /// What it printed.
    pub out: String,
    /// What it said on its error stream.
    pub err: String,
}

impl PathProbe {
    /// A probe of `destination`, from inside `vrf` or from the main table.
    ///
    /// # Errors
    /// [`Error::Question`] when `vrf` is no interface name, a port is 0, or a size is outside 28–65000 bytes.
    pub fn new(vrf: Option<&str>, source: Option<Ipv4Addr>, destination: Ipv4Addr, what: What) -> Result<Self, Error> {
        if vrf.is_some_and(|vrf| !helper::is_word(vrf, 15)) {
            return Err(Error::Question { field: "VRF" });
        }
        match what {
            What::Mtu(size) if !(28..=65000).contains(&size) => return Err(Error::Question { field: "size" }),
            What::Tcp(0) | What::Http(0) => return Err(Error::Question { field: "port" }),
            _ => {}
        }
        let vrf = vrf.map(str::to_owned);
        Ok(Self { vrf, source, destination: Target::Address(destination), what: Some(what), neighbour: None })
    }

    /// The flows that are tracked from `subnet`. Needs root there.
    ///
    /// # Errors
    /// [`Error::Question`] for a prefix shorter than 8 bits.
    pub fn flows(subnet: Ipv4Net) -> Result<Self, Error> {
        if subnet.prefix_len() < 8 {
            return Err(Error::Question { field: "prefix" });
        }
        let destination = Target::Prefix(subnet.trunc());
        Ok(Self { vrf: None, source: None, destination, what: None, neighbour: None })
    }

    /// Whether somebody answers for `address` on `interface`. Needs root there, and a program that not every node has.
    ///
    /// # Errors
    /// [`Error::Question`] when `interface` is no interface name.
    pub fn arp(interface: &str, address: Ipv4Addr) -> Result<Self, Error> {
        if !helper::is_word(interface, 15) {
            return Err(Error::Question { field: "interface" });
        }
        let neighbour = Some(interface.to_owned());
        Ok(Self { vrf: None, source: None, destination: Target::Address(address), what: None, neighbour })
    }

    /// As the helper takes it: `KIND VRF SOURCE DESTINATION ARGUMENT`.
    #[must_use]
    pub fn line(&self) -> String {
        let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        if let (Some(interface), Target::Address(address)) = (&self.neighbour, self.destination) {
            return format!("arp - - {address} {interface}");
        }
        let (kind, argument) = match self.what {
            None => ("flows", None),
            Some(What::Ping) => ("ping", None),
            Some(What::Mtu(size)) => ("mtu", Some(size)),
            Some(What::Tcp(port)) => ("tcp", Some(port)),
            Some(What::Http(port)) => ("http", Some(port)),
        };
        let destination = match self.destination {
            Target::Address(address) => address.to_string(),
            Target::Prefix(prefix) => prefix.to_string(),
        };
        format!(
            "{kind} {} {} {destination} {}",
            dash(self.vrf.clone()),
            dash(self.source.map(|s| s.to_string())),
            dash(argument.map(|a| a.to_string()))
        )
    }

    /// The command that the helper runs for it, as a person would type it.
    #[must_use]
    pub fn command(&self) -> String {
        let (destination, source) = match (self.destination, self.source) {
            (Target::Prefix(prefix), _) => return format!("conntrack -L -s {prefix}"),
            (Target::Address(address), source) => (address, source),
        };
        if let Some(interface) = &self.neighbour {
            return format!("arping -c 2 -w 2 -I {interface} {destination}");
        }
        let enter = self.vrf.as_ref().map(|vrf| format!("ip vrf exec {vrf} ")).unwrap_or_default();
        let from = |option: &str| source.map(|s| format!("{option} {s} ")).unwrap_or_default();
        match self.what.unwrap_or(What::Ping) {
            What::Ping => format!("{enter}ping -n -c 3 -i 0.3 -W 1 {}{destination}", from("-I")),
            What::Mtu(size) => {
                format!("{enter}ping -n -c 3 -i 0.3 -W 1 {}-M do -s {size} {destination}", from("-I"))
            }
            What::Tcp(port) => {
                format!("{enter}curl --connect-timeout 3 {}telnet://{destination}:{port}", from("--interface"))
            }
            What::Http(port) => {
                format!("{enter}curl --connect-timeout 3 {}http://{destination}:{port}/", from("--interface"))
            }
        }
    }
}

impl Client {
    /// Tries `probes` side by side, in one round trip; the ends in the same order. Each takes at most 8 s there.
    ///
    /// # Errors
    /// When the node could not be asked at all, or for more than [`MAX_QUESTIONS`].
    pub async fn probe_path(&self, deadline: Duration, probes: &[PathProbe]) -> Result<Vec<Ran>, Error> {
        if probes.len() > MAX_QUESTIONS {
            return Err(Error::Question { field: "number" });
        }
        let asked = probes.iter().map(|probe| (probe.line(), probe.command()));
        self.probe(&helper::PROBE_PATH, asked.collect(), deadline).await
    }

    /// Shows what a reading leaves out, in one round trip; the ends in the same order. Each takes at most 12 s there.
    ///
    /// # Errors
    /// When the node could not be asked at all.
    pub async fn probe_show(&self, deadline: Duration, all: &[Show]) -> Result<Vec<Ran>, Error> {
        let asked = all.iter().map(|show| (show.word().to_owned(), show.command().to_owned()));
        let mut ran = self.probe(&helper::PROBE_SHOW, asked.collect(), deadline).await?;
        for (ran, show) in ran.iter_mut().zip(all) {
            if *show != Show::Vnis {
                ran.out = super::parse::frr::config(&ran.out).text;
            }
        }
        Ok(ran)
    }

    /// Asks a probe of the helper: each question as it takes it, and the command that it runs for it.
    async fn probe(
        &self,
        command: &[&str],
        asked: Vec<(String, String)>,
        deadline: Duration,
    ) -> Result<Vec<Ran>, Error> {
        let input = helper::stream_of(asked.iter().map(|(line, _)| line.clone()));
        let output = self.runner.run(command, &input, deadline).await?;
        let frame = Frame::parse(&output.stdout, helper::VERSION).map_err(|e| self.no_frame(e, &output))?;
        let ended = |(n, (_, line)): (usize, (String, String))| {
            let part = frame.parts.get(&format!("q{n}")).ok_or_else(|| self.incomplete(n))?;
            let out = String::from_utf8_lossy(&part.out).into_owned();
            Ok(Ran { line, code: part.code, out, err: part.err.clone() })
        };
        asked.into_iter().enumerate().map(ended).collect()
    }

    fn incomplete(&self, number: usize) -> Error {
        Error::Damaged {
            destination: self.runner.destination().to_owned(),
            why: format!("the frame holds no answer to question {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEB: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 10);

    #[test]
    fn a_probe_is_spelt_out_for_the_helper_and_for_people() {
        let gateway = Ipv4Addr::new(10, 20, 129, 1);
        let new = |vrf, source, what| PathProbe::new(vrf, source, WEB, what).unwrap();
        for (probe, line, command) in [
            (
                new(Some("vrf_tdemo"), Some(gateway), What::Ping),
                "ping vrf_tdemo 10.20.129.1 198.51.100.10 -",
                "ip vrf exec vrf_tdemo ping -n -c 3 -i 0.3 -W 1 -I 10.20.129.1 198.51.100.10",
            ),
            (
                new(None, None, What::Mtu(1272)),
                "mtu - - 198.51.100.10 1272",
                "ping -n -c 3 -i 0.3 -W 1 -M do -s 1272 198.51.100.10",
            ),
            (
                new(Some("vrf_a"), None, What::Tcp(443)),
                "tcp vrf_a - 198.51.100.10 443",
                "ip vrf exec vrf_a curl --connect-timeout 3 telnet://198.51.100.10:443",
            ),
            (
                PathProbe::flows("10.20.129.7/24".parse().unwrap()).unwrap(),
                "flows - - 10.20.129.0/24 -",
                "conntrack -L -s 10.20.129.0/24",
            ),
            (
                PathProbe::arp("tdemo0", gateway).unwrap(),
                "arp - - 10.20.129.1 tdemo0",
                "arping -c 2 -w 2 -I tdemo0 10.20.129.1",
            ),
        ] {
            assert_eq!((probe.line().as_str(), probe.command().as_str()), (line, command));
        }
    }

    #[test]
    fn what_the_helper_would_refuse_is_not_sent() {
        let refused = |vrf, what| PathProbe::new(vrf, None, WEB, what).unwrap_err();
        assert_eq!(refused(Some("vrf;id"), What::Ping), Error::Question { field: "VRF" });
        assert_eq!(refused(None, What::Mtu(27)), Error::Question { field: "size" });
        assert_eq!(refused(None, What::Tcp(0)), Error::Question { field: "port" });
        let all = PathProbe::flows("0.0.0.0/0".parse().unwrap()).unwrap_err();
        assert_eq!(all, Error::Question { field: "prefix" });
    }
}
