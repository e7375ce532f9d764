//! The budgets of the design, measured and printed as one table. Nothing fails on time: `cargo bench --bench budgets`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, reads clocks and fails by panicking"
)]

#[path = "../tests/pty/mod.rs"]
mod pty;
#[path = "support"]
mod support {
    pub mod inside;
    pub mod lab;
    pub mod log;
    pub mod outside;
    pub mod process;
    pub mod proxy;
    pub mod questions;
    pub mod sources;
    pub mod table;
}

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use support::{inside, lab::Lab, outside, proxy::Proxy, questions::Questions, sources, table};

const CONSOLE: &str = env!("CARGO_BIN_EXE_deevnet-console");

fn main() {
    // `cargo test --benches` runs this too: it measures nothing there.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    table::head();
    outside::first_paint(&dead_site(folder.path()));
    let mut lab = Lab::start();
    let proxy = Proxy::start(&runtime, &lab.url(), &lab.ca(), 0, Duration::from_millis(40));
    let (normal, calls) = lab.site("normal", &proxy.url);
    inside::measure(&runtime, "62 × 40", &normal, 2480);
    proxy.seen().clear();
    outside::normal(&normal, &calls, &proxy);
    let [authority, perimeter] = [("powerdns", "dns"), ("resolvers", "ask")].map(|(section, key)| {
        let relay = Questions::start(&runtime, lab.address(section, key));
        lab.ask(section, key, relay.address);
        relay
    });
    let (counted, calls) = lab.site("counted", &lab.url());
    let log = folder.path().join("counted.log");
    let at = sources::Counters { questions: [&authority, &perimeter], calls: &calls, log: &log };
    sources::measure(&counted, &at);
    sources::verbs(&counted, folder.path());
    let proxy = Proxy::start(&runtime, &lab.url(), &lab.ca(), 25_600, Duration::ZERO);
    let (large, _) = lab.site("large", &proxy.url);
    inside::measure(&runtime, "25,000 rows", &large, 25_000);
    outside::large(&large);
    outside::peers();
}

/// A site where nobody listens.
fn dead_site(folder: &Path) -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let token = folder.join("token");
    fs::write(&token, "ops@pve!console=00000000-0000-4000-8000-000000000000\n").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let text = include_str!("../tests/console_pty/dead.toml");
    let path = folder.join("dead.toml");
    fs::write(&path, text.replace("PORT", &port.to_string()).replace("TOKEN", &token.display().to_string())).unwrap();
    path.display().to_string()
}
