//! The lab's control socket: faults from another process, and the exit node's programs.
//!
//! One JSON object a line each way, then the connection ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::faults::specs;
use super::gate::{Arrival, Late, Way};
use super::node::{self, Output, Run};
use super::state::Reach;
use super::{Shared, dns, http, site_file};

/// What can be asked of a running lab.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case")]
pub enum Request {
    /// Switch a fault on.
    FaultOn {
        /// `ID[@TARGET]`.
        fault: String,
    },
    /// Switch a fault off.
    FaultOff {
        /// `ID[@TARGET]`.
        fault: String,
    },
    /// List faults.
    Faults,
    /// Log in to the exit node.
    Enter {
        /// The command that is to run there, and a digest of what it reads.
        #[serde(default)]
        asked: String,
    },
    /// Keep what a command printed there.
    Keep {
        /// As the lab called it.
        under: String,
        /// What it printed.
        output: Output,
    },
    /// Run one of its programs.
    Run(Run),
    /// Put a file in the place of its `frr.conf.local`.
    PutLocal {
        /// The whole text.
        text: String,
        /// SHA-256 of the file that it is to replace, or `absent`; `None` = whatever is there.
        #[serde(default)]
        replaces: Option<String>,
    },
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// Done.
    Done,
    /// Faults that are on, and all that can be.
    Faults {
        /// On now, `ID@TARGET`.
        active: Vec<String>,
        /// Id and title of every fault.
        known: Vec<(String, String)>,
    },
    /// The exit node lets in: its root and its programs.
    Entered {
        /// Directory that stands for `/`.
        root: PathBuf,
        /// Directory of its programs.
        bin: PathBuf,
        /// What the command prints is to be kept under this name.
        #[serde(default)]
        keep: Option<String>,
    },
    /// A program's output.
    Output(Output),
    /// Refused, and why.
    Error {
        /// One line.
        text: String,
        /// What can be done about it; empty where nothing is to be said.
        help: String,
    },
}

/// Why a lab could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No lab listens there.
    #[error("no lab answers at {}: {source}", path.display())]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It answered something else.
    #[error("the lab at {} answered what was not understood", path.display())]
    Garbled {
        /// The socket.
        path: PathBuf,
    },
}

impl ControlError {
    /// What the operator can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unreachable { .. } => "start one with `deevnet-console lab`, or name its directory".to_owned(),
            Self::Garbled { .. } => "use the same version of deevnet-console for both".to_owned(),
        }
    }
}

/// Path of the control socket of a lab's directory.
#[must_use]
pub fn socket(dir: &Path) -> PathBuf {
    dir.join("lab.sock")
}

/// Asks the lab that lives in `dir`. Blocks until it has answered.
///
/// # Errors
/// When no lab answers there.
pub fn send(dir: &Path, request: &Request) -> Result<Reply, ControlError> {
    ask(&socket(dir), request)
}

/// Asks the lab behind a socket.
///
/// # Errors
/// When no lab answers there.
pub fn ask(path: &Path, request: &Request) -> Result<Reply, ControlError> {
    let unreachable = |source| ControlError::Unreachable { path: path.to_owned(), source };
    let garbled = || ControlError::Garbled { path: path.to_owned() };
    let mut line = serde_json::to_string(request).map_err(|_| garbled())?;
    line.push('\n');
    let mut stream = UnixStream::connect(path).map_err(unreachable)?;
    stream.write_all(line.as_bytes()).map_err(unreachable)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).map_err(unreachable)?;
    serde_json::from_str(&answer).map_err(|_| garbled())
}

/// Serves until `stop` turns true.
pub(super) async fn serve(listener: UnixListener, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            Some(_) = clients.join_next(), if !clients.is_empty() => {}
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                clients.spawn(client(stream, Arc::clone(&shared)));
            }
        }
    }
    clients.shutdown().await;
}

async fn client(stream: tokio::net::UnixStream, shared: Arc<Shared>) {
    let (read, mut write) = stream.into_split();
    let Ok(Some(line)) = tokio::io::BufReader::new(read).lines().next_line().await else { return };
    let reply = match serde_json::from_str(&line) {
        Ok(request) => gated(&shared, request).await,
        Err(error) => Some(Reply::Error { text: format!("not understood: {error}"), help: String::new() }),
    };
    let Some(reply) = reply else { return };
    if let Ok(mut text) = serde_json::to_string(&reply) {
        text.push('\n');
        // A client that has gone needs no answer.
        let _ = write.write_all(text.as_bytes()).await;
    }
}

/// The reply past whoever stands at the gate, which logins and the file have to pass; `None` where it is lost on its way.
async fn gated(shared: &Arc<Shared>, request: Request) -> Option<Reply> {
    let (method, target, body) = match &request {
        Request::Enter { asked } => ("enter", asked.clone(), Vec::new()),
        Request::PutLocal { text, .. } => ("put", "frr.conf.local".to_owned(), text.clone().into_bytes()),
        _ => return Some(handle(shared, request).await),
    };
    let method = method.to_owned();
    let arrival = Arrival { number: 0, to: "exit", method, target, media: String::new(), body };
    let (standing, due) = shared.gates.arrives(arrival);
    http::do_late(shared, due).await;
    let failed = |code: u16| {
        let code = u8::try_from(code % 256).unwrap_or(255).max(1);
        Reply::Output(Output::fail(code, &format!("the exit node failed: {code}")))
    };
    match (standing.way, &request) {
        (Way::Unheard, _) => return None,
        (Way::Held, _) => {
            standing.held().await;
            return None;
        }
        (Way::Refused(code), _) => return Some(failed(code)),
        // It has no credential.
        (Way::Repeated, _) => return Some(failed(1)),
        (Way::Later(more), Request::PutLocal { text, .. }) => {
            shared.gates.hold(standing.due(more), Late::Put(text.clone()));
            return None;
        }
        (Way::Twice, _) => drop(handle(shared, request.clone()).await),
        _ => {}
    }
    let reply = handle(shared, request).await;
    standing.done();
    match standing.way {
        Way::Unanswered | Way::Later(_) => None,
        Way::Kept => {
            standing.held().await;
            None
        }
        Way::Denied(code) => Some(failed(code)),
        _ => Some(reply),
    }
}

async fn handle(shared: &Arc<Shared>, request: Request) -> Reply {
    let done = |result: Result<(), super::faults::FaultError>| match result {
        Ok(()) => Reply::Done,
        Err(error) => Reply::Error { text: error.to_string(), help: error.help() },
    };
    match request {
        Request::FaultOn { fault } => done(shared.fault_on(&fault)),
        Request::FaultOff { fault } => done(shared.fault_off(&fault)),
        Request::Faults => Reply::Faults {
            active: shared.faults(),
            known: specs().map(|spec| (spec.id.to_owned(), spec.title.to_owned())).collect(),
        },
        Request::Enter { asked } => enter(shared, &asked).await,
        Request::Keep { under, output } => {
            shared.readings.keep(under, output);
            Reply::Done
        }
        Request::PutLocal { text, replaces } => Reply::Output(shared.put_local(&text, replaces.as_deref())),
        Request::Run(run) => match node::dig(&run) {
            Some((Some(vrf), _)) if !shared.world().exit.root => {
                Reply::Output(Output::fail(1, &format!("Failed to open vrf {vrf}: Operation not permitted")))
            }
            Some((vrf, args)) => Reply::Output(dns::dig::run(shared, &shared.resolver, vrf, &args).await),
            None => Reply::Output(shared.run(&run)),
        },
    }
}

async fn enter(shared: &Arc<Shared>, asked: &str) -> Reply {
    let world = shared.world();
    let refused = |words: &str| {
        let text = format!("ssh: connect to host {} port 22: {words}\n", world.exit.node);
        Reply::Output(Output { stdout: String::new(), stderr: text, code: 255 })
    };
    match world.exit.reach {
        Reach::Refused => return refused("Connection refused"),
        Reach::NoRoute => return refused("No route to host"),
        Reach::After(0) => {}
        Reach::After(delay) => tokio::time::sleep(Duration::from_millis(delay)).await,
    }
    let keep = shared.readings.name(&world, asked);
    if let Some(kept) = keep.as_ref().and_then(|name| shared.readings.kept(name)) {
        return Reply::Output(kept);
    }
    let shared = Arc::clone(shared);
    let written = tokio::task::spawn_blocking(move || site_file::refresh_root(&shared)).await;
    match written {
        Ok(Ok((root, bin))) => Reply::Entered { root, bin, keep },
        Ok(Err(error)) => Reply::Error { text: error.to_string(), help: String::new() },
        Err(_) => Reply::Error { text: "the node's files could not be written".to_owned(), help: String::new() },
    }
}
