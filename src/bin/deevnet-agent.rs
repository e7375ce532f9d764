//! Entry point of the guest agent.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let text = "deevnet-agent turns a bootstrap pointer (SMBIOS serial) into running containers: it fetches the workload's\n\
                configuration once, validates it, applies it and checks in. This build does not do that yet.\n";
    // A closed stderr leaves nobody to tell; the exit code still says it.
    let _ = std::io::stderr().write_all(text.as_bytes());
    ExitCode::from(2)
}
