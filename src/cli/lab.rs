//! `lab`: the embedded lab as servers, and its faults.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{FaultAction, Global, LabAction, LabArgs, LabVerb};
use super::{Code, Failure, open};
use crate::lab::control::{self, Reply, Request};
use crate::lab::{Lab, LabError, LabOptions};
use crate::runtime::clock;
use crate::site::Site;
use crate::site::model::Transport;

fn failed(e: &LabError) -> Failure {
    Failure::usage(e.to_string(), e.help())
}

/// Starts a lab in a temporary directory.
pub(super) async fn start(args: &LabArgs) -> Result<Lab, Failure> {
    let program = std::env::current_exe().map_err(|e| Failure::plain(format!("this program's own path: {e}")))?;
    let options = LabOptions {
        tenants: args.tenants.map(u32::from),
        workloads: args.workloads.map(u32::from),
        faults: args.fault.clone(),
        writable: args.writable,
        ..LabOptions::new(clock::system(), program)
    };
    Lab::start(options).await.map_err(|e| failed(&e))
}

/// The lab's site, read from the file it would give to anybody.
pub(super) fn site_of(lab: &Lab) -> Result<Arc<Site>, Failure> {
    let site = Site::parse(&lab.site_toml(), &lab.dir().join("site.toml"));
    site.map(Arc::new).map_err(|e| Failure::plain(e.to_string()))
}

/// Runs `lab …`.
pub(super) fn run(global: &Global, verb: &LabVerb) -> Result<Code, Failure> {
    match &verb.action {
        None => serve(verb),
        Some(LabAction::Fault { action }) => fault(global, action),
    }
}

fn serve(verb: &LabVerb) -> Result<Code, Failure> {
    open::runtime()?.block_on(async {
        let lab = start(&verb.lab).await?;
        let path = verb.site_out.clone().unwrap_or_else(|| lab.dir().join("site.toml"));
        write(&path, &lab.site_toml())?;
        let mut err = std::io::stderr();
        writeln!(err, "The lab serves on loopback. Its site file: {}", path.display())?;
        writeln!(err, "Try: deevnet-console --site {}", path.display())?;
        writeln!(err, "Faults: deevnet-console --site {} lab fault list", path.display())?;
        writeln!(err, "Stop it with ctrl-c.")?;
        let mut signals =
            crate::terminal::Signals::start().map_err(|e| Failure::plain(format!("signal handlers: {e}")))?;
        while signals.next().await.exit_code().is_none() {}
        lab.shutdown().await;
        Ok(Code::Ok)
    })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|e| {
        Failure::usage(format!("{}: {e}", path.display()), "give a file that can be written with --site-out")
    })
}

/// The lab's directory, from the site file's exit-node command: `… lab-enter DIR/lab.sock`.
fn dir_of(site: &Site) -> Option<PathBuf> {
    site.exit_nodes.iter().find_map(|e| match &e.transport {
        Transport::Command(argv) => {
            let at = argv.iter().position(|a| a == "lab-enter")?;
            Path::new(argv.get(at + 1)?).parent().map(Path::to_owned)
        }
        Transport::Ssh(_) => None,
    })
}

fn fault(global: &Global, action: &FaultAction) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let dir = dir_of(&site).ok_or_else(|| {
        Failure::usage(
            "this site is not a lab's",
            "give the site file that `lab --site-out FILE` wrote with --site FILE",
        )
    })?;
    let request = match action {
        FaultAction::On { fault } => Request::FaultOn { fault: fault.clone() },
        FaultAction::Off { fault } => Request::FaultOff { fault: fault.clone() },
        FaultAction::List => Request::Faults,
    };
    match control::send(&dir, &request).map_err(|e| Failure::usage(e.to_string(), e.help()))? {
        Reply::Faults { active, known } => list(&active, &known),
        Reply::Error { text, help } => Err(Failure::usage(text, help)),
        _ => Ok(Code::Ok),
    }
}

fn list(active: &[String], known: &[(String, String)]) -> Result<Code, Failure> {
    let mut out = std::io::stdout();
    for (id, title) in known {
        let on: Vec<&str> = active.iter().map(String::as_str).filter(|a| a.split('@').next() == Some(id)).collect();
        let mark = if on.is_empty() { String::new() } else { format!("   on: {}", on.join(", ")) };
        writeln!(out, "{id:<28}{title}{mark}")?;
    }
    Ok(Code::Ok)
}
