//! Asking everybody at once.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join, join_all};
use futures_util::stream::{FuturesUnordered, Stream};
use futures_util::{FutureExt as _, StreamExt as _};

use super::Gathering;
use super::expect::{Expected, expect, tenant_of, without_picture};
use super::target::{Place, Target};
use super::vantage::{Column, Control, ControlOutcome, Outcome, PORT, Vantage, Vantages, WhyNot};
use crate::backends::dns::{self, Answer, Clock, DnsName, Failure, Query, Rcode};
use crate::backends::exit_node::{VrfFailure, VrfQuestion};
use crate::inventory::Inventory;
use crate::site::Site;

/// Longest time one vantage point may take; each is bounded by less on its own.
const LIMIT: Duration = Duration::from_secs(15);
/// Longest time the resolver of this host may take.
const HOST_LIMIT: Duration = Duration::from_secs(10);

/// Something that was found out about a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// What the index derives.
    Expected(Expected),
    /// What came of one vantage point.
    Column(Column),
}

/// Asks everybody at the same moment and tells what came of each as it comes: six in all, what is derived and
/// [`Vantage::ALL`]. Each vantage point has its own bounds, and none waits for another; `picture` is awaited only for what
/// is derived, and for the tenant where the name alone does not say it. Dropping the stream stops the asking.
pub fn ask<'a>(
    site: &'a Site,
    target: &'a Target,
    vantages: &'a Vantages,
    picture: impl Future<Output = Arc<Inventory>> + Send + 'a,
    clock: Clock<'a>,
) -> impl Stream<Item = Heard> + Send + 'a {
    let picture = picture.boxed().shared();
    let derived = {
        let picture = picture.clone();
        async move {
            let expected = match without_picture(target) {
                Some(expected) => expected,
                None => {
                    let inventory = picture.await;
                    expect(site, &inventory, target)
                }
            };
            Heard::Expected(expected)
        }
    };
    let columns = Vantage::ALL.into_iter().map(move |vantage| {
        let asking = Asking { target, vantages, controls: vantages.controls.list(), clock };
        let picture = picture.clone();
        async move {
            let column = tokio::time::timeout(LIMIT, asking.column(vantage, picture)).await;
            Heard::Column(column.unwrap_or_else(|_| asking.late(vantage)))
        }
        .boxed()
    });
    std::iter::once(derived.boxed()).chain(columns).collect::<FuturesUnordered<_>>()
}

/// As [`ask`], with everything that came of it.
pub async fn resolve(
    site: &Site,
    target: &Target,
    vantages: &Vantages,
    picture: impl Future<Output = Arc<Inventory>> + Send,
    clock: Clock<'_>,
) -> Gathering {
    let mut found = Gathering::new(clock(), target.clone(), &vantages.controls);
    let mut heard = std::pin::pin!(ask(site, target, vantages, picture, clock));
    while let Some(heard) = heard.next().await {
        found.take(heard);
    }
    found
}

type Picture<'a> = futures_util::future::Shared<BoxFuture<'a, Arc<Inventory>>>;

struct Asking<'a> {
    target: &'a Target,
    vantages: &'a Vantages,
    controls: Vec<Control>,
    clock: Clock<'a>,
}

impl Asking<'_> {
    async fn column(&self, vantage: Vantage, picture: Picture<'_>) -> Column {
        match vantage {
            Vantage::Authoritative => self.server(vantage, &self.vantages.authoritative).await,
            Vantage::Perimeter => self.server(vantage, &self.vantages.perimeter).await,
            Vantage::Substrate => self.server(vantage, &self.vantages.substrate).await,
            Vantage::Vrf => self.vrf(picture).await,
            Vantage::Host => self.host().await,
        }
    }

    fn late(&self, vantage: Vantage) -> Column {
        Column::silent(vantage, self.controls.len(), &format!("no answer within {} s", LIMIT.as_secs()))
    }

    fn not_asked(&self, vantage: Vantage, kind: WhyNot, why: String) -> Column {
        let controls = self.controls.iter().map(|_| ControlOutcome::NotAsked("not asked")).collect();
        Column { vantage, asked: String::new(), how: String::new(), outcome: Outcome::NotAsked { kind, why }, controls }
    }

    /// A server that is asked from here.
    async fn server(&self, vantage: Vantage, server: &Result<SocketAddr, (WhyNot, String)>) -> Column {
        let server = match server {
            Ok(server) => *server,
            Err((kind, why)) => return self.not_asked(vantage, *kind, why.clone()),
        };
        let authority = vantage == Vantage::Authoritative;
        let query = |name: &DnsName, kind| {
            let (name, make) = (name.clone(), if authority { Query::of_authority } else { Query::new });
            make(server, name, kind)
        };
        let ask = async |name: &DnsName, kind| dns::ask(&query(name, kind), self.clock).await;
        let foreign = authority && self.target.place == Place::Elsewhere;
        let main = async { if foreign { None } else { Some(ask(&self.target.name, self.target.kind).await) } };
        let controls = join_all(self.controls.iter().map(async |control| {
            if authority && control.what == "public" {
                ControlOutcome::NotAsked("not asked")
            } else {
                control_outcome(
                    ask(&control.name, control.kind).await.as_ref().map_err(ToString::to_string),
                    control,
                    authority,
                )
            }
        }));
        let (main, controls) = join(main, controls).await;
        let not_its =
            || Outcome::NotAsked { kind: WhyNot::NotItsName, why: "the name is in no zone of the site".to_owned() };
        let via = main.as_ref().and_then(|m| m.as_ref().ok()).map_or("udp", |answer| answer.via.word());
        let recursion = if authority { "no recursion" } else { "recursion" };
        Column {
            vantage,
            asked: shown(server),
            how: format!("{recursion}, {via}"),
            outcome: main.map_or_else(not_its, |main| main.map_or_else(|f| failed(&f), Outcome::Answered)),
            controls,
        }
    }

    async fn host(&self) -> Column {
        let host = match &self.vantages.host {
            Ok(host) => host,
            Err(failure) => {
                let column = self.not_asked(Vantage::Host, WhyNot::NotConfigured, String::new());
                return Column { outcome: failed(failure), ..column };
            }
        };
        let ask = async |name: &DnsName, kind| host.ask(name, kind, HOST_LIMIT, self.clock).await;
        let controls = join_all(self.controls.iter().map(async |control| {
            control_outcome(
                ask(&control.name, control.kind).await.as_ref().map_err(ToString::to_string),
                control,
                false,
            )
        }));
        let (main, controls) = join(ask(&self.target.name, self.target.kind), controls).await;
        let servers: Vec<String> = host.servers().iter().map(ToString::to_string).collect();
        Column {
            vantage: Vantage::Host,
            asked: format!("{} (system)", servers.join(", ")),
            how: "as configured".to_owned(),
            outcome: main.map_or_else(|f| failed(&f), Outcome::Answered),
            controls,
        }
    }

    /// Whose VRF: the one that was named, the one of the name, or the one that the picture knows.
    async fn tenant(&self, picture: Picture<'_>) -> Result<String, Outcome> {
        if let Some(tenant) = self.vantages.from.as_ref().or_else(|| self.target.tenant()) {
            return Ok(tenant.to_string());
        }
        if matches!(self.target.place, Place::Site | Place::Elsewhere) {
            let why = "the name belongs to no tenant; --tenant asks from a VRF all the same".to_owned();
            return Err(Outcome::NotAsked { kind: WhyNot::NotItsName, why });
        }
        let inventory = picture.await;
        tenant_of(&inventory, self.target).map(|tenant| tenant.name.to_string()).map_err(|none| match none {
            Expected::Unknown { why } => Outcome::Failed {
                why: format!("whose VRF is not known: {why}"),
                help: "name the tenant: --tenant NAME".to_owned(),
            },
            Expected::Nothing { why } => Outcome::NotAsked { kind: WhyNot::NotItsName, why },
            Expected::Values { because, .. } => Outcome::NotAsked { kind: WhyNot::NotItsName, why: because },
        })
    }

    async fn vrf(&self, picture: Picture<'_>) -> Column {
        let vantage = Vantage::Vrf;
        let exit = match &self.vantages.exit {
            Ok(exit) => exit,
            Err((kind, why)) => return self.not_asked(vantage, *kind, why.clone()),
        };
        let tenant = match self.tenant(picture).await {
            Ok(tenant) => tenant,
            Err(outcome) => return Column { outcome, ..self.not_asked(vantage, WhyNot::NotItsName, String::new()) },
        };
        let vrf = format!("vrf_{tenant}");
        let names = std::iter::once((&self.target.name, self.target.kind))
            .chain(self.controls.iter().map(|control| (&control.name, control.kind)));
        let questions: Result<Vec<_>, _> =
            names.map(|(name, kind)| VrfQuestion::new(&vrf, exit.gateway, name.clone(), kind)).collect();
        let answers = match questions {
            Ok(questions) => exit.client.probe_dns(LIMIT.saturating_sub(Duration::from_secs(1)), &questions).await,
            Err(error) => Err(error),
        };
        let column = Column {
            asked: format!("{} via {}", exit.gateway, exit.name),
            how: format!("recursion, in {vrf}"),
            ..self.not_asked(vantage, WhyNot::NotItsName, String::new())
        };
        match answers {
            Err(error) => Column { outcome: Outcome::Failed { why: error.to_string(), help: error.help() }, ..column },
            Ok(answers) => self.vrf_answers(answers, column),
        }
    }

    fn vrf_answers(&self, answers: Vec<Result<Answer, VrfFailure>>, column: Column) -> Column {
        let mut answers = answers.into_iter();
        let outcome = match answers.next() {
            Some(Ok(answer)) => Outcome::Answered(answer),
            Some(Err(failure @ VrfFailure::Denied { .. })) => {
                Outcome::Denied { why: failure.to_string(), help: failure.help() }
            }
            Some(Err(failure)) => Outcome::Failed { why: failure.to_string(), help: failure.help() },
            None => Outcome::Failed { why: "the node gave no answer".to_owned(), help: "ask again".to_owned() },
        };
        let controls = self.controls.iter().zip(answers);
        let controls = controls
            .map(|(control, answer)| control_outcome(answer.as_ref().map_err(ToString::to_string), control, false));
        Column { outcome, controls: controls.collect(), ..column }
    }
}

fn control_outcome(answer: Result<&Answer, String>, control: &Control, authority: bool) -> ControlOutcome {
    match answer {
        Err(why) => ControlOutcome::Failed(why),
        Ok(answer) if authority && answer.rcode == Rcode::REFUSED => ControlOutcome::NotAsked("not its zone"),
        Ok(answer) => match answer.values(control.kind) {
            values if values.is_empty() => ControlOutcome::Empty(answer.rcode),
            values => ControlOutcome::Answers(values),
        },
    }
}

fn failed(failure: &Failure) -> Outcome {
    Outcome::Failed { why: failure.to_string(), help: failure.help() }
}

/// A server without its port where that is the usual one.
fn shown(server: SocketAddr) -> String {
    if server.port() == PORT { server.ip().to_string() } else { server.to_string() }
}
