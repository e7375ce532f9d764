//! Task ids: `UPID:node:PID:PSTART:START:type:id:user:` (facts/proxmox.md §9).

use std::str::FromStr;

use jiff::Timestamp;

/// A parsed task id. Ask the node it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upid {
    text: String,
    /// Node the task runs on.
    pub node: String,
    /// Process id.
    pub pid: u32,
    /// Start.
    pub started: Timestamp,
    /// Type, e.g. `reloadnetworkall`.
    pub kind: String,
    /// Object id; may be empty.
    pub id: String,
    /// `user@realm` or `user@realm!token`.
    pub user: String,
}

/// A text that is not a task id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a task id (UPID:node:pid:pstart:start:type:id:user:)")]
pub struct BadUpid(pub String);

impl Upid {
    /// The id as Proxmox wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Display for Upid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Upid {
    type Err = BadUpid;

    fn from_str(text: &str) -> Result<Self, BadUpid> {
        parse(text).ok_or_else(|| BadUpid(crate::backends::http::clean(text)))
    }
}

fn parse(text: &str) -> Option<Upid> {
    let mut parts = text.strip_prefix("UPID:")?.strip_suffix(':')?.splitn(6, ':');
    let node = parts.next().filter(|n| is_node(n))?;
    let pid = hex(parts.next()?, 8..=8)?;
    hex(parts.next()?, 8..=9)?;
    let started = hex(parts.next()?, 8..=8)?;
    let kind = parts.next().filter(|k| plain(k))?;
    // The id may hold no colon, the user neither: what is left is `id:user`.
    let (id, user) = parts.next()?.split_once(':')?;
    if !user.contains('@') || user.contains(':') || text.contains(|c: char| c.is_control() || c == '/') {
        return None;
    }
    Some(Upid {
        text: text.to_owned(),
        node: node.to_owned(),
        pid: u32::try_from(pid).ok()?,
        started: Timestamp::from_second(i64::try_from(started).ok()?).ok()?,
        kind: kind.to_owned(),
        id: id.to_owned(),
        user: user.to_owned(),
    })
}

fn is_node(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

fn hex(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<u64> {
    let sound = length.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if sound { u64::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_found() {
        let text = "UPID:pve1:0000093E:00075FB7:6B0C59C9:reloadnetworkall::ops@pve!full:";
        let upid: Upid = text.parse().unwrap();
        assert_eq!((upid.node.as_str(), upid.pid, upid.id.as_str()), ("pve1", 0x93e, ""));
        assert_eq!((upid.kind.as_str(), upid.user.as_str()), ("reloadnetworkall", "ops@pve!full"));
        assert_eq!(upid.started.as_second(), 1_795_971_529);
        assert_eq!(upid.to_string(), text);
        let nine: Upid = "UPID:dv02hyp002p02:000010CE:10007A889:6B0C5A84:qmstart:2040:root@pam:".parse().unwrap();
        assert_eq!(nine.id, "2040");
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "UPID:",
            "UPID:pve1:0000093E:00075FB7:6B0C59C9:qmstart:100:ops@pve",
            "UPID:pve1:93E:00075FB7:6B0C59C9:t:i:u@r:",
            "UPID::0000093E:00075FB7:6B0C59C9:t:i:u@r:",
            "UPID:p/e:0000093E:00075FB7:6B0C59C9:t:i:u@r:",
            "UPID:pve1:0000093E:00075FB7:6B0C59C9:t:i:nobody:",
            "UPID:pve1:0000093E:00075FB7:6B0C59C9:t:../x:u@r:",
            "UPID:pve1:0000093E:00075FB7:6B0C59C9::i:u@r:",
            "UPID:pve1:+000093E:00075FB7:6B0C59C9:t:i:u@r:",
        ] {
            assert!(bad.parse::<Upid>().is_err(), "{bad}");
        }
    }
}
