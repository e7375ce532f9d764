//! What verbs open before they work: the site, the user's preferences, the log, a runtime.

use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use tracing_subscriber::EnvFilter;

use super::args::Global;
use super::{Code, Failure};
use crate::inventory::feed::Clients;
use crate::site::Site;
use crate::site::places::Places;
use crate::site::user_config::UserConfig;

/// The user's places.
pub(super) fn places() -> Result<Places, Failure> {
    Places::from_environment().map_err(|e| Failure::usage(e.to_string(), e.help()))
}

/// The user's preferences; none where there is no file.
pub(super) fn preferences(places: &Places) -> Result<UserConfig, Failure> {
    UserConfig::load(&places.user_config()).map_err(|e| Failure::plain(e.to_string()))
}

/// The site that was asked for, or the only one there is. Its warnings go to stderr.
pub(super) fn site(global: &Global) -> Result<Arc<Site>, Failure> {
    let places = places()?;
    let preferences = preferences(&places)?;
    let path = places
        .choose(global.site.as_deref(), preferences.default_site.as_deref())
        .map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    let site = Site::load(&path).map_err(|e| Failure::plain(e.to_string()))?;
    for warning in &site.warnings {
        warn(warning);
    }
    Ok(Arc::new(site))
}

/// Clients for a verb that reads once. A secret or certificate that cannot be used is the configuration's fault.
pub(super) async fn clients(site: &Site) -> Result<Clients, Failure> {
    let clients = Clients::connect(site).await;
    if let Err(why) = &clients.proxmox {
        return Err(Failure { code: Code::Usage, text: why.text.clone(), help: why.help.clone() });
    }
    Ok(clients)
}

/// One line on stderr.
pub(super) fn warn(text: &str) {
    use std::io::Write as _;
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(std::io::stderr(), "warning: {}", crate::text::clean_lines(text));
}

/// One line on stderr about what is as it should be.
pub(super) fn note(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A runtime for the engine.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        // The screen has the main thread for itself; the readers wait for the network nearly all of their time.
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|e| Failure::plain(format!("no runtime: {e}")))
}

/// Lines that wait to be written at most; the queue takes its whole room at once, some 32 bytes a line.
const LOG_LINES: usize = 8192;

/// The log file, when one was asked for. Never the terminal.
pub(super) fn log(global: &Global) -> Result<Option<tracing_appender::non_blocking::WorkerGuard>, Failure> {
    let Some(path) = &global.log else { return Ok(None) };
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        // It names hosts, tenants and paths: the user's own.
        .mode(0o600)
        .open(path)
        .map_err(|e| Failure::usage(format!("log {}: {e}", path.display()), "give a file that can be written"))?;
    let queue = tracing_appender::non_blocking::NonBlockingBuilder::default().buffered_lines_limit(LOG_LINES);
    let (writer, guard) = queue.finish(file);
    let filter = match std::env::var("DEEVNET_LOG") {
        Ok(text) => EnvFilter::try_new(&text).map_err(|e| {
            Failure::usage(format!("DEEVNET_LOG is {text:?}: {e}"), "for example DEEVNET_LOG=deevnet_console=debug")
        })?,
        Err(_) => EnvFilter::new("deevnet_console=info"),
    };
    let subscriber = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).with_env_filter(filter).finish();
    tracing::subscriber::set_global_default(subscriber).map_err(|e| Failure::plain(format!("log: {e}")))?;
    Ok(Some(guard))
}
