//! Who is asked, and asking all of them at once.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{join, join_all};

use super::Resolution;
use super::expect::{Expected, expect, tenant_of, without_picture};
use super::target::{Place, Target};
use crate::backends::dns::system::SystemResolver;
use crate::backends::dns::{self, Answer, Clock, DnsName, Failure, Query, Rcode, RecordType};
use crate::backends::exit_node::{Client, VrfQuestion};
use crate::inventory::Inventory;
use crate::site::Site;
use crate::site::names::TenantName;

/// Longest time one vantage point may take; each is bounded by less on its own.
const LIMIT: Duration = Duration::from_secs(15);
/// Longest time the resolver of this host may take.
const HOST_LIMIT: Duration = Duration::from_secs(6);
/// Port of a resolver.
const PORT: u16 = 53;

/// A place to ask from, or whom to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vantage {
    /// The authoritative server, without recursion.
    Authoritative,
    /// The perimeter's resolver, the one that workloads use.
    Perimeter,
    /// The resolver of the substrate.
    Substrate,
    /// The perimeter, asked from inside the tenant's VRF on the exit node.
    Vrf,
    /// This host, as it is configured.
    Host,
}

impl Vantage {
    /// All, in the order of the columns.
    pub const ALL: [Self; 5] = [Self::Authoritative, Self::Perimeter, Self::Substrate, Self::Vrf, Self::Host];

    /// Word, as in documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Authoritative => "authoritative",
            Self::Perimeter => "perimeter",
            Self::Substrate => "substrate",
            Self::Vrf => "vrf",
            Self::Host => "host",
        }
    }
}

/// Why a vantage point has no part in a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyNot {
    /// The site has no such back end.
    Off,
    /// The site file does not name it.
    NotConfigured,
    /// The name is none of its own.
    NotItsName,
}

/// What came of one vantage point.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// An answer, whatever it says.
    Answered(Answer),
    /// It was asked, and did not answer.
    Failed {
        /// Why.
        why: String,
        /// Remedy.
        help: String,
    },
    /// It may not be used.
    Denied {
        /// Which right, where.
        why: String,
        /// Remedy.
        help: String,
    },
    /// It was not asked.
    NotAsked {
        /// Kind.
        kind: WhyNot,
        /// Why.
        why: String,
    },
}

/// What came of a control name at one vantage point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlOutcome {
    /// It answers with these.
    Answers(Vec<String>),
    /// It answers without them.
    Empty(Rcode),
    /// No answer.
    Failed(String),
    /// Not asked, and why.
    NotAsked(&'static str),
}

/// One vantage point.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Which.
    pub vantage: Vantage,
    /// Whom it asks, e.g. `10.20.50.1 via hv02`; empty where nobody.
    pub asked: String,
    /// How, e.g. `no recursion, udp`.
    pub how: String,
    /// What came of it.
    pub outcome: Outcome,
    /// What came of each control, in the order of [`Resolution::controls`].
    pub controls: Vec<ControlOutcome>,
}

/// A name that is asked for beside: it tells "this name" from "this resolver".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// `public` or `site`.
    pub what: &'static str,
    /// Name.
    pub name: DnsName,
    /// Type.
    pub kind: RecordType,
}

/// The controls to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controls {
    /// A name on the internet.
    pub public: Option<DnsName>,
    /// A name of the site that is no tenant's.
    pub site: Option<DnsName>,
}

impl Controls {
    /// `example.com`, which RFC 2606 keeps for such uses, and the first reserved name below the site's domain: `api` where
    /// none is reserved.
    #[must_use]
    pub fn of_site(site: &Site) -> Self {
        let label = site.numbering.reserved_names.first().map_or("api", String::as_str);
        Self { public: "example.com".parse().ok(), site: format!("{label}.{}", site.domain).parse().ok() }
    }

    fn list(&self) -> Vec<Control> {
        let one = |what, name: &Option<DnsName>| name.clone().map(|name| Control { what, name, kind: RecordType::A });
        [one("public", &self.public), one("site", &self.site)].into_iter().flatten().collect()
    }
}

/// The exit node as a vantage point.
#[derive(Debug)]
pub struct Exit {
    /// Client.
    pub client: Client,
    /// The name people use for it.
    pub name: String,
    /// Whom the tenants' VRFs ask: the perimeter's address on the transit segment.
    pub gateway: Ipv4Addr,
}

/// Who can be asked. `Err` says why one cannot.
#[derive(Debug)]
pub struct Vantages {
    /// Authoritative server.
    pub authoritative: Result<SocketAddr, (WhyNot, String)>,
    /// Perimeter.
    pub perimeter: Result<SocketAddr, (WhyNot, String)>,
    /// Substrate.
    pub substrate: Result<SocketAddr, (WhyNot, String)>,
    /// Exit node.
    pub exit: Result<Exit, (WhyNot, String)>,
    /// This host.
    pub host: Result<SystemResolver, Failure>,
    /// Controls.
    pub controls: Controls,
    /// Ask from this tenant's VRF, whoever the name belongs to.
    pub from: Option<TenantName>,
}

impl Vantages {
    /// Those of the site file and of this host.
    #[must_use]
    pub fn of_site(site: &Site) -> Self {
        let off = |what: &str| (WhyNot::Off, format!("the site file has no [{what}]"));
        let resolvers = site.resolvers.as_ref().ok_or_else(|| off("resolvers"));
        let exit = site.exit_nodes.first().map(|node| Exit {
            client: Client::new(node),
            name: site.short_name(&node.name).to_owned(),
            gateway: node.transit_gateway,
        });
        let unnamed = || (WhyNot::NotConfigured, "[resolvers] names no substrate".to_owned());
        Self {
            authoritative: site.powerdns.as_ref().map(|dns| dns.dns).ok_or_else(|| off("powerdns")),
            perimeter: resolvers.clone().map(|r| SocketAddr::new(r.perimeter, PORT)),
            substrate: resolvers.and_then(|r| r.substrate.ok_or_else(unnamed)).map(|ip| SocketAddr::new(ip, PORT)),
            exit: exit.ok_or_else(|| off("[exit_node]")),
            host: SystemResolver::from_system(),
            controls: Controls::of_site(site),
            from: None,
        }
    }
}

/// Asks everybody at the same moment. Each vantage point has its own bounds, and none waits for another; `picture` is
/// awaited only for what is derived, and for the tenant where the name alone does not say it.
pub async fn resolve(
    site: &Site,
    target: &Target,
    vantages: &Vantages,
    picture: impl Future<Output = Arc<Inventory>>,
    clock: Clock<'_>,
) -> Resolution {
    let at = clock();
    let controls = vantages.controls.list();
    let picture = picture.shared();
    let asking = Asking { target, vantages, controls: &controls, clock };
    let derived = async {
        if let Some(expected) = without_picture(target) {
            return expected;
        }
        let inventory = picture.clone().await;
        expect(site, &inventory, target)
    };
    let (expected, authoritative, perimeter, substrate, vrf, host) = tokio::join!(
        derived,
        bounded(asking.server(Vantage::Authoritative, &vantages.authoritative)),
        bounded(asking.server(Vantage::Perimeter, &vantages.perimeter)),
        bounded(asking.server(Vantage::Substrate, &vantages.substrate)),
        bounded(asking.vrf(picture.clone())),
        bounded(asking.host()),
    );
    let columns = [authoritative, perimeter, substrate, vrf, host].into_iter().zip(Vantage::ALL);
    let late = |vantage| Column {
        vantage,
        asked: String::new(),
        how: String::new(),
        outcome: Outcome::Failed {
            why: format!("no answer within {} s", LIMIT.as_secs()),
            help: "ask again".to_owned(),
        },
        controls: controls.iter().map(|_| ControlOutcome::Failed("no answer in time".to_owned())).collect(),
    };
    let columns = columns.map(|(column, vantage)| column.unwrap_or_else(|| late(vantage))).collect();
    Resolution { at, target: target.clone(), expected, columns, controls }
}

async fn bounded(column: impl Future<Output = Column>) -> Option<Column> {
    tokio::time::timeout(LIMIT, column).await.ok()
}

struct Asking<'a> {
    target: &'a Target,
    vantages: &'a Vantages,
    controls: &'a [Control],
    clock: Clock<'a>,
}

impl Asking<'_> {
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
    async fn tenant(&self, picture: impl Future<Output = Arc<Inventory>>) -> Result<String, Outcome> {
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

    async fn vrf(&self, picture: impl Future<Output = Arc<Inventory>>) -> Column {
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

    fn vrf_answers(
        &self,
        answers: Vec<Result<Answer, crate::backends::exit_node::VrfFailure>>,
        column: Column,
    ) -> Column {
        use crate::backends::exit_node::VrfFailure;
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
