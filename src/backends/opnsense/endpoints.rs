//! Every request the client can make, in one table. `tests/opnsense_contract.rs` holds what is really sent against it
//! and against the recorded API.

use crate::backends::http::Access;

/// One endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// HTTP method. A search is a POST and yet a read: only POST bodies are looked at (facts/opnsense.md §3).
    pub method: &'static str,
    /// Path below `/api`, with `{placeholders}`.
    pub path: &'static str,
    /// The path that access lists before 25.7 know, where it differs (facts §2).
    pub before_25_7: Option<&'static str>,
    /// Query parameters the client may send.
    pub query: &'static [&'static str],
    /// Keys of the body the client may send.
    pub body: &'static [&'static str],
    /// What it does to OPNsense.
    pub access: Access,
    /// What the key's user must hold: any one of these. Empty = only "All pages".
    pub need: &'static [Privilege],
}

/// A privilege of OPNsense. The id is the same in all versions; the name is the one shown by the web interface, which
/// words a few differently from version to version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Privilege {
    /// Id, as stored: `page-filter-api`.
    pub id: &'static str,
    /// Name in the list of privileges.
    pub name: &'static str,
}

const fn privilege(id: &'static str, name: &'static str) -> Privilege {
    Privilege { id, name }
}

const FILTER: &[Privilege] = &[privilege("page-filter-api", "Firewall: Rules [new]")];
const SNAT: &[Privilege] = &[privilege("page-filter-snat-api", "Firewall: NAT: Source NAT")];
const RULES: &[Privilege] = &[privilege("page-firewall-rules", "Firewall: Rules")];
const ALIASES: &[Privilege] = &[
    privilege("page-firewall-aliases", "Firewall: Aliases"),
    privilege("page-firewall-alias-edit", "Firewall: Alias: Edit"),
];
const TABLES: &[Privilege] = &[privilege("page-diagnostics-tables", "Diagnostics: PF Table IP addresses")];
const ROUTES: &[Privilege] = &[privilege("page-system-staticroutes", "System: Static Routes")];
const GATEWAYS: &[Privilege] = &[privilege("page-system-gateways", "System: Gateways")];
const GATEWAYS_OR_ROUTES: &[Privilege] = &[
    privilege("page-system-gateways", "System: Gateways"),
    privilege("page-system-staticroutes", "System: Static Routes"),
];
const UNBOUND: &[Privilege] = &[privilege("page-services-unbound", "Services: Unbound (MVC)")];
const STATES: &[Privilege] = &[privilege("page-diagnostics-showstates", "Diagnostics: Show States")];
const PF_INFO: &[Privilege] = &[privilege("page-diagnostics-pf-info", "Diagnostics: Firewall statistics")];
const DASHBOARD: &[Privilege] = &[privilege("page-system-login-logout", "Lobby: Login / Logout / Dashboard")];
const KERNEL: &[Privilege] = &[privilege("page-diagnostics-routingtables", "Diagnostics: Routing tables")];
const ARP_TABLE: &[Privilege] = &[privilege("page-diagnostics-arptable", "Diagnostics: ARP Table")];
const FILTER_LOG: &[Privilege] =
    &[privilege("page-diagnostics-logs-firewall-dynamic", "Diagnostics: Logs: Firewall: Live View")];
const INTERFACES: &[Privilege] = &[privilege("page-status-interfaces", "Status: Interfaces")];
const STATUS: &[Privilege] = &[privilege("page-system-status", "System: Status")];
const FIRMWARE: &[Privilege] = &[privilege("page-system-firmware-manualupdate", "System: Firmware")];

const PAGING: &[&str] = &["current", "rowCount", "sort", "searchPhrase"];

const fn get(path: &'static str, need: &'static [Privilege]) -> Endpoint {
    Endpoint { method: "GET", path, before_25_7: None, query: &[], body: &[], access: Access::Read, need }
}

const fn search(path: &'static str, need: &'static [Privilege]) -> Endpoint {
    Endpoint { method: "POST", body: PAGING, ..get(path, need) }
}

const fn renamed(endpoint: Endpoint, before: &'static str) -> Endpoint {
    Endpoint { before_25_7: Some(before), ..endpoint }
}

/// Installed version. Asks no mirror.
pub static FIRMWARE_STATUS: Endpoint = get("core/firmware/status", FIRMWARE);
/// Version and name, the dashboard's way.
pub static SYSTEM_INFORMATION: Endpoint =
    renamed(get("diagnostics/system/system_information", DASHBOARD), "diagnostics/system/systemInformation");
/// Uptime.
pub static SYSTEM_TIME: Endpoint =
    renamed(get("diagnostics/system/system_time", DASHBOARD), "diagnostics/system/systemTime");
/// Standing messages, the only signal that pf refused a rule set (facts §1 item 3).
pub static SYSTEM_STATUS: Endpoint = get("core/system/status", STATUS);
/// Interfaces: id, description, device, addresses.
pub static INTERFACE_OVERVIEW: Endpoint = get("interfaces/overview/export", INTERFACES);
/// An empty filter rule: its fields tell the series.
pub static RULE_TEMPLATE: Endpoint = get("firewall/filter/get_rule", FILTER);
/// One rule of the model.
pub static RULE: Endpoint = get("firewall/filter/get_rule/{uuid}", FILTER);
/// All rules of the model, with every field and every choice.
pub static FILTER_MODEL: Endpoint = get("firewall/filter/get", FILTER);
/// Rules as the rule page lists them, legacy and automatic ones among them.
pub static RULES_LISTED: Endpoint = Endpoint {
    body: &["current", "rowCount", "sort", "searchPhrase", "interface", "show_all"],
    ..search("firewall/filter/search_rule", FILTER)
};
/// Interfaces and groups that rules may name, 25.1.5 and later.
pub static RULE_INTERFACES: Endpoint = get("firewall/filter/get_interface_list", FILTER);
/// Counters of what pf has loaded, by label.
pub static RULE_STATS: Endpoint = get("firewall/filter_util/rule_stats", RULES);
/// Drops the cache of the counters. Leaves nothing behind but work: the next reading asks pf.
pub static FLUSH_RULE_STATS: Endpoint =
    Endpoint { method: "POST", access: Access::Probe, ..get("firewall/filter/flush_inspect_cache", FILTER) };
/// Source NAT as its page lists it.
pub static SNAT_LISTED: Endpoint = search("firewall/source_nat/search_rule", SNAT);
/// Source NAT's mode, and up to 26.1 the whole filter model.
pub static SNAT_MODEL: Endpoint = get("firewall/source_nat/get", SNAT);
/// Aliases.
pub static ALIASES_LISTED: Endpoint = search("firewall/alias/search_item", ALIASES);
/// Names of the tables pf has.
pub static TABLE_NAMES: Endpoint = get("firewall/alias_util/aliases", TABLES);
/// Content of one table.
pub static TABLE: Endpoint = search("firewall/alias_util/list/{alias}", TABLES);
/// Static routes, as configured.
pub static ROUTES_LISTED: Endpoint = search("routes/routes/searchroute", ROUTES);
/// Routes, as the kernel has them.
pub static KERNEL_ROUTES: Endpoint =
    renamed(get("diagnostics/interface/get_routes", KERNEL), "diagnostics/interface/getRoutes");
/// Gateways, as configured and monitored.
pub static GATEWAYS_LISTED: Endpoint = search("routing/settings/search_gateway", GATEWAYS);
/// Gateways, as monitored.
pub static GATEWAY_STATUS: Endpoint = get("routes/gateway/status", GATEWAYS_OR_ROUTES);
/// All of the resolver's settings.
pub static UNBOUND_SETTINGS: Endpoint = get("unbound/settings/get", UNBOUND);
/// The resolver's plain forwards.
pub static FORWARDS: Endpoint = search("unbound/settings/search_forward", UNBOUND);
/// The resolver's forwards over TLS.
pub static DOTS: Endpoint = search("unbound/settings/search_dot", UNBOUND);
/// Whether the resolver runs.
pub static UNBOUND_STATUS: Endpoint = get("unbound/service/status", UNBOUND);
/// Domains the running resolver does not validate.
pub static UNBOUND_INSECURE: Endpoint = get("unbound/diagnostics/listinsecure", UNBOUND);
/// The resolver's access lists. Not among the recorded answers of the five versions; older ones may not have it.
pub static UNBOUND_ACLS: Endpoint = search("unbound/settings/search_acl", UNBOUND);
/// Local zones of the running resolver, built-in ones among them (facts/dns.md §9).
pub static UNBOUND_LOCAL_ZONES: Endpoint = get("unbound/diagnostics/listlocalzones", UNBOUND);
/// Neighbours, as the router has them in its cache.
pub static ARP: Endpoint = renamed(get("diagnostics/interface/get_arp", ARP_TABLE), "diagnostics/interface/getArp");
/// Packets that pf logged, newest first.
pub static PF_LOG: Endpoint = Endpoint { query: &["limit"], ..get("diagnostics/firewall/log", FILTER_LOG) };
/// States that match a text.
pub static STATES_LISTED: Endpoint = search("diagnostics/firewall/query_states", STATES);
/// How full the state table is.
pub static STATE_TABLE: Endpoint = get("diagnostics/firewall/pf_states", DASHBOARD);
/// Rules as pf has them, in its own words.
pub static PF_RULES: Endpoint = get("diagnostics/firewall/pf_statistics/rules", PF_INFO);

const fn write(path: &'static str, body: &'static [&'static str], need: &'static [Privilege]) -> Endpoint {
    Endpoint { method: "POST", body, access: Access::Write, ..get(path, need) }
}

/// Adds a plain forward. The key of its body is `dot` all the same (facts §9).
pub static FORWARD_ADD: Endpoint = write("unbound/settings/add_forward", &["dot"], UNBOUND);
/// Changes one. It makes one of an id that is not there, and a plain one of a forward over TLS (facts §3, §9).
pub static FORWARD_SET: Endpoint = write("unbound/settings/set_forward/{uuid}", &["dot"], UNBOUND);
/// Switches one on or off.
pub static FORWARD_TOGGLE: Endpoint = write("unbound/settings/toggle_forward/{uuid}/{enabled}", &[], UNBOUND);
/// Deletes one.
pub static FORWARD_DELETE: Endpoint = write("unbound/settings/del_forward/{uuid}", &[], UNBOUND);
/// Gives the resolver what is configured: it stops and starts.
pub static UNBOUND_RECONFIGURE: Endpoint = write("unbound/service/reconfigure", &[], UNBOUND);

/// All that change something. Their paths are the same in every version from 24.7 on, and so is the privilege.
pub static WRITES: [&Endpoint; 5] =
    [&FORWARD_ADD, &FORWARD_SET, &FORWARD_TOGGLE, &FORWARD_DELETE, &UNBOUND_RECONFIGURE];

/// All that read, and the one that flushes.
pub static ALL: [&Endpoint; 33] = [
    &FIRMWARE_STATUS,
    &SYSTEM_INFORMATION,
    &SYSTEM_TIME,
    &SYSTEM_STATUS,
    &INTERFACE_OVERVIEW,
    &RULE_TEMPLATE,
    &RULE,
    &FILTER_MODEL,
    &RULES_LISTED,
    &RULE_INTERFACES,
    &RULE_STATS,
    &FLUSH_RULE_STATS,
    &SNAT_LISTED,
    &SNAT_MODEL,
    &ALIASES_LISTED,
    &TABLE_NAMES,
    &TABLE,
    &ROUTES_LISTED,
    &KERNEL_ROUTES,
    &GATEWAYS_LISTED,
    &GATEWAY_STATUS,
    &UNBOUND_SETTINGS,
    &FORWARDS,
    &DOTS,
    &UNBOUND_STATUS,
    &UNBOUND_INSECURE,
    &UNBOUND_ACLS,
    &UNBOUND_LOCAL_ZONES,
    &ARP,
    &PF_LOG,
    &STATES_LISTED,
    &STATE_TABLE,
    &PF_RULES,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_says_so_and_is_apart() {
        for endpoint in WRITES {
            assert_eq!((endpoint.method, endpoint.access), ("POST", Access::Write), "{}", endpoint.path);
            assert!(!endpoint.need.is_empty() && endpoint.before_25_7.is_none(), "{}", endpoint.path);
        }
        for endpoint in ALL {
            assert!(endpoint.access <= Access::Probe, "{}", endpoint.path);
            assert_eq!(endpoint.access == Access::Probe, *endpoint == FLUSH_RULE_STATS, "{}", endpoint.path);
            assert_eq!(endpoint.method == "POST", !endpoint.body.is_empty() || endpoint.access == Access::Probe);
            assert!(!endpoint.need.is_empty(), "{}", endpoint.path);
        }
    }

    #[test]
    fn paths_are_snake_case_except_where_old_access_lists_are_not() {
        for endpoint in ALL.iter().chain(&WRITES) {
            assert!(!endpoint.path.chars().any(|c| c.is_ascii_uppercase()), "{}", endpoint.path);
            if let Some(before) = endpoint.before_25_7 {
                assert_eq!(before.to_ascii_lowercase(), endpoint.path.replace('_', ""), "{before}");
            }
        }
    }
}
