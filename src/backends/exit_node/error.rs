//! Why there is no reading at all. What is missing from a reading is told in it, part by part.

/// Why an exit node could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No `ssh` on this machine.
    #[error("ssh is not installed here, and {destination} is reached through it")]
    SshMissing {
        /// Destination as in the site file.
        destination: String,
    },
    /// The program of a `command` transport is not there or may not be run.
    #[error("{program} could not be started: {why}")]
    CommandMissing {
        /// First word of the command.
        program: String,
        /// The system's words.
        why: String,
    },
    /// The host's key is not known yet.
    #[error("the SSH host key of {destination} is not known here")]
    HostUnknown {
        /// Destination.
        destination: String,
    },
    /// The host answers with another key than the known one.
    #[error("the SSH host key of {destination} is not the one that is known here")]
    HostKeyChanged {
        /// Destination.
        destination: String,
    },
    /// The host refused the login.
    #[error("{destination} refused the login: {why}")]
    AuthRefused {
        /// Destination.
        destination: String,
        /// ssh's words.
        why: String,
    },
    /// Nothing listens.
    #[error("{destination} refused the connection")]
    ConnectionRefused {
        /// Destination.
        destination: String,
    },
    /// The name, the address or the way there failed.
    #[error("{destination} could not be reached: {why}")]
    Unreachable {
        /// Destination.
        destination: String,
        /// ssh's words.
        why: String,
    },
    /// The connection ended before the answer began.
    #[error("the connection to {destination} was lost: {why}")]
    Disconnected {
        /// Destination.
        destination: String,
        /// ssh's words.
        why: String,
    },
    /// The deadline passed.
    #[error("{destination} did not answer within {seconds} s")]
    TimedOut {
        /// Destination.
        destination: String,
        /// The deadline.
        seconds: u64,
    },
    /// The node has no shell, or the account's shell runs something else.
    #[error("{destination} cannot run the helper: {why}")]
    NoShell {
        /// Destination.
        destination: String,
        /// What was said.
        why: String,
    },
    /// It ran, and no frame came.
    #[error("{said}{}", no_reading(code))]
    NoFrame {
        /// Destination.
        destination: String,
        /// Exit code, `?` when there was none.
        code: String,
        /// First line of what came instead.
        said: String,
    },
    /// The frame ends early: the link was cut.
    #[error("the answer of {destination} ends early: {have} of {want} bytes")]
    Truncated {
        /// Destination.
        destination: String,
        /// Bytes that came.
        have: usize,
        /// Bytes announced; 0 when the header itself is cut.
        want: usize,
    },
    /// The frame is not one.
    #[error("the answer of {destination} is damaged: {why}")]
    Damaged {
        /// Destination.
        destination: String,
        /// What is wrong.
        why: String,
    },
    /// More than the cap.
    #[error("the answer of {destination} is larger than {limit} bytes")]
    TooLarge {
        /// Destination.
        destination: String,
        /// The cap.
        limit: usize,
    },
    /// A frame of another version.
    #[error("the helper on {destination} is version {found}, this console needs {wanted}")]
    HelperVersion {
        /// Destination.
        destination: String,
        /// Version of the frame.
        found: u32,
        /// Ours.
        wanted: u32,
    },
    /// The helper refused its arguments.
    #[error("the helper on {destination} refused: {why}")]
    Refused {
        /// Destination.
        destination: String,
        /// Its words.
        why: String,
    },
    /// The program that puts `frr.conf.local` in place failed.
    #[error("{destination} did not put frr.conf.local in place (exit code {code}): {said}")]
    NotPut {
        /// Destination, or the program.
        destination: String,
        /// Exit code.
        code: i32,
        /// Its last words.
        said: String,
    },
    /// A lookup that must not be sent.
    #[error("a route lookup's {field} holds characters that are not sent to a node")]
    Lookup {
        /// Which field.
        field: &'static str,
    },
    /// A question or probe that must not be sent.
    #[error("a question's {field} holds what is not sent to a node")]
    Question {
        /// Which field.
        field: &'static str,
    },
    /// This machine failed.
    #[error("{what}: {why}")]
    Local {
        /// What was tried.
        what: String,
        /// The system's words.
        why: String,
    },
}

/// What is said of an end without a reading beside what was printed. 255 is ssh's own end: its words say all there is.
fn no_reading(code: &str) -> String {
    if code == "255" { String::new() } else { format!(" (exit code {code}, and no reading)") }
}

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::SshMissing { .. } => "install an OpenSSH client".to_owned(),
            Self::CommandMissing { program, .. } => {
                format!("correct `transport = {{ command = [\"{program}\", …] }}` in the site file")
            }
            Self::HostUnknown { destination } => {
                format!("run `ssh {destination}` once and compare the fingerprint with the node's own")
            }
            Self::HostKeyChanged { destination } => format!(
                "find out why it changed (reinstalled, or somebody in between); only then `ssh-keygen -R` the host and run `ssh {destination}`"
            ),
            Self::AuthRefused { destination, .. } => {
                format!(
                    "`ssh -o BatchMode=yes {destination} true` must work without a question: key, agent, ~/.ssh/config"
                )
            }
            Self::ConnectionRefused { destination } | Self::Unreachable { destination, .. } => {
                format!("is the node up, and is its address right? try `ssh {destination} true`")
            }
            Self::Disconnected { .. } | Self::Truncated { .. } => "read again; the link was cut".to_owned(),
            Self::TimedOut { .. } => "read again; a busy node may need a longer deadline".to_owned(),
            Self::NoShell { .. } => "the account needs a shell that runs `sh -s`".to_owned(),
            Self::NoFrame { destination, .. } | Self::Damaged { destination, .. } => {
                format!("run `{destination}` by hand as in docs/exit-node-access.md and look at what it prints")
            }
            Self::TooLarge { .. } => {
                "the node holds far more than a tenant platform would; look at its routing tables".to_owned()
            }
            Self::HelperVersion { .. } => format!("install this console's helper at {}", super::helper::INSTALL_PATH),
            Self::Refused { .. } => {
                "mend what it names on the node; the helper there has to be this console's".to_owned()
            }
            Self::NotPut { .. } => {
                "run it by hand with the file on stdin, as docs/configuration.md says, and look at what it prints"
                    .to_owned()
            }
            Self::Lookup { .. } => "use letters, digits, dot, dash and underscore".to_owned(),
            Self::Question { .. } => "ask for a name of letters, digits, dot, dash and underscore".to_owned(),
            Self::Local { .. } => "see the message".to_owned(),
        }
    }
}
