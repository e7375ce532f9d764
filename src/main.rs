//! Entry point of the console and its headless verbs.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    deevnet_console::lab::tool::main(&args).unwrap_or(ExitCode::SUCCESS)
}
