//! Lines `PATH:TEXT` of `grep -H` over files below `/proc`: settings, counters, names.

use std::collections::BTreeMap;

const CONF: &str = "/proc/sys/net/ipv4/conf/";

/// What was found; a file that is not there leaves its field empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proc {
    /// Interface → `forwarding`.
    pub forwarding: BTreeMap<String, bool>,
    /// Interface → `rp_filter`.
    pub rp_filter: BTreeMap<String, u8>,
    /// `nf_conntrack_count`.
    pub conntrack_count: Option<u64>,
    /// `nf_conntrack_max`.
    pub conntrack_max: Option<u64>,
    /// `nf_conntrack_acct`.
    pub conntrack_acct: Option<bool>,
    /// Columns of `/proc/net/stat/nf_conntrack` (hexadecimal), summed over CPUs.
    pub conntrack_stat: BTreeMap<String, u64>,
    /// Counters of `/proc/net/snmp` and `netstat`, named as nstat names them, e.g. `IpInAddrErrors`.
    pub counters: BTreeMap<String, u64>,
    /// Host name.
    pub hostname: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// First line that belongs to a known file and was not understood.
    pub odd: Option<String>,
}

/// Sorts the lines into a [`Proc`].
#[must_use]
pub fn parse(text: &str) -> Proc {
    let mut proc = Proc::default();
    let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let Some((path, value)) = line.split_once(':') else { continue };
        let understood = match path {
            "/proc/net/snmp" | "/proc/net/netstat" | "/proc/net/stat/nf_conntrack" => {
                tables.entry(path).or_default().push(value);
                true
            }
            _ => proc.setting(path, value),
        };
        if !understood && proc.odd.is_none() {
            proc.odd = Some(path.to_owned());
        }
    }
    for path in ["/proc/net/snmp", "/proc/net/netstat"] {
        proc.counters.extend(counters(tables.get(path).map_or(&[], Vec::as_slice)));
    }
    if let Some((header, rows)) = tables.get("/proc/net/stat/nf_conntrack").and_then(|lines| lines.split_first()) {
        proc.conntrack_stat = hex_columns(header, rows);
    }
    proc
}

impl Proc {
    fn setting(&mut self, path: &str, value: &str) -> bool {
        if let Some((interface, setting)) = path.strip_prefix(CONF).and_then(|rest| rest.rsplit_once('/')) {
            let value = value.parse::<u8>().ok();
            return match (setting, value) {
                ("forwarding", Some(v)) => self.forwarding.insert(interface.to_owned(), v != 0).is_none(),
                ("rp_filter", Some(v)) => self.rp_filter.insert(interface.to_owned(), v).is_none(),
                _ => false,
            };
        }
        let number = value.trim().parse::<u64>().ok();
        match path {
            "/proc/sys/net/netfilter/nf_conntrack_count" => self.conntrack_count = number,
            "/proc/sys/net/netfilter/nf_conntrack_max" => self.conntrack_max = number,
            "/proc/sys/net/netfilter/nf_conntrack_acct" => self.conntrack_acct = number.map(|n| n != 0),
            "/proc/sys/kernel/hostname" => self.hostname = Some(value.to_owned()),
            "/proc/sys/kernel/osrelease" => self.kernel = Some(value.to_owned()),
            _ => return false,
        }
        number.is_some() || path.starts_with("/proc/sys/kernel/")
    }
}

/// Pairs of lines `Ip: NAMES` and `Ip: VALUES`. Values below zero ("no limit") are no counters.
fn counters(lines: &[&str]) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for (names, values) in lines.iter().zip(lines.iter().skip(1)) {
        let (Some((prefix, names)), Some((again, values))) = (names.split_once(':'), values.split_once(':')) else {
            continue;
        };
        if prefix != again || names.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            continue;
        }
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse() {
                found.insert(format!("{prefix}{name}"), value);
            }
        }
    }
    found
}

fn hex_columns(header: &str, rows: &[&str]) -> BTreeMap<String, u64> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        for (name, value) in header.split_whitespace().zip(row.split_whitespace()) {
            if let Ok(value) = u64::from_str_radix(value, 16) {
                let sum = sums.entry(name.to_owned()).or_default();
                *sum = sum.saturating_add(value);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_keep_dotted_names() {
        let proc = parse(
            "/proc/sys/net/ipv4/conf/vmbr0.50/forwarding:0\n/proc/sys/net/ipv4/conf/vmbr0.50/rp_filter:2\n\
             /proc/sys/net/ipv4/conf/all/forwarding:1\n/proc/sys/kernel/hostname:hv02\n\
             /proc/sys/net/netfilter/nf_conntrack_acct:1\n",
        );
        assert_eq!(proc.forwarding, [("all".to_owned(), true), ("vmbr0.50".to_owned(), false)].into());
        assert_eq!(proc.rp_filter["vmbr0.50"], 2);
        assert_eq!((proc.hostname.as_deref(), proc.conntrack_acct, proc.odd), (Some("hv02"), Some(true), None));
    }

    #[test]
    fn what_is_not_a_number_is_not_false() {
        let proc = parse("/proc/sys/net/ipv4/conf/a/forwarding:maybe\n/proc/sys/net/netfilter/nf_conntrack_max:?\n");
        assert!(proc.forwarding.is_empty());
        assert_eq!((proc.conntrack_max, proc.odd.as_deref()), (None, Some("/proc/sys/net/ipv4/conf/a/forwarding")));
    }

    #[test]
    fn counters_take_nstat_names() {
        let proc = parse(
            "/proc/net/snmp:Ip: Forwarding InReceives InAddrErrors\n/proc/net/snmp:Ip: 2 1590 288\n\
             /proc/net/snmp:Tcp: MaxConn InSegs\n/proc/net/snmp:Tcp: -1 5000000000\n\
             /proc/net/netstat:TcpExt: IPReversePathFilter\n/proc/net/netstat:TcpExt: 3\n",
        );
        assert_eq!(proc.counters["IpInAddrErrors"], 288);
        assert_eq!(proc.counters["TcpInSegs"], 5_000_000_000);
        assert_eq!(proc.counters["TcpExtIPReversePathFilter"], 3);
        assert!(!proc.counters.contains_key("TcpMaxConn"));
    }

    #[test]
    fn conntrack_columns_are_hexadecimal_and_one_line_a_cpu() {
        let path = "/proc/net/stat/nf_conntrack";
        let proc = parse(&format!(
            "{path}:entries  drop early_drop\n{path}:00000004  000000b9 00000001\n{path}:00000004  00000001 00000000\n"
        ));
        assert_eq!((proc.conntrack_stat["drop"], proc.conntrack_stat["early_drop"]), (0xba, 1));
    }
}
