//! The table itself.

use super::availability as can;
use super::availability::changing as may_change;
use super::run::{changes, evidence, lists, moving, places, probes, row, system};
use super::{Arg, ArgKind, Call, Command, Danger, Group};
use crate::console::model::Model;
use crate::console::msg::Effect;

type Run = fn(&mut Model, &Call<'_>) -> Vec<Effect>;
type Ready = fn(&Model) -> super::Availability;

/// A command that only looks.
const fn look(
    group: Group,
    name: &'static str,
    title: &'static str,
    doc: &'static str,
    ready: Ready,
    run: Run,
) -> Command {
    Command { name, title, doc, args: &[], danger: Danger::Look, group, always: false, ready, run }
}

impl Command {
    const fn taking(self, args: &'static [Arg]) -> Self {
        Self { args, ..self }
    }

    const fn reaching(self, danger: Danger) -> Self {
        Self { danger, ..self }
    }

    const fn always(self) -> Self {
        Self { always: true, ..self }
    }
}

const fn needs(name: &'static str, kind: ArgKind) -> Arg {
    Arg { name, kind, optional: false }
}

const fn may(name: &'static str, kind: ArgKind) -> Arg {
    Arg { name, kind, optional: true }
}

const fn list(name: &'static str, title: &'static str, doc: &'static str) -> Command {
    look(Group::Go, name, title, doc, can::always, places::list)
}

const fn list_of_tenant(name: &'static str, title: &'static str, doc: &'static str) -> Command {
    list(name, title, doc).taking(OF_TENANT)
}

const OF_TENANT: &[Arg] = &[may("TENANT", ArgKind::Tenant)];

/// Every command there is.
pub static COMMANDS: &[Command] = &[
    look(
        Group::Here,
        "open",
        "open",
        "Opens the selected row: a tenant's board, the place where a finding can be dealt with, what was read for a leg or \
         a finding of a check, or the description of anything else. In a line or a menu it takes what is offered.",
        can::open,
        row::open,
    ),
    look(
        Group::Here,
        "describe",
        "describe",
        "Shows everything known about the selected object, with what was expected where that differs, and why the \
         unknown is unknown.",
        can::describe,
        row::describe,
    ),
    look(
        Group::Here,
        "data",
        "YAML or JSON",
        "Shows the selected object as YAML, then as JSON; what a check found as JSON. Secrets are not in it.",
        can::data,
        row::data,
    ),
    look(
        Group::Here,
        "edit",
        "in $EDITOR",
        "Opens the selected object as text in $EDITOR. Changes to it are thrown away: this console only reads.",
        can::object,
        row::edit,
    ),
    look(
        Group::Here,
        "copy",
        "copy",
        "Copies the selected row, or the marked ones, or with \"table\" the whole list as Markdown, to your own \
         clipboard, over SSH too (OSC 52).",
        can::copy,
        row::copy,
    )
    .taking(&[may("EXTENT", ArgKind::Extent)]),
    look(
        Group::Here,
        "resolve-row",
        "resolve its name",
        "Asks every vantage point for the name of the selected row: a workload's address, a record, the SOA of a zone, of \
         a forward or of a tenant.",
        can::resolve,
        row::resolve,
    ),
    look(
        Group::Here,
        "explain",
        "explain",
        "Checks what is under the cursor: the egress of the row's tenant, the fabric for what no tenant owns; shows the path \
         leg by leg as the answers come, and every finding. Esc gives up what has not come.",
        can::explain,
        row::explain,
    ),
    look(
        Group::Here,
        "paste",
        "paste a result",
        "Opens a field for the output of ping, nc, curl or tcpdump that somebody ran where it cannot be run from here: for a \
         cell of the isolation table, or for legs of a tenant's path. It shows how the text is read before it counts.",
        can::paste,
        probes::paste,
    ),
    look(
        Group::Here,
        "unpaste",
        "take pasted results away",
        "Takes away what was pasted for the cell under the cursor.",
        can::pasted,
        probes::unpaste,
    ),
    look(
        Group::Here,
        "actions",
        "all actions",
        "Lists everything that can be done with the selected row or the marked ones, with the reason where something \
         cannot be done.",
        can::object,
        row::actions,
    ),
    look(
        Group::Here,
        "step",
        "take a numbered step",
        "Takes the numbered next step that the screen offers: its command is copied, to be run by you; of a change that did not \
         come to its end, a plan is shown.",
        can::step,
        evidence::step,
    )
    .taking(&[needs("NUMBER", ArgKind::Number)]),
    look(
        Group::Here,
        "save-bundle",
        "save evidence or plan",
        "Keeps everything that the check read in a directory that is only yours to read, secrets taken out; \"explain DIR\" \
         finds the same there, without a network. Without a directory it asks. A plan is kept as a file in the site's state \
         directory.",
        can::bundle,
        evidence::save,
    )
    .taking(&[may("DIR", ArgKind::Text)]),
    look(
        Group::Here,
        "flows",
        "tracked flows",
        "Lists connections that the exit nodes track for the tenant whose path is on screen, with their state, where they are \
         translated to, and whether an answer came.",
        can::flows,
        evidence::flows,
    ),
    look(
        Group::Here,
        "search",
        "search",
        "Goes to the next line of the text that holds what is typed; capitals do not count.",
        can::search,
        evidence::search,
    )
    .taking(&[may("TEXT", ArgKind::Text)]),
    look(
        Group::Here,
        "next-match",
        "next match",
        "Goes to the next line that holds what was searched for, around the end.",
        can::matched,
        evidence::next_match,
    ),
    look(
        Group::Here,
        "previous-match",
        "previous match",
        "Goes to the previous line that holds what was searched for.",
        can::matched,
        evidence::previous_match,
    ),
    look(
        Group::List,
        "filter",
        "filter",
        "Narrows the list while you type: words are fuzzy and joined by \"and\", !word excludes, col:value binds a \
         column, \"several words\" are taken as they are. Esc clears it.",
        can::list,
        lists::filter,
    )
    .taking(&[may("TEXT", ArgKind::Text)]),
    look(
        Group::List,
        "sort",
        "sort",
        "Sorts by a column; the same column again turns the order around. Without a column it asks.",
        can::list,
        lists::sort,
    )
    .taking(&[may("COLUMN", ArgKind::Column)]),
    look(
        Group::List,
        "columns",
        "columns",
        "Shows or hides a column. Without a column it offers all of them.",
        can::list,
        lists::columns,
    )
    .taking(&[may("COLUMN", ArgKind::Column)]),
    look(
        Group::List,
        "mark",
        "mark",
        "Marks the selected row, or takes its mark away. Marks are held by identity; an action takes the marked rows.",
        can::row,
        lists::mark,
    ),
    look(Group::List, "unmark", "unmark all", "Takes all marks of the list away.", can::marks, lists::unmark),
    look(
        Group::List,
        "next-finding",
        "next finding",
        "Goes to the next row that differs, warns or fails; in the isolation table to the next cell that is not blocked.",
        can::finding,
        lists::next_finding,
    ),
    look(
        Group::List,
        "previous-finding",
        "previous finding",
        "Goes to the previous row that differs, warns or fails, or cell that is not blocked.",
        can::finding,
        lists::previous_finding,
    ),
    look(
        Group::List,
        "zoom",
        "zoom",
        "Shows the pane as a full-width list, and goes back again.",
        can::zoom,
        places::zoom,
    ),
    look(
        Group::List,
        "scope",
        "one tenant, all",
        "Switches the list between one tenant and all tenants; the cursor stays on its object.",
        can::scope,
        places::scope,
    ),
    look(
        Group::Everywhere,
        "command",
        "command line",
        "Opens the command line. Tab walks through what fits, right takes it, up and down go through the history.",
        can::always,
        system::command,
    ),
    look(
        Group::Everywhere,
        "help",
        "help",
        "Shows the keys in force and every command, what has the focus first. Typing searches.",
        can::always,
        system::help,
    ),
    look(
        Group::Everywhere,
        "back",
        "back",
        "Closes what is open, clears the filter, takes marks away, leaves the pane, or goes back a screen: the first of \
         these that there is.",
        can::always,
        places::back,
    ),
    look(
        Group::Everywhere,
        "next-pane",
        "next pane",
        "Moves the focus to the next pane.",
        can::panes,
        places::next_pane,
    ),
    look(
        Group::Everywhere,
        "previous-pane",
        "previous pane",
        "Moves the focus to the previous pane.",
        can::panes,
        places::previous_pane,
    ),
    look(
        Group::Everywhere,
        "refresh",
        "refresh",
        "Reads all sources, or the one named, again now.",
        can::always,
        system::refresh,
    )
    .taking(&[may("SOURCE", ArgKind::Source)]),
    look(
        Group::Everywhere,
        "freeze",
        "freeze",
        "Holds the picture still, so that it can be read or copied; reading goes on behind it. Again lets it go.",
        can::picture,
        system::freeze,
    ),
    look(
        Group::Everywhere,
        "write",
        "write mode",
        "Lets plans be applied for half an hour; again takes it back. Each plan is shown and asked for even then.",
        may_change::write,
        changes::write,
    ),
    look(
        Group::Everywhere,
        "theme",
        "theme",
        "Takes another theme for this session; without a name the next one.",
        can::theme,
        system::theme,
    )
    .taking(&[may("THEME", ArgKind::Theme)]),
    look(Group::Everywhere, "redraw", "redraw", "Draws the screen anew.", can::always, system::redraw).always(),
    look(Group::Everywhere, "suspend", "suspend", "Goes to the shell; fg comes back.", can::always, system::suspend)
        .always(),
    look(Group::Everywhere, "quit", "quit", "Leaves the console.", can::always, system::quit).always(),
    look(Group::Move, "up", "up", "One row, line or entry up.", can::always, moving::up),
    look(Group::Move, "down", "down", "One row, line or entry down.", can::always, moving::down),
    look(Group::Move, "page-up", "page up", "A page up.", can::always, moving::page_up),
    look(Group::Move, "page-down", "page down", "A page down.", can::always, moving::page_down),
    look(Group::Move, "half-up", "half a page up", "Half a page up.", can::always, moving::half_up),
    look(Group::Move, "half-down", "half a page down", "Half a page down.", can::always, moving::half_down),
    look(Group::Move, "top", "top", "To the first row.", can::always, moving::top),
    look(Group::Move, "bottom", "bottom", "To the last row.", can::always, moving::bottom),
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
    look(
        Group::Change,
        "onboard",
        "onboard a tenant",
        "Asks for a new tenant's name and index, checks both while you type, and makes the plan of its network. Nothing is \
         changed before the plan was shown and approved.",
        can::picture,
        changes::onboard,
    )
    .taking(&[may("NAME", ArgKind::Text)])
    .reaching(Danger::Shared),
    look(
        Group::Change,
        "plan",
        "plan by name",
        "Makes any plan there is by its name and its words, and shows it: what the other commands of changes do with fewer words.",
        can::always,
        changes::plan,
    )
    .taking(&[needs("PLAN", ArgKind::Plan), may("WORDS", ArgKind::Text)])
    .reaching(Danger::Final),
    look(
        Group::Change,
        "apply",
        "apply the plan",
        "Runs the plan on screen, in write mode. How far it reaches decides what is asked: nothing, y, the key alone, or the \
         name typed back. Enter never says yes.",
        may_change::apply,
        changes::apply,
    )
    .reaching(Danger::Final),
    look(
        Group::Change,
        "stop",
        "stop after this step",
        "No further step of the running change begins; the one that is under way is awaited, and what is held is given back.",
        may_change::stop,
        changes::stop,
    ),
    look(
        Group::Change,
        "run",
        "the running change",
        "Shows the change that runs, or ran last.",
        may_change::run,
        changes::run,
    ),
    look(
        Group::Change,
        "undo",
        "undo a change",
        "Makes the plan that takes a change back, last step first: the one named, e.g. C-0042, or the one on screen.",
        can::always,
        changes::undo,
    )
    .taking(&[may("CHANGE", ArgKind::Text)])
    .reaching(Danger::Final),
    look(
        Group::Change,
        "resume",
        "go on with a change",
        "Shows a change that did not come to its end, with what is there now, and the ways on.",
        may_change::resume,
        changes::resume,
    )
    .taking(&[may("CHANGE", ArgKind::Text)])
    .reaching(Danger::Final),
    look(
        Group::Change,
        "handover",
        "hand over",
        "Shows what a tenant's people need: numbers, zones, key, how names are updated, workloads, what the perimeter lets \
         through. It can be copied or saved. The secret of the key is fetched by a key of its own, into a new file that only \
         you can read or onto your clipboard, and is never shown.",
        may_change::hand_over,
        changes::hand_over,
    )
    .taking(OF_TENANT),
    look(
        Group::Change,
        "journal",
        "journal of changes",
        "Lists every change of this site that the journal knows: how it stands, who began it, when.",
        can::always,
        changes::journal,
    ),
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
    look(
        Group::Line,
        "complete",
        "next candidate",
        "Walks to the next candidate of the command line.",
        can::line,
        system::complete,
    ),
    look(
        Group::Line,
        "complete-back",
        "previous candidate",
        "Walks to the previous candidate of the command line.",
        can::line,
        system::complete_back,
    ),
];

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
