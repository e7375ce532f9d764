//! Domain names as they are compared and shown.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::backends::http::clean;

/// A domain name in presentation form: ASCII letters lower-case, no trailing dot, safe to show. The root is `.`.
///
/// PowerDNS writes odd bytes of a name as `\DDD`, so nothing is lost by the cleaning; letter case and the last dot carry
/// no meaning (RFC 4343). A copy shares the text: a site has tens of thousands, and rows and questions bear them too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// The name that `text` stands for, with or without its last dot, in any letter case.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut name = clean(text);
        name.make_ascii_lowercase();
        if let Some(rest) = name.strip_suffix('.') {
            let escapes = rest.len() - rest.trim_end_matches('\\').len();
            if escapes.is_multiple_of(2) && !rest.is_empty() && !rest.ends_with('.') {
                name.truncate(rest.len());
            }
        }
        Self(name.into())
    }

    /// Without trailing dot.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text, shared.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// With trailing dot, as PowerDNS wants it.
    #[must_use]
    pub fn absolute(&self) -> String {
        if &*self.0 == "." { ".".to_owned() } else { format!("{}.", self.0) }
    }

    /// Whether this is `zone` or a name below it.
    #[must_use]
    pub fn is_in(&self, zone: &Self) -> bool {
        self.below(zone).is_some()
    }

    /// What stands before `zone`, without the dot between: empty at the apex, `None` for a name outside.
    #[must_use]
    pub fn below(&self, zone: &Self) -> Option<&str> {
        if &*zone.0 == "." {
            return Some(if &*self.0 == "." { "" } else { &self.0 });
        }
        let head = self.0.strip_suffix(&*zone.0)?;
        match head.strip_suffix('.') {
            None if head.is_empty() => Some(""),
            // An escaped dot is part of a label.
            Some(rest) if (rest.len() - rest.trim_end_matches('\\').len()).is_multiple_of(2) => Some(rest),
            _ => None,
        }
    }

    /// Order of a zone's tree: by labels from the right, a zone before what lies below it. PowerDNS returns RRsets in
    /// no stable order (facts/dns.md §3).
    #[must_use]
    pub fn tree_order(&self, other: &Self) -> Ordering {
        self.0.rsplit('.').cmp(other.0.rsplit('.'))
    }

    /// The zone's id in a request path, as the list of zones writes it: everything but ASCII letters, digits, dot and
    /// dash as `=XX`, the root as `=2E` (a dot alone would be folded away).
    pub(super) fn zone_id(&self) -> String {
        let absolute = self.absolute();
        if absolute == "." {
            return "=2E".to_owned();
        }
        let mut id = String::with_capacity(absolute.len());
        for byte in absolute.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' => id.push(char::from(byte)),
                odd => id.push_str(&format!("={odd:02X}")),
            }
        }
        id
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_the_last_dot_do_not_matter() {
        assert_eq!(Name::new("TDemo.Mobile.Deevnet.NET."), Name::new("tdemo.mobile.deevnet.net"));
        assert_eq!(Name::new("tdemo.").absolute(), "tdemo.");
        assert_eq!((Name::new(".").as_str(), Name::new(".").absolute().as_str()), (".", "."));
        assert_eq!(Name::new("odd\\.").as_str(), "odd\\.", "an escaped dot is not the last dot");
        assert_eq!(Name::new("odd\\\\.").as_str(), "odd\\\\", "an escaped backslash is");
        assert_eq!(Name::new("a\u{1b}[2J\u{202e}b.example").as_str(), "a␛[2jb.example");
    }

    #[test]
    fn belonging_goes_by_labels() {
        let zone = Name::new("example.net.");
        assert_eq!(Name::new("web.example.net").below(&zone), Some("web"));
        assert_eq!(Name::new("EXAMPLE.net").below(&zone), Some(""));
        for outside in ["badexample.net", "net", "example.net.org", "x\\.example.net"] {
            assert!(!Name::new(outside).is_in(&zone), "{outside}");
        }
        assert_eq!(Name::new("a.b").below(&Name::new(".")), Some("a.b"));
    }

    #[test]
    fn ids_are_written_as_powerdns_writes_them() {
        assert_eq!(Name::new("129.20.10.in-addr.arpa").zone_id(), "129.20.10.in-addr.arpa.");
        assert_eq!(Name::new("_tcp.a/b.example.").zone_id(), "=5Ftcp.a=2Fb.example.");
        assert_eq!(Name::new(".").zone_id(), "=2E");
        assert_eq!(Name::new("..").zone_id(), "...", "not the root, and the client refuses it");
    }

    #[test]
    fn a_tree_is_listed_from_its_root() {
        let mut names = ["z.a.net", "net", "b.net", "a.net", "x.z.a.net"].map(Name::new);
        names.sort_by(Name::tree_order);
        assert_eq!(names.each_ref().map(Name::as_str), ["net", "a.net", "z.a.net", "x.z.a.net", "b.net"]);
    }
}
