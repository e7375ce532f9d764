//! The reload of the perimeter's resolver: what was saved comes into force, and is proved by what it loaded and answers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::UNTOLD;
use super::answers::{Role, unanswered};
use crate::backends::opnsense::Client;
use crate::backends::opnsense::model::{ForwardKind, ServiceState};
use crate::backends::permit::Permit;
use crate::provision::fields::{Change, Difference, Fields, PASSING, Seen, Wanted};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::plan::Step;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// The resolver, told of what is saved. It is away for a moment, for everybody; what others saved comes into force too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolverReload {
    /// The domains whose forwards are proved, without final dots.
    pub domains: Vec<String>,
}

/// Field of what this change saved and has not told of.
const SAVED: &str = "saved";
/// What waits of a forward that was taken out.
const REMOVED: &str = "removed, still in force";
/// What waits of a forward that leads nowhere.
const UNANSWERED: &str = "in force, not answered";
/// Before the domain of a forward of somebody else.
const OTHER: &str = "of others: ";

/// Nothing is answered: it is not told anything again before somebody looked.
fn down(how: &str) -> Trouble {
    Trouble::new(TroubleKind::NotSeen, format!("the perimeter's resolver {how}: no name is answered"))
        .with_help("start Unbound on the router now, look at its log, then take the change up again")
}

/// Forwards as they are saved, and as they are in force.
struct State {
    saved: BTreeSet<String>,
    running: BTreeSet<String>,
    /// Domains that are in force without a forward.
    settled: BTreeSet<String>,
}

impl State {
    async fn read(client: &Client) -> Result<Self, Trouble> {
        let trouble = |e: crate::backends::opnsense::Error| Trouble::from(&e);
        match client.resolver_state().await.map_err(trouble)? {
            ServiceState::Stopped => return Err(down("is stopped")),
            ServiceState::Disabled => return Err(down("is switched off")),
            ServiceState::Running | ServiceState::Other(_) => {}
        }
        let rows = client.forwards().await.map_err(trouble)?;
        let plain = rows.iter().filter(|row| row.enabled && row.kind == ForwardKind::Forward && !row.final_dot);
        Ok(Self {
            saved: plain.map(|row| row.domain.clone()).collect(),
            running: client.insecure_domains().await.map_err(trouble)?.into_iter().collect(),
            settled: client.resolver_settings().await.map_err(trouble)?.insecure_domains.into_iter().collect(),
        })
    }

    /// What waits of a domain.
    fn waits(&self, domain: &str) -> Option<&'static str> {
        match (self.saved.contains(domain), self.running.contains(domain)) {
            (true, false) => Some("saved, not in force"),
            (false, true) if !self.settled.contains(domain) => Some(REMOVED),
            _ => None,
        }
    }
}

impl ResolverReload {
    /// What the resolver says of a domain that is forwarded; `None` where that is right or there is nobody to ask.
    async fn unanswered(&self, context: &Context, domain: &str) -> Result<Option<String>, Trouble> {
        let Some(resolvers) = context.world.site.resolvers.as_ref() else { return Ok(None) };
        Ok(unanswered(context, (resolvers.ask, Role::Resolver), domain).await?.map(|(_, how)| how))
    }
}

impl Ensure for ResolverReload {
    fn place(&self) -> Place {
        Place::Fw
    }

    fn name(&self) -> String {
        "reload of the resolver".to_owned()
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Shared
    }

    fn undo(&self, _todo: &Difference) -> Undo {
        Undo::Again
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let state = State::read(context.world.opnsense()?).await?;
            let mut all = Fields::new();
            if context.notes.get(UNTOLD).is_some() {
                all.insert(SAVED.to_owned(), "not told of yet".to_owned());
            }
            for domain in &self.domains {
                if let Some(waits) = state.waits(domain) {
                    all.insert(domain.clone(), waits.to_owned());
                } else if state.saved.contains(domain)
                    && let Some(how) = self.unanswered(context, domain).await?
                {
                    // How it fails differs from one question to the next.
                    all.insert(domain.clone(), UNANSWERED.to_owned());
                    all.insert(format!("{PASSING}{domain}"), how);
                }
            }
            // Also rows that somebody removed: they come out of force with it.
            let all_there = state.saved.union(&state.running);
            for domain in all_there.filter(|domain| !self.domains.contains(domain)) {
                all.extend(state.waits(domain).map(|waits| (format!("{OTHER}{domain}"), waits.to_owned())));
            }
            Ok(Seen::Present(all))
        })
    }

    /// Whatever waits, of this change or of its domains. What others saved is theirs, and goes along when it is done.
    fn difference(&self, seen: &Seen, _wanted: &Wanted) -> Difference {
        let Seen::Present(now) = seen else { return Difference::Nothing };
        let own = now.iter().filter(|(field, _)| !field.starts_with(OTHER) && !field.starts_with(PASSING));
        let told = |(field, waits): (&String, &String)| {
            let how = now.get(&format!("{PASSING}{field}")).map(|how| format!("{waits}: the resolver {how}"));
            Change::set(field, Some(&how.unwrap_or_else(|| waits.clone())), "in force")
        };
        let changes: Vec<Change> = own.map(told).collect();
        if changes.is_empty() { Difference::Nothing } else { Difference::Update(changes) }
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            if todo.is_nothing() {
                return Ok(());
            }
            context.tell("the resolver is told of its forwards; it is away for a moment");
            let told = context.world.opnsense()?.reconfigure_resolver(permit).await;
            told.map_err(|e| Trouble::from(&e))?;
            context.notes.set(UNTOLD, "", context.now())
        })
    }

    fn riders(&self, seen: &Seen, _own: &[Step]) -> Vec<String> {
        let Seen::Present(now) = seen else { return Vec::new() };
        let others = now.iter().filter_map(|(field, waits)| Some((field.strip_prefix(OTHER)?, waits)));
        let said = |(domain, waits): (&str, &String)| match waits.as_str() {
            REMOVED => format!("the forward of {domain}, which somebody removed and did not apply"),
            _ => format!("the forward of {domain}, which somebody saved and did not apply"),
        };
        others.map(said).collect()
    }
}
