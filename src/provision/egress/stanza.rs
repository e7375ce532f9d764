//! A tenant's part of `frr.conf.local` on an exit node, and who keeps that file.
//!
//! The file belongs to code: a remark at its head, or a registry that lists VRFs for an agent, names a writer that would take
//! out what it does not know. It is left to that writer then.

use std::net::Ipv4Addr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::DEADLINE;
use super::render::{DEFAULT, rendered, route};
use crate::backends::exit_node::egress::{LocalFile, put_by_command};
use crate::backends::exit_node::error::Error;
use crate::backends::exit_node::model::{Readout, UnreadKind};
use crate::backends::exit_node::parse::frr::{self, MASK};
use crate::backends::permit::Permit;
use crate::provision::fields::{Change, Difference, Fields, Seen, Wanted, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;
use crate::site::model::ExitNodeSite;

/// After how long a command that puts the file in place is given up.
const PUTTING: Duration = Duration::from_secs(600);
/// How long another writer that lists the tenant is waited for: its timer runs every five minutes (domain.md §5.1).
const WRITING: Duration = Duration::from_secs(360);

/// The field of the default route: what the line says behind its prefix.
const ROUTE: &str = "ip route 0.0.0.0/0";
/// Lines of the block that are none of the console's.
const ALSO: &str = "also";
/// Who else writes the file.
const KEPT: &str = "kept by";
/// Whether that writer lists the tenant: `yes`, `no`, `not known`.
const LISTED: &str = "listed there";
/// How the file is put in place: `command`, `transport`, `nobody`.
const WAY: &str = "put by";

/// The default route of a tenant's VRF in `frr.conf.local` of an exit node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stanza {
    /// The exit node, by its Proxmox node id.
    pub node: String,
    /// The tenant; its VRF is `vrf_TENANT`.
    pub tenant: String,
}

/// The file as it was read.
struct Read {
    /// Its text; `None` where there is no such file.
    text: Option<String>,
    /// The lines of the tenant's block.
    lines: Vec<String>,
}

impl Read {
    /// The remark at the head of the file, by which its writer is told.
    fn mark(&self) -> Option<&str> {
        let first = self.text.as_deref()?.lines().find(|line| !line.trim().is_empty())?;
        first.trim().strip_prefix('!').map(str::trim).filter(|words| !words.is_empty())
    }
}

impl Stanza {
    /// What it holds for that gateway.
    #[must_use]
    pub fn by(gateway: Ipv4Addr) -> Fields {
        fields([(ROUTE, route(gateway).trim_start_matches(DEFAULT).to_owned())])
    }

    fn vrf(&self) -> String {
        format!("vrf_{}", self.tenant)
    }

    fn site<'a>(&self, context: &'a Context) -> Result<&'a ExitNodeSite, Trouble> {
        let missing = || Trouble::new(TroubleKind::Unknown, format!("the site file names no exit node {}", self.node));
        context.world.site.exit_nodes.iter().find(|node| node.name == self.node).ok_or_else(missing)
    }

    async fn read(&self, context: &Context) -> Result<Read, Trouble> {
        let client = context.world.exit_node(&self.node)?;
        let reading = client.read(DEADLINE, &[]).await.map_err(|e| Trouble::from(&e))?;
        match &reading.frr_local {
            Readout::Value(config) => {
                let lines = config.vrfs.get(&self.vrf()).cloned().unwrap_or_default();
                Ok(Read { text: Some(config.text.clone()), lines })
            }
            Readout::Unread(why) if why.kind == UnreadKind::Missing => Ok(Read { text: None, lines: Vec::new() }),
            Readout::Unread(why) => {
                let text = format!("frr.conf.local of {} could not be read: {}", self.node, why.why);
                Err(Trouble::new(TroubleKind::Unknown, text)
                    .with_help("docs/exit-node-access.md says which right it needs"))
            }
        }
    }

    /// Who else writes the file, and whether it lists the tenant.
    async fn owner(&self, context: &Context, read: &Read) -> Option<(String, &'static str)> {
        let mark = read.mark().map(|words| format!("another writer, who left the remark {words:?}"));
        let listed = match &context.world.registry {
            None => None,
            Some(Err(why)) => Some(Err(why.to_string())),
            Some(Ok(client)) => Some(client.egress().await.map_err(|e| e.to_string())),
        };
        match (mark, listed) {
            (None, None) => None,
            (Some(mark), None) => Some((mark, "not known")),
            (mark, Some(Err(why))) => {
                let agent = || format!("perhaps the registry's agent: its list could not be read ({why})");
                Some((mark.unwrap_or_else(agent), "not known"))
            }
            // Whether an agent would write a list of nobody is not known; that it may is told when the file is put in place.
            (None, Some(Ok(list))) if list.is_empty() => None,
            (mark, Some(Ok(list))) => {
                let listed = list.iter().any(|entry| entry.tenant == self.tenant);
                let agent = || "the agent that gives VRFs their way out from the registry's list".to_owned();
                Some((mark.unwrap_or_else(agent), if listed { "yes" } else { "no" }))
            }
        }
    }

    fn wants(wanted: &Wanted) -> Option<&str> {
        match wanted {
            Wanted::Absent => None,
            Wanted::Present(fields) => fields.get(ROUTE).map(String::as_str).filter(|route| !route.is_empty()),
        }
    }

    /// Waits until whoever keeps the file has written it.
    async fn wait(&self, context: &Context, wanted: Option<&str>) -> Result<(), Trouble> {
        let between = context.world.patience.between;
        let mut waited = Duration::ZERO;
        context.tell(format!("{}: it is kept by another writer, who is waited for", self.name()));
        while waited < WRITING {
            let read = self.read(context).await?;
            if is_route(&joined(&read.lines), wanted) {
                return Ok(());
            }
            context.wait().await?;
            waited += between.max(Duration::from_secs(1));
        }
        let text = format!("{} was not written within {} min by who keeps it", self.name(), WRITING.as_secs() / 60);
        Err(Trouble::new(TroubleKind::NotSeen, text)
            .with_help("look at that writer's own log on the node, then resume"))
    }

    async fn put(&self, context: &Context, permit: &Permit, gateway: Option<Ipv4Addr>) -> Result<(), Trouble> {
        let site = self.site(context)?;
        let before = self.read(context).await?.text;
        let old = before.clone().unwrap_or_default();
        if old.contains(MASK) {
            let text = format!("frr.conf.local of {} holds a password, which the console does not read", self.node);
            return Err(Trouble::new(TroubleKind::Refused, text)
                .with_help("put the stanza into it by hand, or the password into a file of its own"));
        }
        let text = rendered(&old, &self.vrf(), gateway);
        let live = gateway.map(|gateway| (self.vrf(), gateway));
        let file = LocalFile { text, before, live };
        if let Some(command) = &site.egress_apply {
            let said = match put_by_command(permit, command, &file, PUTTING).await {
                Ok(said) => said,
                Err(error) => return Err(self.moved(context, &file, &error).await),
            };
            said.iter().filter(|line| !line.is_empty()).for_each(|line| context.tell(line));
            return self.kept_others(context, &file).await;
        }
        let client = context.world.exit_node(&self.node)?;
        match client.put_local(permit, &file, PUTTING).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.moved(context, &file, &error).await),
        }
    }

    /// What an error means here: a file that somebody changed between the look and the writing is read and written again. That
    /// it was, the file tells, whatever words it was refused with.
    async fn moved(&self, context: &Context, file: &LocalFile, error: &Error) -> Trouble {
        let refused = matches!(error, Error::Refused { .. });
        let changed = refused && self.read(context).await.is_ok_and(|now| now.text != file.before);
        if !changed {
            return Trouble::from(error);
        }
        let text = format!("frr.conf.local of {} was changed by somebody else just now", self.node);
        Trouble::new(TroubleKind::Busy, text).with_help("resume: the file is read again, and theirs is kept")
    }

    /// Whether all is there that was put in place: a command that does not mind [`REPLACES`] may have run beside another
    /// writer, whose file lacks what this one holds.
    ///
    /// [`REPLACES`]: crate::backends::exit_node::egress::REPLACES
    async fn kept_others(&self, context: &Context, file: &LocalFile) -> Result<(), Trouble> {
        let now = self.read(context).await?.text.unwrap_or_default();
        // Nothing came of it: that is told as what it is.
        if now == file.before.clone().unwrap_or_default() {
            return Ok(());
        }
        let (put, now) = (frr::config(&file.text).vrfs, frr::config(&now).vrfs);
        let own = self.vrf();
        let lost: Vec<&str> = put.keys().filter(|vrf| !now.contains_key(*vrf)).map(String::as_str).collect();
        if !lost.is_empty() {
            let (node, lost) = (&self.node, lost.join(", "));
            context.tell(format!("another writer took out of frr.conf.local of {node} just now: {lost}"));
        }
        if put.get(&own).map_or(&[][..], Vec::as_slice) == now.get(&own).map_or(&[][..], Vec::as_slice) {
            return Ok(());
        }
        let text = format!("frr.conf.local of {} was overwritten by another writer just now", self.node);
        Err(Trouble::new(TroubleKind::Busy, text).with_help("resume: what is lost of this tenant is written again"))
    }
}

/// The default routes of a block, as one field.
fn joined(lines: &[String]) -> Option<String> {
    let routes: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix(DEFAULT)).collect();
    (!routes.is_empty()).then(|| routes.join(" | "))
}

/// Whether a route is the one that is wanted. The interface it may name leads to the same next hop.
fn is_route(now: &Option<String>, wanted: Option<&str>) -> bool {
    let words = |route: &str| {
        let words: Vec<String> = route.split_whitespace().map(str::to_owned).collect();
        match words.as_slice() {
            [gateway, .., keyword, vrf] if keyword == "nexthop-vrf" && words.len() <= 4 => {
                vec![gateway.clone(), keyword.clone(), vrf.clone()]
            }
            _ => words,
        }
    };
    match (now, wanted) {
        (None, None) => true,
        (Some(now), Some(wanted)) => words(now) == words(wanted),
        _ => false,
    }
}

impl Ensure for Stanza {
    fn place(&self) -> Place {
        Place::Exit
    }

    fn name(&self) -> String {
        format!("default route of vrf_{} in frr.conf.local of {}", self.tenant, self.node)
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Tenant
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let site = self.site(context)?;
            let read = self.read(context).await?;
            let way = match (&site.egress_apply, site.egress_install) {
                (Some(_), _) => "command",
                (None, true) => "transport",
                (None, false) => "nobody",
            };
            let mut seen = fields([(WAY, way)]);
            let also: Vec<&str> =
                read.lines.iter().map(String::as_str).filter(|line| !line.starts_with(DEFAULT)).collect();
            seen.extend((!also.is_empty()).then(|| (ALSO.to_owned(), also.join(" | "))));
            if let Some((owner, listed)) = self.owner(context, &read).await {
                seen.extend(fields([(KEPT, owner.as_str()), (LISTED, listed)]));
            }
            seen.extend(joined(&read.lines).map(|routes| (ROUTE.to_owned(), routes)));
            Ok(Seen::Present(seen))
        })
    }

    fn difference(&self, seen: &Seen, wanted: &Wanted) -> Difference {
        let now = seen.field(ROUTE).map(str::to_owned);
        let wanted = Self::wants(wanted);
        if is_route(&now, wanted) {
            return Difference::Nothing;
        }
        Difference::Update(vec![Change { field: ROUTE.to_owned(), now, will_be: wanted.map(str::to_owned) }])
    }

    fn refuses(&self, seen: &Seen, todo: &Difference) -> Option<Trouble> {
        if todo.is_nothing() {
            return None;
        }
        let adds = todo.value(ROUTE).is_some();
        let refused = |text: String, help: &str| Some(Trouble::new(TroubleKind::Refused, text).with_help(help));
        match (seen.field(KEPT), seen.field(LISTED)) {
            (None, _) if seen.field(WAY) == Some("nobody") => refused(
                format!("the site file names no way to put frr.conf.local of {} in place", self.node),
                "set egress_apply, or egress_install = true, for this exit node; or put the stanza there by hand",
            ),
            (None, _) => None,
            (Some(_), Some("yes")) if adds => None,
            (Some(_), Some("no")) if !adds => None,
            (Some(owner), Some("yes")) => refused(
                format!("frr.conf.local of {} is kept by {owner}, which lists {}", self.node, self.tenant),
                "take the tenant from that list first",
            ),
            (Some(owner), Some("no")) => refused(
                format!("frr.conf.local of {} is kept by {owner}, which does not list {}", self.node, self.tenant),
                "let that writer know the tenant: what is written beside it is overwritten",
            ),
            (Some(owner), _) => refused(
                format!(
                    "frr.conf.local of {} is kept by {owner}; whether it lists {} is not known",
                    self.node, self.tenant
                ),
                "let that writer put it there or take it out, then go on; or make it answer",
            ),
        }
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            // Whose file it is may have changed since the plan was shown.
            let seen = self.observe(context).await?;
            if let Some(why) = self.refuses(&seen, todo) {
                return Err(why);
            }
            let wanted = todo.value(ROUTE);
            if seen.field(KEPT).is_some() {
                return self.wait(context, wanted).await;
            }
            if wanted.is_some() && context.world.registry.is_some() {
                context.tell(
                    "the registry lists nobody for an agent: where one keeps this file all the same, it takes the route out again \
                     within minutes, until the registry lists the tenant",
                );
            }
            let gateway = wanted.map(|route| route.split_whitespace().next().unwrap_or_default().parse());
            let bad =
                |_| Trouble::new(TroubleKind::Refused, format!("{}: its gateway is no IPv4 address", self.name()));
            self.put(context, permit, gateway.transpose().map_err(bad)?).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stanza() -> Stanza {
        Stanza { node: "hv02".to_owned(), tenant: "tdemo".to_owned() }
    }

    fn seen(all: &[(&str, &str)]) -> Seen {
        Seen::Present(fields(all.iter().copied()))
    }

    const OURS: &str = "10.20.50.1 nexthop-vrf default";

    #[test]
    fn the_route_counts_and_neither_the_interface_it_names_nor_what_others_wrote() {
        let wanted = Wanted::Present(Stanza::by(Ipv4Addr::new(10, 20, 50, 1)));
        let todo =
            |route: &str| stanza().difference(&seen(&[(WAY, "command"), (ROUTE, route), (ALSO, "vni 1")]), &wanted);
        assert!(todo(OURS).is_nothing());
        assert!(todo("10.20.50.1 vmbr0.50 nexthop-vrf default").is_nothing());
        for other in ["10.20.50.2 nexthop-vrf default", "10.20.50.1", "10.20.50.1 | 10.20.50.1 nexthop-vrf default"] {
            assert!(!todo(other).is_nothing(), "{other}");
        }
        let gone = stanza().difference(&seen(&[(WAY, "command"), (ROUTE, OURS)]), &Wanted::Absent);
        assert_eq!((gone.value(ROUTE), gone.changes().len()), (None, 1));
        assert!(stanza().difference(&seen(&[(WAY, "command")]), &Wanted::Absent).is_nothing());
    }

    #[test]
    fn a_file_that_somebody_else_keeps_is_left_to_them() {
        let adds = Difference::Update(vec![Change::set(ROUTE, None, OURS)]);
        let takes = Difference::Update(vec![Change { field: ROUTE.into(), now: Some(OURS.into()), will_be: None }]);
        let said = |kept: &[(&str, &str)], todo: &Difference| {
            stanza().refuses(&seen(&[&[(WAY, "command")], kept].concat()), todo).map(|trouble| trouble.text)
        };
        assert_eq!(said(&[], &adds), None);
        let kept = |listed: &'static str| [(KEPT, "the agent"), (LISTED, listed)];
        assert_eq!((said(&kept("yes"), &adds), said(&kept("no"), &takes)), (None, None), "it is waited for");
        assert!(said(&kept("no"), &adds).unwrap().contains("kept by the agent, which does not list tdemo"));
        assert!(said(&kept("yes"), &takes).unwrap().contains("which lists tdemo"));
        assert!(said(&kept("not known"), &adds).unwrap().contains("whether it lists tdemo is not known"));
        assert_eq!(said(&kept("no"), &Difference::Nothing), None);
        let nobody = stanza().refuses(&seen(&[(WAY, "nobody")]), &adds).unwrap();
        assert!(nobody.text.contains("names no way"), "{nobody}");
    }
}
