//! Where to go: places, lists, and within a list or a text.

use super::super::availability as can;
use super::super::run::{moving, places, probes};
use super::super::{ArgKind, Command, Group};
use super::{OF_TENANT, look, may, needs};

const fn list(name: &'static str, title: &'static str, doc: &'static str) -> Command {
    look(Group::Go, name, title, doc, can::always, places::list)
}

const fn list_of_tenant(name: &'static str, title: &'static str, doc: &'static str) -> Command {
    list(name, title, doc).taking(OF_TENANT)
}

/// Moves of the cursor.
pub(super) const MOVES: &[Command] = &[
    look(Group::Move, "up", "up", "One row, line or entry up.", can::always, moving::up),
    look(Group::Move, "down", "down", "One row, line or entry down.", can::always, moving::down),
    look(Group::Move, "page-up", "page up", "A page up.", can::always, moving::page_up),
    look(Group::Move, "page-down", "page down", "A page down.", can::always, moving::page_down),
    look(Group::Move, "half-up", "half a page up", "Half a page up.", can::always, moving::half_up),
    look(Group::Move, "half-down", "half a page down", "Half a page down.", can::always, moving::half_down),
    look(Group::Move, "top", "top", "To the first row.", can::always, moving::top),
    look(Group::Move, "bottom", "bottom", "To the last row.", can::always, moving::bottom),
];

/// Places that are asked for by name.
pub(super) const PLACES: &[Command] = &[
    look(
        Group::Go,
        "go",
        "go to",
        "Goes to a place: overview, tenants, fabric, diagnose, activity or sources.",
        can::always,
        places::go,
    )
    .taking(&[needs("PLACE", ArgKind::Place)]),
    look(Group::Go, "tenant", "board of a tenant", "Opens the board of a tenant.", can::picture, places::tenant)
        .taking(&[needs("TENANT", ArgKind::Tenant)]),
    look(
        Group::Go,
        "workload",
        "go to a workload",
        "Goes to a workload, by tenant/name or VMID.",
        can::picture,
        places::workload,
    )
    .taking(&[needs("WORKLOAD", ArgKind::Workload)]),
    look(
        Group::Go,
        "resolve",
        "one name, every vantage point",
        "Asks the authority, the perimeter, the substrate, the tenant's VRF and this host for a name, a workload as \
         tenant/name, or an address, all at the same moment. Esc gives up on who does not answer.",
        can::picture,
        probes::resolve,
    )
    .taking(&[needs("NAME", ArgKind::Workload), may("TYPE", ArgKind::RecordType)]),
    look(
        Group::Go,
        "matrix",
        "isolation table",
        "Shows who must not reach whom: every ordered pair of tenants, and what tenants must not reach. Where nothing was read \
         yet, it reads.",
        can::picture,
        probes::matrix,
    ),
    look(
        Group::Go,
        "check",
        "check and explain",
        "Reads the site anew and judges it: egress, dns, isolation, keys, perimeter, fabric, workload, contract, access or \
         all, of one tenant or of everybody. Nothing is changed, and nothing waits for it. Keys fetches the tenants' update \
         keys and tries each on the others' zones, by updates that can change nothing.",
        can::picture,
        probes::check,
    )
    .taking(&[needs("WHAT", ArgKind::Check), may("TENANT", ArgKind::Tenant)]),
];

/// Full-width lists.
pub(super) const LISTS: &[Command] = &[
    list("tenants", "tenants", "All tenants at full width."),
    list_of_tenant("vrfs", "VRF & egress", "VRF and egress of all tenants, or of one, with live counters."),
    list_of_tenant("vrf-facts", "VRF facts", "The facts of all VRFs, or of one tenant's."),
    list_of_tenant("routes", "routes", "The routes of all VRFs, or of one tenant's, each with its reason."),
    list_of_tenant("vnets", "VNets", "VNets of all tenants, or of one, and those that no tenant owns."),
    list_of_tenant("workloads", "workloads", "Workloads of all tenants, or of one."),
    list_of_tenant("records", "DNS records", "DNS records of all tenants, or of one."),
    list_of_tenant("checkins", "check-ins", "Check-ins of all tenants, or of one."),
    list_of_tenant("rules", "perimeter rules", "All perimeter rules, or those that touch one tenant."),
    list_of_tenant("forwards", "resolver forwards", "Forwards of the perimeter resolver, or those of one tenant."),
    list("attention", "what needs a human", "What needs a human now, at full width."),
    list("members", "fabric members", "Members of the fabric at full width."),
    list_of_tenant("pending", "pending SDN edits", "SDN edits that wait for an apply."),
    list("sources", "sources", "Where the picture comes from, how old it is and what went wrong."),
    list("tasks", "tasks", "Recent tasks of Proxmox VE."),
];
