//! Headless verbs: arguments → engine → printer. Data on stdout, messages on stderr.

pub mod args;
pub mod change;
mod check;
mod contract;
mod explain;
mod findings;
mod get;
mod init;
mod lab;
pub mod numbering;
mod open;
mod pasted;
mod print;
mod progress;
mod reach;
mod render;
mod resolve;
mod screen;
mod site_check;
mod snat;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::text::clean_lines;
use args::{Cli, Format, SiteAction, Verb};

use crate::site::names::TenantName;

/// Exit codes (design §4). When several apply: 2 › 4 › 1 › 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// No fault or warning.
    Ok,
    /// A fault, a warning or a difference was found.
    Found,
    /// Usage or configuration.
    Usage,
    /// Nothing found, but something unknown.
    Unknown,
    /// A change was refused: nobody said yes, or something speaks against it.
    Refused,
    /// Nobody reads stdout any more, as in `… | head`: no error.
    ClosedPipe,
    /// The console was ended by a signal; its number and 128, as shells say it.
    Signal(u8),
}

/// Why a verb ended early.
#[derive(Debug)]
pub struct Failure {
    /// Exit code.
    pub code: Code,
    /// What and where.
    pub text: String,
    /// Remedy.
    pub help: Option<String>,
}

impl Failure {
    /// A usage or configuration error.
    pub fn usage(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code: Code::Usage, text: text.into(), help: Some(help.into()) }
    }

    /// An error without a remedy of its own.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { code: Code::Usage, text: text.into(), help: None }
    }
}

/// What was found, once it was `printed`: a reader who closes the pipe has seen enough, and the verdict stays.
fn verdict(printed: Result<(), Failure>, code: Code) -> Result<Code, Failure> {
    match printed {
        Ok(()) | Err(Failure { code: Code::ClosedPipe, .. }) => Ok(code),
        Err(failure) => Err(failure),
    }
}

impl From<std::io::Error> for Failure {
    /// What a printer's writer said.
    fn from(e: std::io::Error) -> Self {
        let code = if e.kind() == std::io::ErrorKind::BrokenPipe { Code::ClosedPipe } else { Code::Usage };
        Self { code, text: format!("output: {e}"), help: None }
    }
}

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    if let Some(code) = crate::lab::tool::main(&args) {
        return code;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            if e.use_stderr() {
                // It repeats the arguments, which need not have been typed here.
                complain(&Failure::plain(e.render().to_string().trim_start_matches("error: ")));
                return code(Code::Usage);
            }
            // Help and version are no errors. A closed stdout leaves nobody to tell.
            let _ = e.print();
            return code(Code::Ok);
        }
    };
    match run(cli) {
        Ok(done) => code(done),
        Err(Failure { code: Code::ClosedPipe, .. }) => code(Code::Ok),
        Err(failure) => {
            complain(&failure);
            code(failure.code)
        }
    }
}

fn code(code: Code) -> ExitCode {
    ExitCode::from(match code {
        Code::Ok | Code::ClosedPipe => 0,
        Code::Found => 1,
        Code::Usage => 2,
        Code::Unknown => 3,
        Code::Refused => 4,
        Code::Signal(n) => n,
    })
}

fn complain(failure: &Failure) {
    // A closed stderr leaves nobody to tell; the exit code still says it.
    let _ = std::io::stderr().write_all(said(failure).as_bytes());
}

/// A failure as it is printed. Arguments, files and back ends all have their words in it: nothing there may steer a
/// terminal.
fn said(failure: &Failure) -> String {
    let mut text = format!("deevnet-console: {}\n", clean_lines(failure.text.trim_end()));
    if let Some(help) = &failure.help {
        text.push_str(&format!("  help: {}\n", clean_lines(help)));
    }
    text
}

fn run(cli: Cli) -> Result<Code, Failure> {
    let global = cli.global;
    print::ask_ascii(global.ascii);
    if global.site.is_some() && cli.verb.as_ref().is_some_and(Verb::brings_its_site) {
        return Err(Failure::usage("the lab brings its own site, which --site would not change", "leave --site out"));
    }
    let _log = open::log(&global)?;
    match cli.verb {
        None => screen::open(&global),
        Some(Verb::Demo { lab }) => screen::demo(&global, &lab),
        Some(Verb::Lab(verb)) => lab::run(&global, &verb),
        Some(Verb::Numbering { index, name, output }) => numbers(&global, index, name.as_deref(), output),
        Some(Verb::Get { kind, tenant, output, timeout }) => {
            get::run(&global, kind, tenant.as_deref(), output, timeout)
        }
        Some(Verb::Snat { tenant, watch, output }) => snat::run(&global, tenant.as_deref(), watch, output),
        Some(Verb::Resolve(request)) => resolve::run(&global, &request),
        Some(Verb::Check(request)) => check::run(&global, &request),
        Some(Verb::Reach(request)) => reach::run(&global, &request),
        Some(Verb::Explain { dir, matrix, output }) => explain::run(&dir, matrix, output),
        Some(Verb::Change(change)) => change::run(&global, &change),
        Some(Verb::Plan(request)) => change::plan(&global, &request),
        Some(Verb::Apply(request)) => change::apply(&global, &request),
        Some(Verb::Journal(request)) => change::journal(&global, &request),
        Some(Verb::Audit { action }) => change::audit(&global, action),
        Some(Verb::Init(request)) => init::run(&global, &request),
        Some(Verb::Site { action: SiteAction::Check { verbose, timeout, resolv_conf, output } }) => {
            let request = site_check::Request { verbose, timeout, resolv_conf, output };
            site_check::run(&global, &request)
        }
        Some(Verb::Render(request)) => render::run(&global, &request),
        Some(Verb::Completions { shell }) => {
            // Into memory first: the generator takes a closed pipe for a defect.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "deevnet-console", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(Code::Ok)
        }
        Some(Verb::Man) => {
            clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?;
            Ok(Code::Ok)
        }
    }
}

fn numbers(global: &args::Global, index: Option<u64>, name: Option<&str>, output: Format) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let request = numbering::Request { plan: &site.numbering, site: &site.name, domain: &site.domain, index, name };
    let format = match output {
        Format::Table => numbering::Format::Table,
        Format::Json => numbering::Format::Json,
        Format::Yaml => numbering::Format::Yaml,
    };
    let text = numbering::numbering(&request, format).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    let conflicts = name.and_then(|n| n.parse::<TenantName>().ok()).map(|n| n.conflicts(&site.numbering, [], []));
    for conflict in conflicts.into_iter().flatten() {
        open::warn(&format!("{conflict}; {}", conflict.help()));
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Code::Ok)
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn only_a_closed_output_is_no_error() {
        assert_eq!(Failure::from(Error::from(ErrorKind::BrokenPipe)).code, Code::ClosedPipe);
        assert_eq!(Failure::from(Error::from(ErrorKind::StorageFull)).code, Code::Usage);
        let elsewhere = Failure::plain(format!("the lab's socket: {}", Error::from_raw_os_error(32)));
        assert_eq!(elsewhere.code, Code::Usage, "{}", elsewhere.text);
    }

    #[test]
    fn a_reader_that_has_seen_enough_leaves_the_verdict() {
        let closed = || Err(Failure::from(Error::from(ErrorKind::BrokenPipe)));
        assert!(matches!(verdict(closed(), Code::Found), Ok(Code::Found)));
        assert!(matches!(verdict(Ok(()), Code::Unknown), Ok(Code::Unknown)));
        let full = Err(Failure::from(Error::from(ErrorKind::StorageFull)));
        assert!(matches!(verdict(full, Code::Ok), Err(Failure { code: Code::Usage, .. })));
    }

    #[test]
    fn no_failure_steers_the_terminal() {
        let text = said(&Failure::usage("first\nno \u{1b}]0;title\u{7} \u{202e}here", "\u{9b}2J"));
        assert!(text.starts_with("deevnet-console: first\nno "), "{text:?}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()) && !text.contains('\u{202e}'), "{text:?}");
    }
}
