//! The lab's side of a process: `lab-enter SOCKET COMMAND…` logs in to the exit node, `lab-tool SOCKET PROGRAM …` is
//! one of its programs; `lab-egress SOCKET` is the site's own command that puts `frr.conf.local` in place.
//!
//! Logging in gives a command the node's programs in its `PATH` and, for a script on standard input, the node's
//! `/proc` and `/etc` in place of this machine's: the poor man's chroot, which needs no rights.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use sha2::{Digest as _, Sha256};

use super::control::{self, Reply, Request};
use super::node::{Output, Run};

/// Runs a lab verb if `args` (without the program's own name) begins with one.
#[must_use]
pub fn main(args: &[String]) -> Option<ExitCode> {
    match args {
        [verb, socket, command @ ..] if verb == "lab-enter" => Some(enter(Path::new(socket), command)),
        [verb, socket, argv @ ..] if verb == "lab-tool" => Some(tool(Path::new(socket), argv)),
        [verb, socket] if verb == "lab-egress" => Some(put_local(Path::new(socket))),
        _ => None,
    }
}

fn tool(socket: &Path, argv: &[String]) -> ExitCode {
    let mut run = Run { argv: argv.to_vec(), input: String::new() };
    let batch = argv.iter().position(|arg| arg == "-batch" || arg == "-b").and_then(|at| argv.get(at + 1));
    let read = match batch.map(String::as_str) {
        None => Ok(0),
        Some("-") => std::io::stdin().read_to_string(&mut run.input),
        Some(file) => std::fs::File::open(file).and_then(|mut file| file.read_to_string(&mut run.input)),
    };
    if let Err(error) = read {
        return finish(&Output { stderr: format!("Cannot open file: {error}\n"), code: 1, ..Output::default() });
    }
    finish(&output(control::ask(socket, &Request::Run(run))))
}

fn put_local(socket: &Path) -> ExitCode {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        return finish(&Output { stderr: format!("lab-egress: {error}\n"), code: 1, ..Output::default() });
    }
    let replaces = std::env::var("DEEVNET_REPLACES").ok();
    finish(&output(control::ask(socket, &Request::PutLocal { text, replaces })))
}

fn output(reply: Result<Reply, control::ControlError>) -> Output {
    let text = match reply {
        Ok(Reply::Output(output)) => return output,
        Ok(Reply::Error { text, .. }) => text,
        Ok(_) => "the lab gave another answer than was asked for".to_owned(),
        Err(error) => error.to_string(),
    };
    Output { stdout: String::new(), stderr: format!("lab: {text}\n"), code: 255 }
}

fn finish(output: &Output) -> ExitCode {
    // Nobody is left to tell when these fail.
    let _ = std::io::stdout().write_all(output.stdout.as_bytes());
    let _ = std::io::stderr().write_all(output.stderr.as_bytes());
    ExitCode::from(output.code)
}

fn enter(socket: &Path, command: &[String]) -> ExitCode {
    let Some((program, args)) = command.split_first() else {
        return finish(&Output { stderr: "lab-enter: a command is needed\n".to_owned(), code: 2, ..Output::default() });
    };
    let script = matches!(program.as_str(), "sh" | "bash") && args.iter().any(|arg| arg == "-s");
    let mut text = String::new();
    if script && let Err(error) = std::io::stdin().read_to_string(&mut text) {
        return finish(&Output { stderr: format!("lab-enter: {error}\n"), code: 255, ..Output::default() });
    }
    let read: String = Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let asked = format!("{} <{read}", command.join(" "));
    let (root, bin, keep) = match control::ask(socket, &Request::Enter { asked }) {
        Ok(Reply::Entered { root, bin, keep }) => (root, bin, keep),
        other => return finish(&output(other)),
    };
    let inherited = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
    let path = format!("{}:{inherited}", bin.display());
    let root = root.display().to_string();
    let inline: Vec<String> = args.iter().map(|arg| below(arg, &root)).collect();
    let mut child = Command::new(program);
    child.args(if script { args } else { &inline }).env("PATH", path);
    if !script {
        return code(child.status(), program);
    }
    if keep.is_some() {
        child.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let mut running = match child.stdin(Stdio::piped()).spawn() {
        Ok(running) => running,
        Err(error) => return code(Err(error), program),
    };
    if let Some(mut stdin) = running.stdin.take() {
        // The script may end before it has read everything.
        let _ = stdin.write_all(below(&text, &root).as_bytes());
    }
    match keep {
        None => code(running.wait(), program),
        Some(under) => match running.wait_with_output() {
            Ok(printed) => finish(&keeping(socket, under, printed)),
            Err(error) => code(Err(error), program),
        },
    }
}

/// What was printed, told to the lab before it is given out.
fn keeping(socket: &Path, under: String, printed: std::process::Output) -> Output {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let code = printed.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(255);
    let output = Output { stdout: text(printed.stdout), stderr: text(printed.stderr), code };
    if output.code == 0 {
        // A lab that keeps nothing is asked again.
        let _ = control::ask(socket, &Request::Keep { under, output: output.clone() });
    }
    output
}

fn code(status: std::io::Result<std::process::ExitStatus>, program: &str) -> ExitCode {
    match status {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(255)),
        Err(_) => finish(&Output { stderr: format!("sh: 1: {program}: not found\n"), code: 127, ..Output::default() }),
    }
}

/// Puts absolute paths below `/proc` and `/etc` under `root`.
fn below(script: &str, root: &str) -> String {
    let mut out = String::with_capacity(script.len() + 512);
    let mut previous = ' ';
    for (at, character) in script.char_indices() {
        let rest = script.get(at..).unwrap_or_default();
        let starts = !(previous.is_alphanumeric() || "/}_.$*-".contains(previous));
        if character == '/' && starts && (rest.starts_with("/proc/") || rest.starts_with("/etc/")) {
            out.push_str(root);
        }
        out.push(character);
        previous = character;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn only_absolute_paths_of_the_node_move() {
        let script = "names=/proc/net/x; cat '/etc/frr/frr.conf' >\"$dir/proc/o\" /usr/etc/x ${a}/etc/y\n/etc/z";
        let moved = "names=/r/proc/net/x; cat '/r/etc/frr/frr.conf' >\"$dir/proc/o\" /usr/etc/x ${a}/etc/y\n/r/etc/z";
        assert_eq!(below(script, "/r"), moved);
    }
}
