//! A name to ask for: checked, absolute, lower case, without trailing dot.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::site::text::printable;

/// Longest name in presentation form (RFC 1035 §2.3.4: 255 bytes on the wire).
const LONGEST: usize = 253;
/// Longest label (RFC 1035 §2.3.4).
const LONGEST_LABEL: usize = 63;

/// A domain name, absolute whether or not it was given a final dot. Letters, digits, `-`, `_`, `/` and `*` only; names
/// in other scripts in their `xn--` form, which is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DnsName(String);

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a DNS name: {reason}")]
pub struct NameError {
    text: String,
    reason: String,
}

impl NameError {
    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "give labels of letters, digits, - and _ with dots between, 63 a label and 253 in all; other scripts as xn--…"
    }
}

impl FromStr for DnsName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let fail = |reason: String| Err(NameError { text: printable(text).chars().take(80).collect(), reason });
        if text == "." {
            return Ok(Self(String::new()));
        }
        if name.is_empty() {
            return fail("it is empty".to_owned());
        }
        if name.len() > LONGEST {
            return fail(format!("it has {} characters", name.len()));
        }
        for label in name.split('.') {
            if label.is_empty() {
                return fail("a label is empty".to_owned());
            }
            if label.len() > LONGEST_LABEL {
                return fail(format!("a label has {} characters", label.len()));
            }
            if let Some(c) = label.chars().find(|c| !c.is_ascii_alphanumeric() && !"-_/*".contains(*c)) {
                return fail(format!("`{}` does not belong in it", printable(&c.to_string())));
            }
        }
        Ok(Self(name.to_ascii_lowercase()))
    }
}

impl DnsName {
    /// The name under which the PTR record of `address` is (RFC 1035 §3.5, RFC 3596 §2.5).
    #[must_use]
    pub fn reverse(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(v4) => {
                let [a, b, c, d] = v4.octets();
                Self(format!("{d}.{c}.{b}.{a}.in-addr.arpa"))
            }
            IpAddr::V6(v6) => {
                let nibbles = v6.octets().into_iter().rev().flat_map(|byte| [byte & 15, byte >> 4]);
                let labels: Vec<String> = nibbles.map(|nibble| format!("{nibble:x}")).collect();
                Self(format!("{}.ip6.arpa", labels.join(".")))
            }
        }
    }

    /// The name without trailing dot; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `zone` or below it.
    #[must_use]
    pub fn is_under(&self, zone: &str) -> bool {
        let zone = zone.trim_end_matches('.').to_ascii_lowercase();
        zone.is_empty() || self.0 == zone || self.0.strip_suffix(&zone).is_some_and(|head| head.ends_with('.'))
    }

    /// The labels above `zone`, nearest the root last; `None` when it is not below `zone`.
    #[must_use]
    pub fn labels_below(&self, zone: &str) -> Option<Vec<&str>> {
        let zone = zone.trim_end_matches('.').to_ascii_lowercase();
        let head = self.0.strip_suffix(&zone)?;
        if head.is_empty() {
            return Some(Vec::new());
        }
        head.strip_suffix('.').map(|head| head.split('.').collect())
    }
}

impl fmt::Display for DnsName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.0.is_empty() { "." } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_absolute_and_lower_case() {
        for (given, kept) in [("App.TDEMO.example.", "app.tdemo.example"), ("_mqtt._tcp.x", "_mqtt._tcp.x"), (".", ".")]
        {
            assert_eq!(given.parse::<DnsName>().unwrap().to_string(), kept);
        }
        assert_eq!("xn--bcher-kva.example".parse::<DnsName>().unwrap().as_str(), "xn--bcher-kva.example");
    }

    #[test]
    fn what_is_no_name_is_refused_without_repeating_what_steers_a_terminal() {
        let long_label = "a".repeat(64);
        let long = ["a".repeat(60).as_str(); 5].join(".");
        for bad in ["", "..", "a..b", ".a", "a b", "a;b", "$(id)", "\u{1b}[2J", "bücher", "a\\.b", &long_label, &long]
        {
            let error = bad.parse::<DnsName>().unwrap_err();
            assert!(!error.to_string().contains('\u{1b}'), "{error}");
        }
    }

    #[test]
    fn reverse_names() {
        let v4 = DnsName::reverse("10.20.129.10".parse().unwrap());
        assert_eq!(v4.as_str(), "10.129.20.10.in-addr.arpa");
        let v6 = DnsName::reverse("2001:db8::567:89ab".parse().unwrap());
        assert_eq!(v6.as_str(), "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
    }

    #[test]
    fn below_is_by_labels_not_letters() {
        let name: DnsName = "app.tdemo.mobile.example".parse().unwrap();
        assert!(name.is_under("mobile.example.") && name.is_under("app.tdemo.mobile.example"));
        assert!(!name.is_under("obile.example") && !name.is_under("x.mobile.example"));
        assert_eq!(name.labels_below("mobile.example"), Some(vec!["app", "tdemo"]));
        assert_eq!(name.labels_below("app.tdemo.mobile.example"), Some(vec![]));
        assert_eq!(name.labels_below("obile.example"), None);
    }
}
