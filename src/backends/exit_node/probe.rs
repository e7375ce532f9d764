//! Probes from a node: questions that are sent from inside a tenant's VRF, several in one round trip.
//!
//! What such a question misses: it is sent by the node itself, so it passes neither the tenant's bridge nor the
//! forwarding of it, and on older FRR its answers never come back (`facts/exit-node.md` §5). Its silence alone proves
//! nothing.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::clean;
use super::client::Client;
use super::error::Error;
use super::frame::{Code, Frame, Part};
use super::helper;
use super::probe_dig;
use crate::backends::dns::{Answer, DnsName, Failure, RecordType};

/// Most questions of one round trip.
pub const MAX_QUESTIONS: usize = 32;
/// Port that `dig` asks.
const PORT: u16 = 53;

/// One DNS question from inside a VRF, with recursion. A `Probe`: it sends packets and changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VrfQuestion {
    vrf: String,
    server: Ipv4Addr,
    name: DnsName,
    kind: RecordType,
}

impl VrfQuestion {
    /// A question.
    ///
    /// # Errors
    /// [`Error::Question`] when `vrf` is no interface name, or `name` holds `*` or begins with a dash or a slash: what
    /// the helper does not take.
    pub fn new(vrf: &str, server: Ipv4Addr, name: DnsName, kind: RecordType) -> Result<Self, Error> {
        if !helper::is_word(vrf, 15) {
            return Err(Error::Question { field: "VRF" });
        }
        if name.as_str().is_empty() || name.as_str().contains('*') || name.as_str().starts_with(['-', '/']) {
            return Err(Error::Question { field: "name" });
        }
        Ok(Self { vrf: vrf.to_owned(), server, name, kind })
    }

    /// As the helper takes it: `VRF SERVER NAME TYPE`.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {} {} {}", self.vrf, self.server, self.name, self.kind)
    }

    /// The server, with its port.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        SocketAddr::from((self.server, PORT))
    }

    pub(super) const fn name(&self) -> &DnsName {
        &self.name
    }

    pub(super) const fn kind(&self) -> RecordType {
        self.kind
    }
}

/// Why one question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VrfFailure {
    /// Entering a VRF needs root.
    #[error("{node}: asking from inside {vrf} needs root: {why}")]
    Denied {
        /// Node.
        node: String,
        /// VRF.
        vrf: String,
        /// sudo's words.
        why: String,
    },
    /// A program is missing.
    #[error("{node}: {why}")]
    Missing {
        /// Node.
        node: String,
        /// Which.
        why: String,
    },
    /// The node has no such VRF.
    #[error("{node} has no {vrf}")]
    NoVrf {
        /// Node.
        node: String,
        /// VRF.
        vrf: String,
    },
    /// The VRF could not be entered, or dig failed.
    #[error("{node}: dig could not run in {vrf} (exit code {code}): {why}")]
    NotRun {
        /// Node.
        node: String,
        /// VRF.
        vrf: String,
        /// Exit code.
        code: i32,
        /// First line of what it said.
        why: String,
    },
    /// What dig printed is not understood.
    #[error("{node}: the output of dig is not understood: {why}")]
    NotUnderstood {
        /// Node.
        node: String,
        /// What.
        why: String,
    },
    /// The question was sent, and no answer came.
    #[error("asked in {vrf} on {node}: {failure}")]
    Dns {
        /// Node.
        node: String,
        /// VRF.
        vrf: String,
        /// How it failed.
        failure: Failure,
    },
}

impl VrfFailure {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Denied { .. } => {
                format!("give the account {} in sudoers (docs/exit-node-access.md)", helper::INSTALL_PATH)
            }
            Self::Missing { .. } => "install bind9-dnsutils on the node".to_owned(),
            Self::NoVrf { .. } => "does the tenant's zone exist, and has an SDN apply reached this node?".to_owned(),
            Self::NotRun { .. } => "entering a VRF needs root and cgroup2".to_owned(),
            Self::NotUnderstood { .. } => "run the question by hand on the node and compare".to_owned(),
            Self::Dns { failure, .. } => failure.help(),
        }
    }
}

impl Client {
    /// Asks `questions` side by side, in one round trip; the answers in the same order. Each takes at most 8 s there.
    ///
    /// # Errors
    /// When the node could not be asked at all, or for more than [`MAX_QUESTIONS`].
    pub async fn probe_dns(
        &self,
        deadline: Duration,
        questions: &[VrfQuestion],
    ) -> Result<Vec<Result<Answer, VrfFailure>>, Error> {
        if questions.len() > MAX_QUESTIONS {
            return Err(Error::Question { field: "number" });
        }
        let input = helper::stream_of(questions.iter().map(VrfQuestion::line));
        let output = self.runner.run(&helper::PROBE_DNS, &input, deadline).await?;
        let frame = Frame::parse(&output.stdout, helper::VERSION).map_err(|e| self.no_frame(e, &output))?;
        Ok(questions.iter().enumerate().map(|(n, question)| self.answer(&frame, n, question)).collect())
    }

    fn answer(&self, frame: &Frame, number: usize, question: &VrfQuestion) -> Result<Answer, VrfFailure> {
        let part = frame.parts.get(&format!("q{number}")).ok_or_else(|| VrfFailure::NotUnderstood {
            node: self.node.clone(),
            why: format!("the frame holds no answer to question {number}"),
        })?;
        answer_of(&self.node, part, question)
    }
}

/// The answer in one part of a frame.
fn answer_of(node: &str, part: &Part, question: &VrfQuestion) -> Result<Answer, VrfFailure> {
    let (node, vrf, said) = (node.to_owned(), question.vrf.clone(), clean::first_line(&part.err));
    let code = match part.code {
        Code::Denied => return Err(VrfFailure::Denied { node, vrf, why: said }),
        Code::Missing if said.ends_with("no such VRF on this node") => return Err(VrfFailure::NoVrf { node, vrf }),
        Code::Missing => return Err(VrfFailure::Missing { node, why: said }),
        Code::Exit(code) => code,
    };
    match probe_dig::parse(&String::from_utf8_lossy(&part.out), question) {
        Ok(answer) => Ok(answer),
        Err(probe_dig::NoAnswer::Failed(failure)) => Err(VrfFailure::Dns { node, vrf, failure }),
        Err(probe_dig::NoAnswer::Silent) if said.contains("Invalid VRF") => Err(VrfFailure::NoVrf { node, vrf }),
        Err(probe_dig::NoAnswer::Silent) => {
            let why = if said.is_empty() { "nothing was printed".to_owned() } else { said };
            Err(VrfFailure::NotRun { node, vrf, code, why })
        }
        Err(probe_dig::NoAnswer::NotUnderstood(why)) => Err(VrfFailure::NotUnderstood { node, why }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> VrfQuestion {
        let name = "www.example.net".parse().unwrap();
        VrfQuestion::new("vrf_tdemo", Ipv4Addr::new(10, 20, 50, 1), name, RecordType::A).unwrap()
    }

    fn part(code: Code, out: &str, err: &str) -> Part {
        Part { code, out: out.as_bytes().to_vec(), err: err.to_owned() }
    }

    #[test]
    fn what_the_helper_would_refuse_is_not_sent() {
        let server = Ipv4Addr::LOCALHOST;
        let ask = |vrf: &str, name: &str| VrfQuestion::new(vrf, server, name.parse().unwrap(), RecordType::A);
        assert_eq!(question().line(), "vrf_tdemo 10.20.50.1 www.example.net A");
        for vrf in ["", "-x", "vrf tdemo", "vrf;id", "vrf_longer_than_15"] {
            assert_eq!(ask(vrf, "x"), Err(Error::Question { field: "VRF" }), "{vrf}");
        }
        for name in [".", "*.x", "-x", "/x"] {
            assert_eq!(ask("vrf_x", name), Err(Error::Question { field: "name" }), "{name}");
        }
    }

    #[test]
    fn each_way_not_to_ask_is_told_apart() {
        let told = |part: Part| answer_of("hv02", &part, &question()).unwrap_err();
        let denied = told(part(Code::Denied, "", "sudo: a password is required\n"));
        assert_eq!(denied.to_string(), "hv02: asking from inside vrf_tdemo needs root: sudo: a password is required");
        assert!(matches!(told(part(Code::Missing, "", "dig: not found\n")), VrfFailure::Missing { .. }));
        let gone = told(part(Code::Missing, "", "vrf_tdemo: no such VRF on this node\n"));
        assert_eq!(gone.to_string(), "hv02 has no vrf_tdemo");
        assert!(matches!(told(part(Code::Exit(255), "", "Invalid VRF name\n")), VrfFailure::NoVrf { .. }));
        let bpf = told(part(Code::Exit(255), "", "Failed to load BPF prog: 'Operation not permitted'\n"));
        assert!(matches!(bpf, VrfFailure::NotRun { code: 255, .. }), "{bpf:?}");
        let silent = told(part(Code::Exit(9), ";; communications error to 10.20.50.1#53: timed out\n", ""));
        assert!(matches!(silent, VrfFailure::Dns { failure: Failure::TimedOut { .. }, .. }), "{silent:?}");
    }
}
