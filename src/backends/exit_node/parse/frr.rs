//! FRR: its configuration's `vrf` blocks, its version.

use crate::backends::exit_node::model::{FrrConfig, FrrVrfs};

/// What stands in place of a password or key.
pub const MASK: &str = "********";

/// A configuration text: verbatim but for passwords and keys, which are masked, and its `vrf` blocks. Blocks of one VRF
/// that stand apart are put together, as FRR does.
#[must_use]
pub fn config(text: &str) -> FrrConfig {
    let text: String = text.lines().flat_map(|line| [mask(line), "\n".to_owned()]).collect();
    let vrfs = vrf_blocks(&text);
    FrrConfig { text, vrfs }
}

fn vrf_blocks(text: &str) -> FrrVrfs {
    let mut vrfs = FrrVrfs::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        let words = line.trim();
        if !line.starts_with(char::is_whitespace) && !words.is_empty() {
            // A line at the margin ends a block: exit-vrf, exit, !, or whatever comes next.
            current = words.strip_prefix("vrf ").map(|name| name.trim().to_owned());
            if let Some(name) = &current {
                vrfs.entry(name.clone()).or_default();
            }
        } else if let Some(name) = current.as_ref().filter(|_| !words.is_empty() && !words.starts_with('!')) {
            vrfs.entry(name.clone()).or_default().push(words.to_owned());
        }
    }
    vrfs
}

/// Words after which a secret stands.
const SECRETS: [&str; 6] = ["password", "key-string", "message-digest-key", "authentication-key", "auth", "md5"];

fn mask(line: &str) -> String {
    let mut words = line.split_whitespace();
    let secret = words.clone().any(|w| SECRETS.contains(&w));
    let comment = line.trim_start().starts_with(['!', '#']);
    if !secret || (comment && !line.contains("password")) {
        return line.to_owned();
    }
    let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let kept: Vec<&str> = words.by_ref().take_while(|w| !SECRETS.contains(w)).collect();
    let keyword = line.split_whitespace().nth(kept.len()).unwrap_or_default();
    let head = kept.into_iter().chain([keyword]).collect::<Vec<_>>().join(" ");
    format!("{indent}{head} {MASK}")
}

/// Version in `show version`: `FRRouting 10.4.1 (host) on Linux…`.
#[must_use]
pub fn version(text: &str) -> Option<String> {
    let rest = text.lines().find_map(|line| line.strip_prefix("FRRouting "))?;
    rest.split_whitespace().next().filter(|v| v.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vrf_blocks_with_every_ending() {
        let text = "frr version 10.4.1\n!\nvrf vrf_b\n vni 10002\n ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default\nexit-vrf\n!\n\
                    vrf vrf_a\n vni 10001\n! a remark\nrouter bgp 65000\n bgp router-id 1.2.3.4\nvrf vrf_c\nexit-vrf\nvrf vrf_b\n ip route 10.0.0.0/8 null0\n";
        let vrfs = config(text).vrfs;
        assert_eq!(vrfs.keys().collect::<Vec<_>>(), ["vrf_a", "vrf_b", "vrf_c"]);
        let b = ["vni 10002", "ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default", "ip route 10.0.0.0/8 null0"];
        assert_eq!(vrfs["vrf_b"], b);
        assert_eq!(vrfs["vrf_a"], ["vni 10001"]);
        assert!(vrfs["vrf_c"].is_empty());
    }

    #[test]
    fn secrets_never_leave() {
        let text = "password hunter2\n neighbor VTEP password s3cret\n ip ospf message-digest-key 1 md5 s3cret\n  key-string s3cret\n\
                    enable password 8 s3cret\n! old: neighbor 10.0.0.1 password s3cret\n neighbor VTEP bfd\n";
        let config = config(text);
        assert!(!config.text.contains("s3cret") && !config.text.contains("hunter2"), "{}", config.text);
        assert!(config.text.contains(" neighbor VTEP password ********\n"));
        assert!(config.text.contains("\n neighbor VTEP bfd\n"));
    }

    #[test]
    fn versions() {
        assert_eq!(version("FRRouting 8.4.4 (hv02) on Linux(6.1.0).\nCopyright"), Some("8.4.4".to_owned()));
        assert_eq!(version("\nFRRouting 10.4.1 (hv02)"), Some("10.4.1".to_owned()));
        assert_eq!(version("Exiting: failed to connect to any daemons."), None);
    }
}
