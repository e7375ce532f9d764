//! A real PowerDNS behind the lab's Proxmox: killed, slow to come, with a wrong key, back again; by a tunnel too.

#[path = "../powerdns_common/mod.rs"]
mod powerdns_common;

use std::fmt::Write as _;
use std::sync::Arc;

use deevnet_console::backends::exit_node::transport::SshOptions;
use deevnet_console::inventory::feed::{Clients, DnsClient};
use deevnet_console::inventory::{Class, Demand, GapKind, Inventory, Presence, SourceId, SourceStatus};
use deevnet_console::site::Site;
use deevnet_console::site::secret::Secret;
use powerdns_common::{KEY, Pdns};

use super::common::{Bench, clock, lab_of, status, told};
use super::{d, fresh, named, row};

/// The lab's site with this PowerDNS in place of its own.
fn site(text: &str, server: &Pdns, mode: &str, more: &str) -> Arc<Site> {
    let key = server.directory().join("key");
    std::fs::write(&key, KEY).expect("a file");
    restrict(&key);
    let (head, _) = text.split_once("[powerdns]").expect("a section");
    let mut text = head.to_owned();
    let dns = server.site().dns;
    write!(
        text,
        "[powerdns]\nmode = \"{mode}\"\nurl = \"{}\"\napi_key = {{ file = \"{}\" }}\ndns = \"{dns}\"\ntunnel = \
         \"tunnel\"\nnameserver = \"ns1.tdemo.mobile.deevnet.net\"\n{more}",
        server.origin(),
        key.display()
    )
    .expect("text");
    Arc::new(Site::parse(&text, &server.directory().join("site.toml")).unwrap_or_else(|e| panic!("{e}")))
}

fn restrict(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("permissions");
}

/// tdemo's zones as the platform writes them, with the names of its workloads.
fn seed(server: &Pdns, inv: &Inventory) {
    server.seed("tdemo", "tdemo.mobile.deevnet.net", "129.20.10.in-addr.arpa");
    let tdemo = inv.tenant("tdemo").expect("tdemo");
    let ns = "ns1.tdemo.mobile.deevnet.net.";
    for zone in ["tdemo.mobile.deevnet.net.", "129.20.10.in-addr.arpa."] {
        let soa = format!("{ns} hostmaster.{zone} 7 10800 3600 604800 60");
        server.patch(zone, set(zone, "SOA", &soa).as_bytes());
    }
    for w in inv.workloads_of(tdemo) {
        let address = w.derived_address.expect("an address");
        let [a, b, c, e] = address.octets();
        let fqdn = format!("{}.tdemo.mobile.deevnet.net.", w.name);
        server.patch("tdemo.mobile.deevnet.net.", set(&fqdn, "A", &address.to_string()).as_bytes());
        let pointer = format!("{e}.{c}.{b}.{a}.in-addr.arpa.");
        server.patch("129.20.10.in-addr.arpa.", set(&pointer, "PTR", &fqdn).as_bytes());
    }
}

fn set(name: &str, kind: &str, content: &str) -> String {
    format!(
        r#"{{"name":"{name}","type":"{kind}","ttl":300,"changetype":"REPLACE","records":[{{"content":"{content}","disabled":false}}]}}"#
    )
}

async fn picture(lab: &deevnet_console::lab::Lab) -> Arc<Inventory> {
    let site = Arc::new(Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).expect("a site"));
    let clients = Clients::connect(&site).await;
    let mut feed = deevnet_console::inventory::feed::Feed::start(&site, clients, &clock());
    let read = feed.inventory.wait_for(|inv| !inv.workloads.is_empty()).await.expect("a feed");
    Arc::clone(&read)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_is_read_killed_and_read_again() {
    let Some(server) = Pdns::up("a_real_server_is_read_killed_and_read_again") else { return };
    let lab = lab_of(None, None, clock(), true).await;
    seed(&server, &*picture(&lab).await);
    let site = site(&lab.site_toml(), &server, "api", "");
    let clients = Clients::connect(&site).await;
    let mut bench = Bench::with(lab, site, clients, &clock());
    let inv = fresh(&mut bench).await;
    assert_eq!(d(&inv, "tdemo").0, Presence::Present, "{}", told(&inv));
    assert_eq!((d(&inv, "eds").0, d(&inv, "eds").1.as_str()), (Presence::Absent, "zones missing"), "{}", told(&inv));
    server.stop();
    bench.feed.refresh(Some(SourceId::Dns));
    let inv = bench.until("its end", |inv| inv.sources.get(SourceId::Dns).error.is_some()).await;
    let error = inv.sources.get(SourceId::Dns).error.clone().expect("an error");
    assert_eq!((error.kind, status(&inv, SourceId::Dns)), (GapKind::NoAnswer, SourceStatus::Stale));
    assert!(error.text.contains("refused"), "{}", error.text);
    let app = row(&inv, "app.tdemo.mobile.deevnet.net", "A");
    assert_eq!((app.values.len(), app.class), (1, Class::Unknown), "the row stays, nothing is concluded");
    server.start("api-key=another-one");
    bench.feed.refresh(Some(SourceId::Dns));
    let denied =
        |inv: &Inventory| inv.sources.get(SourceId::Dns).error.as_ref().is_some_and(|e| e.kind == GapKind::Denied);
    bench.until("the wrong key", denied).await;
    server.stop();
    server.start("");
    bench.feed.refresh(Some(SourceId::Dns));
    bench
        .until("its return", |inv| {
            status(inv, SourceId::Dns) == SourceStatus::Fresh && d(inv, "tdemo").0 == Presence::Present
        })
        .await;
    server.patch("tdemo.mobile.deevnet.net.", set("app.tdemo.mobile.deevnet.net.", "A", "10.20.129.99").as_bytes());
    bench.feed.refresh(Some(SourceId::Dns));
    let inv =
        bench.until("the change", |inv| &*row(inv, "app.tdemo.mobile.deevnet.net", "A").word == "wrong address").await;
    assert_eq!(d(&inv, "tdemo").1, "1 record wrong");
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tunnel_is_opened_by_the_worker_and_again_when_it_broke() {
    let Some(mut server) = Pdns::up("a_tunnel_is_opened_by_the_worker_and_again_when_it_broke") else { return };
    let lab = lab_of(None, None, clock(), true).await;
    seed(&server, &*picture(&lab).await);
    let config = server.ssh_up(true);
    let site = site(&lab.site_toml(), &server, "tunnel", "");
    let known = config.with_file_name("known_hosts");
    let hosts = std::fs::read_to_string(&known).expect("known hosts");
    std::fs::write(&known, "").expect("a file");
    let mut clients = Clients::connect(&site).await;
    let ssh = SshOptions { config: Some(config), control_directory: Some(server.directory().to_path_buf()) };
    clients.powerdns = Some(Ok(DnsClient::Tunnel { key: Secret::new(KEY.to_owned()), ssh }));
    let mut bench = Bench::with(lab, site, clients, &clock());
    let inv = bench.until("no tunnel", |inv| inv.sources.get(SourceId::Dns).error.is_some()).await;
    let error = inv.sources.get(SourceId::Dns).error.clone().expect("an error");
    assert!(error.text.contains("no tunnel") && error.kind == GapKind::Denied, "{:?} {}", error.kind, error.text);
    bench.until("Proxmox meanwhile", |inv| !inv.workloads.is_empty()).await;
    std::fs::write(&known, hosts).expect("a file");
    bench.feed.refresh(Some(SourceId::Dns));
    let inv = bench.until("the tunnel", |inv| d(inv, "tdemo").0 == Presence::Present && named(inv)).await;
    assert_eq!(status(&inv, SourceId::Dns), SourceStatus::Fresh, "{}", told(&inv));
    server.cut();
    let before = clock()();
    bench.feed.refresh(Some(SourceId::Dns));
    let again = |inv: &Inventory| inv.sources.get(SourceId::Dns).observed_at.is_some_and(|at| at >= before);
    let inv = bench.until("the tunnel again", again).await;
    assert!(inv.sources.get(SourceId::Dns).error.is_none(), "{}", told(&inv));
    bench.stop().await;
}

/// What takes answers away at a perimeter is said as it answers, beside a record that is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_resolver_is_compared_as_it_answers() {
    let Some(server) = Pdns::with_resolver("a_real_resolver_is_compared_as_it_answers") else { return };
    let lab = lab_of(None, None, clock(), true).await;
    seed(&server, &*picture(&lab).await);
    let resolver = format!("[resolvers]\nperimeter = \"10.20.50.1\"\nask = \"{}\"\n", server.resolver());
    let site = site(&lab.site_toml(), &server, "api", &resolver);
    let clients = Clients::connect(&site).await;
    let mut bench = Bench::with(lab, site, clients, &clock());
    bench.feed.demand(Demand { tenants: vec!["tdemo".into()], ..Demand::default() });
    let (app, pointer) = ("app.tdemo.mobile.deevnet.net", "10.129.20.10.in-addr.arpa");
    let words = |inv: &Inventory| {
        let word = |name: &str, kind: &str| {
            let found = inv.records.iter().find(|r| *r.name == *name && *r.kind == *kind);
            found.map_or_else(String::new, |r| r.word.to_string())
        };
        (word(app, "A"), word(pointer, "PTR"))
    };
    for (flags, expected) in [
        (&[][..], ("same", "same")),
        (&["no-private-domain"], ("FW empty", "same")),
        (&["no-nodefault"], ("same", "FW NXDOMAIN")),
    ] {
        server.reload_resolver(flags);
        bench.feed.refresh(Some(SourceId::Dns));
        let inv = bench.until(&format!("{flags:?}"), |inv| words(inv) == (expected.0.into(), expected.1.into())).await;
        assert_eq!(d(&inv, "tdemo").0, Presence::Present, "the zones are right\n{}", told(&inv));
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_without_its_api_is_asked_by_queries() {
    let Some(server) = Pdns::up("a_real_server_without_its_api_is_asked_by_queries") else { return };
    let lab = lab_of(None, None, clock(), true).await;
    seed(&server, &*picture(&lab).await);
    let site = site(&lab.site_toml(), &server, "dns-only", "");
    let clients = Clients::connect(&site).await;
    let mut bench = Bench::with(lab, site, clients, &clock());
    let inv = bench
        .until("the names", |inv| inv.tenant("tdemo").is_some_and(|t| t.layers.dns.presence == Presence::Present))
        .await;
    assert_eq!(d(&inv, "tdemo").1, "present, by queries", "{}", told(&inv));
    assert_eq!(d(&inv, "eds"), (Presence::Absent, "zones missing".into()), "refused is not here\n{}", told(&inv));
    server.stop();
    bench.feed.refresh(Some(SourceId::Dns));
    // A question that was on its way when it ended gets no answer; the next one is refused.
    let refused = |inv: &Inventory| {
        let error = inv.sources.get(SourceId::Dns).error.as_ref();
        error.is_some_and(|e| e.kind == GapKind::NoAnswer && e.text.contains("refuses"))
    };
    bench.until("its end", refused).await;
    bench.stop().await;
}
