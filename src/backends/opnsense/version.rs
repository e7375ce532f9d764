//! Which OPNsense answers. What an endpoint is called, what a field means and which rows a search holds depend on it
//! (facts/opnsense.md §1, §2, §3).

use std::fmt;

/// An OPNsense version: `25.7.11` is series 25.7, patch 11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Year, e.g. 25.
    pub year: u16,
    /// Month of the series, 1 or 7.
    pub month: u16,
    /// Patch level; 0 for the first release of a series, and where only the series is known.
    pub patch: u16,
}

/// The oldest series this client knows.
pub const OLDEST: Version = Version::new(24, 7, 0);

impl Version {
    /// `year.month.patch`.
    #[must_use]
    pub const fn new(year: u16, month: u16, patch: u16) -> Self {
        Self { year, month, patch }
    }

    /// Reads `25.7.11`, `25.7`, `25.7.11_2` and the `OPNsense 26.7.2-amd64` of the system page.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix("OPNsense ").unwrap_or(text.trim());
        let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
        let mut parts = numbers.split('.').map(str::parse::<u16>);
        let year = parts.next()?.ok()?;
        let month = parts.next()?.ok()?;
        // A pre-release has letters where the patch level would be: `26.7.b_12`.
        let patch = parts.next().and_then(Result::ok).unwrap_or(0);
        Some(Self { year, month, patch })
    }

    /// Whether addresses of this version's access lists are written in snake_case throughout (25.7 and later, facts §2).
    #[must_use]
    pub fn speaks_snake_case(self) -> bool {
        self >= Self::new(25, 7, 0)
    }

    /// Whether a rule search can hold legacy and automatic rules (25.1.5 and later, facts §4).
    #[must_use]
    pub fn lists_foreign_rules(self) -> bool {
        self >= Self::new(25, 1, 5)
    }

    /// Whether a rule search without an interface holds every rule (26.1.1 and later); before, floating rules only.
    #[must_use]
    pub fn searches_all_interfaces(self) -> bool {
        self >= Self::new(26, 1, 1)
    }

    /// Whether rule counters may be up to 300 s old (25.7.6 to 26.1.x, facts §4).
    #[must_use]
    pub fn caches_counters(self) -> bool {
        self >= Self::new(25, 7, 6) && self < Self::new(26, 7, 0)
    }

    /// Whether a search of states understands `:` and `/` (26.1.3 and later); before, both are cut out of the text and
    /// nothing is found (facts §10).
    #[must_use]
    pub fn searches_colons(self) -> bool {
        self >= Self::new(26, 1, 3)
    }

    /// Whether the API tells the mode of source NAT (26.1.11 and later, facts §6).
    #[must_use]
    pub fn tells_nat_mode(self) -> bool {
        self >= Self::new(26, 1, 11)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.year, self.month)?;
        if self.patch > 0 { write!(f, ".{}", self.patch) } else { Ok(()) }
    }
}

/// How a version was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// `core/firmware/status`.
    Firmware,
    /// `diagnostics/system/system_information`.
    SystemInformation,
    /// Fields of an empty filter rule: the series only, its patch level is unknown (facts §2).
    RuleFields,
}

/// The version of a router and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The version; with [`Evidence::RuleFields`] the first release of its series.
    pub version: Version,
    /// Where it was read.
    pub evidence: Evidence,
}

/// The series in which a filter rule has these fields.
pub(super) fn series_of(has: impl Fn(&str) -> bool) -> Version {
    const MARKS: [(&str, Version); 4] = [
        ("max-pkt-rate-number", Version::new(26, 7, 0)),
        ("tcpflags_any", Version::new(26, 1, 0)),
        ("icmp6type", Version::new(25, 7, 0)),
        ("state-policy", Version::new(25, 1, 0)),
    ];
    MARKS.iter().find(|(field, _)| has(field)).map_or(OLDEST, |(_, version)| *version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_in_all_their_spellings() {
        for (text, version, shown) in [
            ("25.7.11", Version::new(25, 7, 11), "25.7.11"),
            ("26.1", Version::new(26, 1, 0), "26.1"),
            ("24.7.12_4", Version::new(24, 7, 12), "24.7.12"),
            ("OPNsense 26.7.2-amd64", Version::new(26, 7, 2), "26.7.2"),
            ("26.7.b_12", Version::new(26, 7, 0), "26.7"),
        ] {
            assert_eq!(Version::parse(text), Some(version), "{text}");
            assert_eq!(version.to_string(), shown);
        }
        for bad in ["", "OPNsense", "26", "x.y.z", "99999999.7"] {
            assert_eq!(Version::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn each_change_has_its_first_version() {
        let v = Version::new;
        assert!(!v(25, 1, 12).speaks_snake_case() && v(25, 7, 0).speaks_snake_case());
        assert!(!v(25, 1, 4).lists_foreign_rules() && v(25, 1, 5).lists_foreign_rules());
        assert!(!v(26, 1, 0).searches_all_interfaces() && v(26, 1, 1).searches_all_interfaces());
        assert!(!v(25, 7, 5).caches_counters() && v(25, 7, 6).caches_counters() && v(26, 1, 11).caches_counters());
        assert!(!v(26, 7, 0).caches_counters());
        assert!(!v(26, 1, 2).searches_colons() && v(26, 1, 3).searches_colons());
        assert!(!v(26, 1, 10).tells_nat_mode() && v(26, 1, 11).tells_nat_mode());
    }

    #[test]
    fn fields_of_a_rule_tell_the_series() {
        let with = |fields: &[&str]| series_of(|f| fields.contains(&f));
        assert_eq!(with(&["max-pkt-rate-number", "tcpflags_any", "icmp6type", "state-policy"]), Version::new(26, 7, 0));
        assert_eq!(with(&["tcpflags_any", "icmp6type", "state-policy"]), Version::new(26, 1, 0));
        assert_eq!(with(&["icmp6type", "state-policy"]), Version::new(25, 7, 0));
        assert_eq!(with(&["state-policy"]), Version::new(25, 1, 0));
        assert_eq!(with(&["enabled"]), OLDEST);
    }
}
