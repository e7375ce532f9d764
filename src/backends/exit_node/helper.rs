//! The helper script: its text, its version, the questions it may be asked, and how both travel.
//!
//! Script and questions go together on the stdin of `sh -s -- read -`, so that no argument is ever quoted and the
//! number of questions is not bounded by the length of a command line (`facts/exit-node.md` §9).

use std::net::Ipv4Addr;

use super::error::Error;
use crate::backends::http::Access;

/// The script. `docs/exit-node-access.md` says how a node gets it.
pub const SCRIPT: &str = include_str!("helper.sh");

/// Version of [`SCRIPT`]; a frame of another version is refused.
pub const VERSION: u32 = 3;

/// Versions before it whose frames, kept in bundles, are understood: parts were added since, none was changed.
pub const OLDER: [u32; 1] = [2];

/// Where a node has it installed.
pub const INSTALL_PATH: &str = "/usr/local/sbin/deevnet-exit-node";

/// Group whose members may run the installed helper as root.
pub const GROUP: &str = "deevnet";

/// The line in sudoers that gives [`GROUP`] the helper and nothing else.
pub const SUDOERS: &str = "%deevnet ALL=(root) NOPASSWD: /usr/local/sbin/deevnet-exit-node";

/// What installs the helper, line by line, as root on the node with `helper.sh` of this version beside;
/// `docs/exit-node-access.md` says the same.
pub const INSTALL: [&str; 5] = [
    "install -o root -g root -m 0755 helper.sh /usr/local/sbin/deevnet-exit-node",
    "groupadd -f deevnet",
    "echo '%deevnet ALL=(root) NOPASSWD: /usr/local/sbin/deevnet-exit-node' > /etc/sudoers.d/deevnet-exit-node",
    "chmod 0440 /etc/sudoers.d/deevnet-exit-node",
    "visudo -c",
];

/// The command line that is run on the node, word by word.
pub const COMMAND: [&str; 5] = ["sh", "-s", "--", "read", "-"];

/// The same for DNS questions from inside VRFs.
pub const PROBE_DNS: [&str; 6] = ["sh", "-s", "--", "probe", "dns", "-"];

/// The same for packets along a path.
pub const PROBE_PATH: [&str; 6] = ["sh", "-s", "--", "probe", "path", "-"];

/// The same for what a reading leaves out.
pub const PROBE_SHOW: [&str; 6] = ["sh", "-s", "--", "probe", "show", "-"];

/// What each command of the script does to the node. To show is to read: nothing is sent.
pub const ACCESS: [(&str, Access); 5] = [
    ("version", Access::Read),
    ("read", Access::Read),
    ("probe dns", Access::Probe),
    ("probe path", Access::Probe),
    ("probe show", Access::Read),
];

/// Most questions of one reading.
pub const MAX_LOOKUPS: usize = 8192;

/// Most prefixes of one reading whose flows are listed.
pub const MAX_FLOWS: usize = 8;

const LAST_LINE: &str = "\nmain \"$@\"\n";
const END_OF_LOOKUPS: &str = "END-OF-LOOKUPS";

/// One `ip route get`: which way would this packet go? It sends nothing and needs no right (`facts/exit-node.md` §2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupRequest {
    name: String,
    destination: Ipv4Addr,
    source: Option<Ipv4Addr>,
    interface: Option<String>,
}

impl LookupRequest {
    /// A question called `name`, under which its answer is found in [`super::model::Lookups`].
    ///
    /// # Errors
    /// [`Error::Lookup`] when `name` is not 1 to 64 of `A-Z a-z 0-9 . _ -`, or `interface` not an interface name of
    /// at most 15 of the same; neither may begin with a dot or a dash.
    pub fn new(
        name: &str,
        destination: Ipv4Addr,
        source: Option<Ipv4Addr>,
        interface: Option<&str>,
    ) -> Result<Self, Error> {
        if !is_word(name, 64) {
            return Err(Error::Lookup { field: "name" });
        }
        if interface.is_some_and(|i| !is_word(i, 15)) {
            return Err(Error::Lookup { field: "interface" });
        }
        Ok(Self { name: name.to_owned(), destination, source, interface: interface.map(str::to_owned) })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As the helper takes it: `NAME/DESTINATION/SOURCE/INTERFACE`.
    #[must_use]
    pub fn argument(&self) -> String {
        let source = self.source.map_or_else(|| "-".to_owned(), |s| s.to_string());
        format!("{}/{}/{source}/{}", self.name, self.destination, self.interface.as_deref().unwrap_or("-"))
    }
}

pub(super) fn is_word(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len())
        && !text.starts_with(['.', '-'])
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// What goes to stdin of [`COMMAND`]: the script, then the questions as the stdin of its `main`.
#[must_use]
pub fn stream(lookups: &[LookupRequest]) -> Vec<u8> {
    stream_of(lookups.iter().map(LookupRequest::argument))
}

/// The same with any lines, which are checked already: none may be [`END_OF_LOOKUPS`].
pub(super) fn stream_of(lines: impl Iterator<Item = String>) -> Vec<u8> {
    let body = SCRIPT.strip_suffix(LAST_LINE).unwrap_or(SCRIPT);
    let mut text = format!("{body}\nmain \"$@\" <<'{END_OF_LOOKUPS}'\n");
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(END_OF_LOOKUPS);
    text.push('\n');
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_agrees_with_the_constants() {
        assert!(SCRIPT.contains(&format!("\nVERSION={VERSION}\n")));
        assert!(SCRIPT.contains(&format!("\nINSTALLED={INSTALL_PATH}\n")));
        assert!(SCRIPT.contains(&format!("\nMAX_LOOKUPS={MAX_LOOKUPS}\n")));
        assert!(SCRIPT.contains(&format!("\nMAX_FLOWS={MAX_FLOWS}\n")));
        assert!(SCRIPT.contains(&format!("\nMAX_QUESTIONS={}\n", super::super::MAX_QUESTIONS)));
        assert!(INSTALL.iter().any(|line| line.contains(SUDOERS)) && SUDOERS.ends_with(INSTALL_PATH));
        let declared = |(name, access): &(&str, Access)| {
            *access < Access::Write && SCRIPT.contains(&format!("deevnet-exit-node {name}"))
        };
        assert!(ACCESS.iter().all(declared));
        for part in
            ["version, read, probe", "dns, path, show"].iter().flat_map(|all| all.split(", ")).filter(|p| *p != "probe")
        {
            assert!(ACCESS.iter().any(|(name, _)| name.ends_with(part)), "{part} is not declared");
        }
        for known in ["known are version, read, probe\"", "known are dns, path, show\""] {
            assert!(SCRIPT.contains(known), "{known}: another command is to be declared");
        }
        assert!(SUDOERS.starts_with(&format!("%{GROUP} ")));
        assert!(SCRIPT.ends_with(LAST_LINE), "a cut script must not run: main is called by its last line");
        assert_eq!(SCRIPT.matches("\nmain \"$@\"").count(), 1);
    }

    #[test]
    fn a_lookup_is_spelt_out() {
        let dst = Ipv4Addr::new(198, 51, 100, 10);
        let full = LookupRequest::new("out.tdemo", dst, Some(Ipv4Addr::new(10, 20, 129, 10)), Some("tdemo0"));
        assert_eq!(full.unwrap().argument(), "out.tdemo/198.51.100.10/10.20.129.10/tdemo0");
        assert_eq!(LookupRequest::new("main", dst, None, None).unwrap().argument(), "main/198.51.100.10/-/-");
    }

    #[test]
    fn what_a_shell_could_misread_is_refused() {
        let dst = Ipv4Addr::LOCALHOST;
        for bad in ["", "-x", ".x", "a b", "a;b", "$(id)", "`id`", "a\nb", "a/b", "é", &"x".repeat(65)] {
            assert_eq!(LookupRequest::new(bad, dst, None, None), Err(Error::Lookup { field: "name" }), "{bad:?}");
        }
        for bad in ["", "-i", "eth0;id", "vmbr0 50", "a123456789012345"] {
            let refused = LookupRequest::new("x", dst, None, Some(bad));
            assert_eq!(refused, Err(Error::Lookup { field: "interface" }), "{bad:?}");
        }
        assert!(LookupRequest::new("x", dst, None, Some("vmbr0.50")).is_ok());
    }

    #[test]
    fn the_stream_calls_main_once_with_the_lookups_behind_it() {
        let lookup = LookupRequest::new("a", Ipv4Addr::LOCALHOST, None, None).unwrap();
        let text = String::from_utf8(stream(&[lookup])).unwrap();
        assert!(text.ends_with("\nmain \"$@\" <<'END-OF-LOOKUPS'\na/127.0.0.1/-/-\nEND-OF-LOOKUPS\n"));
        assert_eq!(text.matches("\nmain \"$@\"").count(), 1);
    }
}
