//! `frr.conf.local` put in place: by the command that the site file names, or over the transport where it allows that.
//!
//! Either gets the whole file on stdin. What came of it is read afterwards.

use std::net::Ipv4Addr;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::clean;
use super::client::Client;
use super::error::Error;
use super::helper::is_word;
use super::transport::{CommandTransport, Output};
use crate::backends::http::Access;
use crate::backends::permit::Permit;

/// The script. `docs/exit-node-access.md` says what it does and how a node gets it.
pub const SCRIPT: &str = include_str!("egress.sh");

/// What it does to the node.
pub const ACCESS: (&str, Access) = ("put", Access::Write);

const LAST_LINE: &str = "\nmain \"$@\"\n";
const END_OF_FILE: &str = "END-OF-FRR-CONF-LOCAL";
const REFUSAL: &str = "deevnet-exit-egress: refused: ";
/// Code with which the script refuses.
const REFUSED: i32 = 2;

/// Variable in the environment of the site's own command: SHA-256 of the file that it is to replace, in hexadecimal, or
/// `absent`.
pub const REPLACES: &str = "DEEVNET_REPLACES";

/// A file that is to be in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalFile {
    /// The whole text.
    pub text: String,
    /// The text as it was read; `None` = there was no file.
    pub before: Option<String>,
    /// VRF and gateway of a default route that FRR is given at once, where the VRF has none.
    pub live: Option<(String, Ipv4Addr)>,
}

impl LocalFile {
    /// SHA-256 of what was read, as the script takes it.
    fn expected(&self) -> String {
        self.before.as_ref().map_or_else(
            || "absent".to_owned(),
            |text| Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect(),
        )
    }

    /// What goes to stdin of `sh -s`: the script, then the file as the stdin of its `main`.
    fn stream(&self) -> Vec<u8> {
        let body = SCRIPT.strip_suffix(LAST_LINE).unwrap_or(SCRIPT);
        format!("{body}\nmain \"$@\" <<'{END_OF_FILE}'\n{}{END_OF_FILE}\n", self.text).into_bytes()
    }
}

impl Client {
    /// Puts the file in place over the transport. Refused on the node where it is not as it was read.
    ///
    /// # Errors
    /// [`Error::Refused`] with the reason; any other where it is not known what came of it.
    pub async fn put_local(&self, _permit: &Permit, file: &LocalFile, deadline: Duration) -> Result<(), Error> {
        let (vrf, gateway) = match &file.live {
            Some((vrf, gateway)) if is_word(vrf, 15) => (vrf.clone(), gateway.to_string()),
            Some(_) => return Err(Error::Question { field: "VRF" }),
            None => ("-".to_owned(), "-".to_owned()),
        };
        if file.text.lines().any(|line| line == END_OF_FILE) {
            return Err(Error::Question { field: "text" });
        }
        let args = ["sh", "-s", "--", "put", &file.expected(), &vrf, &gateway];
        let output = self.runner.run(&args, &file.stream(), deadline).await?;
        ended(self.runner.destination(), &output)
    }
}

/// Runs the site's own command with the file on stdin, told by [`REPLACES`] which file it is to replace; what it printed,
/// cleaned.
///
/// # Errors
/// [`Error::Refused`] where the command refuses as the script does; when it cannot be started, ends with another code than 0, or takes longer than `deadline`.
pub async fn put_by_command(
    _permit: &Permit,
    command: &[String],
    file: &LocalFile,
    deadline: Duration,
) -> Result<Vec<String>, Error> {
    let transport = CommandTransport::new(command.to_vec()).with(REPLACES, file.expected());
    let output = transport.run(&[], file.text.as_bytes(), deadline).await?;
    ended(command.first().map_or("", String::as_str), &output)?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(clean::clean).collect())
}

fn ended(destination: &str, output: &Output) -> Result<(), Error> {
    let said = output.stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing was printed");
    let destination = destination.to_owned();
    match output.code {
        Some(0) => Ok(()),
        Some(REFUSED) if said.contains(REFUSAL) => {
            let why = said.split_once(REFUSAL).map_or(said, |(_, why)| why);
            Err(Error::Refused { destination, why: clean::clean(why) })
        }
        Some(code) => Err(Error::NotPut { destination, code, said: clean::clean(said) }),
        None => Err(Error::Disconnected { destination, why: clean::clean(said) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_travels_behind_the_script_and_is_called_once() {
        let file = LocalFile { text: "vrf vrf_a\nexit-vrf\n".to_owned(), before: Some("\n".to_owned()), live: None };
        let stream = String::from_utf8(file.stream()).unwrap();
        assert!(SCRIPT.ends_with(LAST_LINE), "a cut script must not run: main is called by its last line");
        assert_eq!(stream.matches("\nmain \"$@\"").count(), 1);
        assert!(stream.ends_with("<<'END-OF-FRR-CONF-LOCAL'\nvrf vrf_a\nexit-vrf\nEND-OF-FRR-CONF-LOCAL\n"));
        assert_eq!(file.expected(), "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b");
        assert_eq!(ACCESS.1, Access::Write);
    }
}
