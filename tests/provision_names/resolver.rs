//! A whole onboarding with a real PowerDNS and a real Unbound: what the perimeter loads, that Unbound loads.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use deevnet_console::backends::dns::{Query, Rcode, RecordType, ask};
use deevnet_console::lab::Lab;
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::object::Object;
use deevnet_console::provision::plan::Plan;
use deevnet_console::provision::plans::onboard::{Onboarding, plan as onboarding};
use deevnet_console::provision::plans::record::Of;
use deevnet_console::provision::plans::{delete, names};
use deevnet_console::provision::trouble::TroubleKind;
use deevnet_console::provision::world::{Patience, World};
use deevnet_console::runtime::clock;
use deevnet_console::site::Site;
use deevnet_console::site::names::TenantName;
use deevnet_console::site::numbering::TenantIndex;
use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

use super::change_common::{Options, Runs, early};
use super::names::{plan, tenant};
use super::powerdns_common::{KEY, Pdns};

const FOUND: Option<(Rcode, usize)> = Some((Rcode::NOERROR, 1));

struct Bench {
    lab: Arc<Lab>,
    world: Arc<World>,
    runs: Runs,
    server: Arc<Pdns>,
    router: JoinHandle<()>,
    _secrets: tempfile::TempDir,
}

/// The lab's site with these servers for its names.
fn site(lab: &Lab, server: &Pdns, secrets: &std::path::Path) -> Arc<Site> {
    let key = secrets.join("key");
    std::fs::write(&key, KEY).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut file: toml::Table = lab.site_toml().parse().unwrap();
    let dns = file["powerdns"].as_table_mut().unwrap();
    let mut own = toml::Table::new();
    own.insert("file".to_owned(), key.display().to_string().into());
    dns.insert("url".to_owned(), server.origin().into());
    dns.insert("api_key".to_owned(), own.into());
    dns.insert("dns".to_owned(), server.site().dns.to_string().into());
    let resolvers = file["resolvers"].as_table_mut().unwrap();
    resolvers.insert("ask".to_owned(), server.resolver().to_string().into());
    Arc::new(Site::parse(&file.to_string(), &lab.dir().join("site.toml")).unwrap())
}

/// Unbound as the router's: started anew whenever that is, with what it loads.
fn router(lab: &Arc<Lab>, world: &Arc<World>, server: &Arc<Pdns>) -> JoinHandle<()> {
    let (lab, world, server) = (Arc::clone(lab), Arc::clone(world), Arc::clone(server));
    tokio::spawn(async move {
        let mut seen = lab.resolver_starts();
        loop {
            let starts = lab.resolver_starts();
            if starts != seen {
                let domains: BTreeSet<String> =
                    world.opnsense().unwrap().insecure_domains().await.into_iter().flatten().collect();
                let server = Arc::clone(&server);
                tokio::task::spawn_blocking(move || server.forward(&domains)).await.unwrap();
                seen = starts;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
}

/// The site's clients. Real servers need their time between two looks.
async fn connected(site: &Arc<Site>, looks: u32) -> Arc<World> {
    let sleep = Arc::new(|length: Duration| {
        Box::pin(tokio::time::sleep(length.min(Duration::from_millis(100)))) as BoxFuture<'static, ()>
    });
    Arc::new(World::connect(site, clock::system(), sleep, Patience { looks, ..Patience::default() }).await)
}

async fn bench(test: &str) -> Option<Bench> {
    let server = Arc::new(Pdns::with_resolver(test)?);
    server.forward(&BTreeSet::new());
    let lab = Arc::new(Options::empty().lab().await.0);
    let secrets = tempfile::tempdir().unwrap();
    let site = site(&lab, &server, secrets.path());
    let world = connected(&site, 50).await;
    let router = router(&lab, &world, &server);
    Some(Bench { lab, world, runs: Runs::new(), server, router, _secrets: secrets })
}

impl Bench {
    /// What the resolver says, and how many records it has; nothing where it goes on asking servers that are not there.
    async fn asked(&self, name: &str, kind: RecordType) -> Option<(Rcode, usize)> {
        let query = Query::new(self.server.resolver(), name.parse().unwrap(), kind);
        let clock = Arc::clone(&self.world.clock);
        let answer = ask(&query, &move || clock()).await.ok()?;
        Some((answer.rcode, answer.answers.len()))
    }

    async fn soa(&self, zone: &str) -> Option<(Rcode, usize)> {
        self.asked(zone, RecordType::SOA).await
    }

    async fn end(self) {
        self.router.abort();
        self.router.await.unwrap_err();
        Arc::into_inner(self.lab).unwrap().shutdown().await;
    }
}

/// All of it but the last step: that asks through the lab's exit node, whose resolver knows the lab's own names.
async fn whole(world: &Arc<World>, asked: &Onboarding) -> Plan {
    let mut plan = onboarding(world, asked).await.unwrap();
    plan.steps.retain(|step| !matches!(step.object, Object::CheckAll(_)));
    plan
}

fn asked() -> (Onboarding, [String; 2]) {
    let (name, index): (TenantName, TenantIndex) = tenant();
    let zones = ["rtrip.mobile.deevnet.net".to_owned(), "188.20.10.in-addr.arpa".to_owned()];
    (Onboarding { tenant: name, index: Some(index), first: None }, zones)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_is_onboarded_and_deleted_with_a_real_server_and_a_real_resolver() {
    let Some(bench) = bench("a_tenant_is_onboarded_and_deleted_with_a_real_server_and_a_real_resolver").await else {
        return;
    };
    let (asked, zones) = asked();
    let made = whole(&bench.world, &asked).await;
    assert_eq!(bench.runs.run(&bench.world, made).await, Ended::Done);
    for zone in &zones {
        assert_eq!(bench.soa(zone).await, FOUND, "{zone}");
    }
    let of = Of { site: &bench.world.site, tenant: &asked.tenant, index: asked.index.unwrap() };
    let host = of.host_steps(&of.name("app").unwrap(), "10.20.188.10".parse().unwrap()).unwrap();
    assert_eq!(bench.runs.run(&bench.world, plan(&bench.world, host)).await, Ended::Done);
    // A private address passes the filter of the resolver, and is found by its address.
    assert_eq!(bench.asked("app.rtrip.mobile.deevnet.net", RecordType::A).await, FOUND);
    assert_eq!(bench.asked("10.188.20.10.in-addr.arpa", RecordType::PTR).await, FOUND);
    let again = whole(&bench.world, &asked).await;
    assert!(bench.runs.look(&bench.world, again).await.is_empty(), "a second run has nothing to do");

    let gone = delete::plan(&bench.world, &asked.tenant).await.unwrap();
    assert_eq!(bench.runs.run(&bench.world, gone).await, Ended::Done);
    for zone in &zones {
        assert_ne!(bench.soa(zone).await, FOUND, "{zone}");
    }
    let again = delete::plan(&bench.world, &asked.tenant).await.unwrap();
    assert!(bench.runs.look(&bench.world, again).await.is_empty(), "a second run has nothing to do");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_is_not_done_while_the_server_behind_it_is_away() {
    let Some(bench) = bench("a_reload_is_not_done_while_the_server_behind_it_is_away").await else { return };
    let (asked, zones) = asked();
    let (name, index) = tenant();
    let own = plan(&bench.world, names::onboarding(&bench.world.site, &name, index));
    assert_eq!(bench.runs.run(&bench.world, own).await, Ended::Done);
    bench.server.stop();
    let forwards = || plan(&bench.world, names::forwards(&bench.world.site, &name, index));
    let hasty = connected(&bench.world.site, 2).await;
    let (step, kind, text) = early(bench.runs.run(&hasty, forwards()).await);
    assert_eq!((step, kind), (2, TroubleKind::NotSeen), "{text}");
    assert!(text.contains(&format!("{}: in force, not answered: the resolver ", zones[0])), "{text}");
    bench.server.start("");
    assert_eq!(bench.runs.resume(&bench.world).await, Ended::Done);
    assert_eq!(bench.soa(&zones[0]).await, FOUND);
    let made = whole(&bench.world, &asked).await;
    assert_eq!(bench.runs.run(&bench.world, made).await, Ended::Done);
    bench.end().await;
}
