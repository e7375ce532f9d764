//! The client: one reading, one round trip.

use std::time::Duration;

use ipnet::Ipv4Net;

use super::assemble;
use super::clean;
use super::error::Error;
use super::frame::{Frame, FrameError};
use super::helper::{self, LookupRequest, MAX_FLOWS, MAX_LOOKUPS};
use super::model::Reading;
use super::transport::{CommandTransport, Output, Runner, SshOptions, SshTransport};
use crate::site::model::{ExitNodeSite, Transport};

/// Code with which the helper refuses arguments, and with which a shell tells that it found no such program.
const REFUSED: i32 = 2;
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;
const REFUSAL: &str = "deevnet-exit-node: refused: ";

/// A client of one exit node. Cheap to make: it connects when it first reads.
#[derive(Debug)]
pub struct Client {
    pub(super) node: String,
    pub(super) runner: Runner,
}

impl Client {
    /// A client as the site file describes it.
    #[must_use]
    pub fn new(site: &ExitNodeSite) -> Self {
        Self::with_ssh_options(site, SshOptions::default())
    }

    /// The same with another ssh configuration; without meaning for a `command` transport.
    #[must_use]
    pub fn with_ssh_options(site: &ExitNodeSite, options: SshOptions) -> Self {
        let runner = match &site.transport {
            Transport::Ssh(destination) => Runner::Ssh(SshTransport::new(destination.clone(), options)),
            Transport::Command(prefix) => Runner::Command(CommandTransport::new(prefix.clone())),
        };
        Self { node: site.name.clone(), runner }
    }

    /// Reads everything for all tenants in one round trip, and asks `lookups` in it. A first reading has none: its
    /// links tell which VRFs there are.
    ///
    /// # Errors
    /// When there is no reading at all. A part that could not be read is told in the reading.
    pub async fn read(&self, deadline: Duration, lookups: &[LookupRequest]) -> Result<Reading, Error> {
        self.ask(deadline, lookups, &[]).await.map(|(reading, _)| reading)
    }

    /// [`Client::read`], and beside it its frame as text, to be kept as evidence.
    ///
    /// # Errors
    /// As [`Client::read`].
    pub async fn read_raw(&self, deadline: Duration, lookups: &[LookupRequest]) -> Result<(Reading, String), Error> {
        self.ask(deadline, lookups, &[]).await.map(|(reading, frame)| (reading, frame.to_text()))
    }

    /// Reads everything and, in the same round trip, counts and lists the flows tracked from `prefixes`.
    ///
    /// # Errors
    /// As [`Client::read`].
    pub async fn read_with_flows(&self, deadline: Duration, prefixes: &[Ipv4Net]) -> Result<Reading, Error> {
        self.ask(deadline, &[], prefixes).await.map(|(reading, _)| reading)
    }

    async fn ask(
        &self,
        deadline: Duration,
        lookups: &[LookupRequest],
        prefixes: &[Ipv4Net],
    ) -> Result<(Reading, Frame), Error> {
        if lookups.len() > MAX_LOOKUPS || prefixes.len() > MAX_FLOWS {
            return Err(Error::Lookup { field: "number" });
        }
        let flows = prefixes.iter().map(|prefix| format!("flows/{}", prefix.trunc()));
        let stream = helper::stream_of(lookups.iter().map(LookupRequest::argument).chain(flows));
        let output = self.runner.run(&helper::COMMAND, &stream, deadline).await?;
        let frame = Frame::parse(&output.stdout, helper::VERSION).map_err(|e| self.no_frame(e, &output))?;
        let names: Vec<&str> = lookups.iter().map(LookupRequest::name).collect();
        let damaged = |why: super::parse::NotUnderstood| Error::Damaged { destination: self.destination(), why: why.0 };
        let mut reading = assemble::reading(&self.node, &frame, &names).map_err(damaged)?;
        reading.flows = assemble::flows(&frame, prefixes);
        Ok((reading, frame))
    }

    fn destination(&self) -> String {
        self.runner.destination().to_owned()
    }

    pub(super) fn no_frame(&self, error: FrameError, output: &Output) -> Error {
        let destination = self.destination();
        match error {
            FrameError::Truncated { have, want } => Error::Truncated { destination, have, want },
            FrameError::Damaged(why) => Error::Damaged { destination, why },
            FrameError::Version(found) => Error::HelperVersion { destination, found, wanted: helper::VERSION },
            FrameError::Absent => self.silence(output),
        }
    }

    fn silence(&self, output: &Output) -> Error {
        let destination = self.destination();
        let refusal = output.stderr.lines().find_map(|line| line.split_once(REFUSAL));
        let said = [clean::first_line(&output.stderr), clean::first_line(&String::from_utf8_lossy(&output.stdout))];
        let said = said.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| "nothing was printed".to_owned());
        match (output.code, refusal) {
            (Some(REFUSED), Some((_, why))) => Error::Refused { destination, why: clean::clean(why) },
            (Some(NOT_EXECUTABLE | NOT_FOUND), _) => Error::NoShell { destination, why: said },
            (code, _) => {
                Error::NoFrame { destination, code: code.map_or_else(|| "?".to_owned(), |c| c.to_string()), said }
            }
        }
    }
}
