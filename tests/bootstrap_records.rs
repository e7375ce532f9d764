//! Check-ins as they are read: pages of a service, lines of a file, and that no secret comes through.

#![cfg(test)]

mod loopback;

use std::time::Duration;

use deevnet_console::backends::bootstrap::{Client, Error, Listing, MAX_FILE, Records, TokenState};
use deevnet_console::backends::http::{Kind, Limits};
use deevnet_console::site::model::Trust;
use loopback::{Canned, SECRET, Seen, Server, variant};
use zeroize::Zeroizing;

const TOKEN: &str = "dbt1.EXAMPLEEXAMPLE03.q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k";
const TOKEN_SECRET: &str = "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k";

fn client(server: &Server) -> Client {
    let limits = Limits { total: Duration::from_secs(5), body: 1 << 20, ..Limits::default() };
    Client::api(&server.origin, &Trust::Plaintext, Zeroizing::new(format!("{SECRET}\n")), limits).unwrap()
}

fn page(items: &str, next: Option<&str>) -> Canned {
    let next = next.map_or("null".to_owned(), |n| format!("\"{n}\""));
    let schema = "deevnet.bootstrap-records/v1";
    Canned::json(&format!(
        "{{\"schema\":\"{schema}\",\"at\":\"2026-11-29T11:03:00Z\",\"items\":[{items}],\"next\":{next},\"more\":1}}"
    ))
}

async fn records(server: &Server) -> Records {
    match client(server).read().await.unwrap() {
        Listing::Records(records) => records,
        Listing::NotOffered => panic!("not offered"),
    }
}

fn asked(seen: &Seen, key: &str) -> Option<String> {
    seen.query.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone())
}

#[tokio::test]
async fn a_record_is_read_whole_and_what_is_not_known_is_ignored() {
    let server = Server::start(|_| {
        page(
            r#"{"tenant":"eds","workload":"jobs","vmid":2081,"declared":{"generation":2,"digest":"d2"},
            "token":{"kid":"EXAMPLEEXAMPLE03","state":"redeemed","issued_at":"2026-11-29T10:20:00Z",
            "expires_at":"2026-11-29T10:50:00Z","redeemed_at":"2026-11-29T10:21:05Z","redeemed_from":"10.20.50.22",
            "smbios_uuid":"E1FF56EA-5E20-4A62-A1A1-F9B4AC8E08BB","generation":2},
            "refusals":[{"at":"2026-11-29T10:24:40Z","reason":"claim-mismatch","from":"10.20.50.22",
            "claim":"b2c4d6e8a0f1b3c5d7e9"}],"reports":[{"at":"2026-11-29T10:22:00Z","phase":"pull","status":"ok",
            "images":{"web":"sha256:ab"}},{"at":"2026-11-29T10:21:10Z","phase":"fetch","status":"ok"}],
            "interval_s":3600,"mood":"good"}"#,
            None,
        )
    })
    .await;
    let all = records(&server).await;
    let [record] = all.items.as_slice() else { panic!("{all:?}") };
    assert_eq!((record.vmid, record.interval.map(|i| i.as_secs())), (Some(2081), Some(3600)));
    let token = record.token.as_ref().unwrap();
    assert_eq!((token.state, token.kid.as_str()), (TokenState::Redeemed, "EXAMPLEEXAMPLE03"));
    assert_eq!(token.smbios_uuid.as_deref(), Some("e1ff56ea-5e20-4a62-a1a1-f9b4ac8e08bb"));
    assert_eq!(record.refusals[0].claim.as_deref(), Some("b2c4d6e8a0f1"), "never the whole hash");
    assert_eq!(record.reports.iter().map(|r| r.phase.as_str()).collect::<Vec<_>>(), ["fetch", "pull"], "oldest first");
    assert_eq!(all.at.map(|at| at.to_string()).as_deref(), Some("2026-11-29T11:03:00Z"), "the service's own clock");
    let seen = server.take_seen();
    let header = |name: &str| seen[0].headers.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str());
    assert_eq!(
        (seen[0].path.as_str(), header("authorization")),
        ("/v1/bootstrap/records", Some(&*format!("Bearer {SECRET}")))
    );
    assert!(!format!("{:?}", client(&server)).contains(SECRET));
}

#[tokio::test]
async fn pages_are_followed_and_bounded() {
    let server = Server::start(|seen| match asked(seen, "after").as_deref() {
        None => page(r#"{"tenant":"a","workload":"x"}"#, Some("one & two")),
        Some("one & two") => page(r#"{"tenant":"a","workload":"y"},{"tenant":"a","workload":"x","vmid":7}"#, Some("3")),
        _ => page("", None),
    })
    .await;
    let all = records(&server).await;
    let names: Vec<_> = all.items.iter().map(|r| (r.workload.as_str(), r.vmid)).collect();
    assert_eq!(names, [("x", Some(7)), ("y", None)], "the later record of a workload counts");
    assert_eq!(server.take_seen().len(), 3);
    let circle = Server::start(|_| page("", Some("again"))).await;
    let error = client(&circle).read().await.unwrap_err();
    assert!(error.to_string().contains("lead in a circle"), "{error}");
    assert_eq!(circle.take_seen().len(), 2);
    let endless = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(move |_| {
        let n = endless.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        page(&format!(r#"{{"tenant":"a","workload":"w{n}"}}"#), Some(&n.to_string()))
    })
    .await;
    let all = records(&server).await;
    assert_eq!((all.cut, all.items.len(), server.take_seen().len()), (true, 100, 100));
}

#[tokio::test]
async fn each_way_of_not_answering_has_its_own_words() {
    type Check = fn(&Error) -> bool;
    let canned = |status: u16, body: &'static str| move |_: &Seen| Canned { status, ..Canned::json(body) };
    let offered = Server::start(canned(404, "{}")).await;
    assert_eq!(client(&offered).read().await, Ok(Listing::NotOffered));
    let cases: [(u16, &str, Check); 7] = [
        (401, "{}", |e| matches!(e, Error::Denied { status: 401, .. })),
        (403, "{}", |e| matches!(e, Error::Denied { status: 403, .. })),
        (503, "{\"error\":\"store is locked\"}", |e| e.to_string().ends_with("HTTP 503: store is locked")),
        (200, "<html>", |e| matches!(e, Error::NotUnderstood { .. })),
        (200, "{\"schema\":\"deevnet.bootstrap-records/v2\",\"items\":[]}", |e| {
            e.to_string()
                .contains("lists deevnet.bootstrap-records/v2; this program reads deevnet.bootstrap-records/v1")
        }),
        (200, "{\"items\":[]}", |e| matches!(e, Error::Schema { .. })),
        (200, "{\"schema\":\"deevnet.bootstrap-records/v1\"}", |e| e.to_string().contains("no `items`")),
    ];
    for (status, body, expected) in cases {
        let server = Server::start(canned(status, body)).await;
        let error = client(&server).read().await.unwrap_err();
        assert!(expected(&error), "{status} {body}: {error}");
        assert!(!error.help().is_empty() && !error.to_string().contains(SECRET), "{error}");
    }
    let huge = Server::start(|_| Canned::json(&" ".repeat(2 << 20))).await;
    let Error::Http(error) = client(&huge).read().await.unwrap_err() else { panic!("not a transport error") };
    assert!(matches!(error.kind, Kind::BodyTooLarge { .. }), "{error}");
    let gone = Server::start(|_| Canned::default()).await;
    let reader = client(&gone);
    drop(gone);
    assert_eq!(variant(&reader.read().await.unwrap_err()), "Http");
    // Later pages: a list that breaks off is no API without check-ins.
    let broken = Server::start(|seen| match asked(seen, "after") {
        None => page("", Some("1")),
        Some(_) => Canned { status: 404, ..Canned::json("{}") },
    })
    .await;
    assert_eq!(variant(&client(&broken).read().await.unwrap_err()), "Status");
    let empty = Client::api("http://127.0.0.1:1", &Trust::Plaintext, Zeroizing::new(" \n".into()), Limits::default());
    assert!(matches!(empty, Err(Error::BadCredential)));
}

#[tokio::test]
async fn records_that_make_no_sense_are_named_and_cost_no_other() {
    let server = Server::start(|_| {
        page(
            r#"{"tenant":"a","workload":"x"},{"tenant":"a"},17,
            {"tenant":"a","workload":"y","token":{"kid":"K","state":"lost","issued_at":"2026-11-29T10:20:00Z"}},
            {"tenant":"a","workload":"z","reports":[{"at":"yesterday","phase":"pull","status":"ok"}]}"#,
            None,
        )
    })
    .await;
    let all = records(&server).await;
    assert_eq!(all.items.len(), 1);
    let told: Vec<_> = all.broken.iter().map(|b| (b.number, b.why.as_str())).collect();
    assert_eq!(told.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [2, 3, 4, 5]);
    assert_eq!(told[0].1, "missing field `workload`");
    assert_eq!(
        (told[2].1, told[3].1),
        ("a/y: token.state is \"lost\"", "a/z: `report.at` is no timestamp: \"yesterday\"")
    );
}

#[tokio::test]
async fn lines_of_a_file_are_read_and_broken_ones_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.jsonl");
    let read = async || Client::file(&path).read().await;
    let missing = read().await.unwrap_err();
    assert!(matches!(&missing, Error::File { denied: false, .. }) && missing.to_string().contains("records.jsonl"));
    std::fs::write(
        &path,
        "# invented\n{\"schema\":\"deevnet.bootstrap-records/v1\",\"at\":\"2026-11-29T11:00:00Z\"}\n\
         {\"tenant\":\"a\",\"workload\":\"x\",\"vmid\":1}\n\nnot json\n{\"tenant\":\"a\",\"workload\":\"y\"}\r\n\
         {\"tenant\":\"a\",\"workload\":\"x\",\"vmid\":2}",
    )
    .unwrap();
    let Listing::Records(all) = read().await.unwrap() else { panic!("not offered") };
    assert_eq!(
        all.items.iter().map(|r| (r.workload.as_str(), r.vmid)).collect::<Vec<_>>(),
        [("x", Some(2)), ("y", None)]
    );
    assert_eq!(all.broken.iter().map(|b| b.number).collect::<Vec<_>>(), [5], "lines are counted as an editor does");
    assert_eq!(all.at.map(|at| at.to_string()).as_deref(), Some("2026-11-29T11:00:00Z"));
    std::fs::write(&path, "{\"schema\":\"deevnet.bootstrap-records/v9\"}\n").unwrap();
    assert!(matches!(read().await, Err(Error::Schema { .. })));
    std::fs::write(&path, "x\n".repeat(1000)).unwrap();
    let Listing::Records(all) = read().await.unwrap() else { panic!("not offered") };
    assert_eq!((all.broken.len(), all.broken_more), (20, 980));
    std::fs::write(&path, vec![b'\n'; usize::try_from(MAX_FILE).unwrap() + 1]).unwrap();
    assert!(matches!(read().await, Err(Error::FileTooLarge { .. })));
    assert!(matches!(Client::file(dir.path()).read().await, Err(Error::File { .. })), "a directory");
}

/// Whatever a record says in whatever field: no token comes through, plain or encoded.
#[tokio::test]
async fn no_token_comes_through_anywhere() {
    use base64::Engine as _;
    let coded = base64::engine::general_purpose::STANDARD.encode(format!("serial={TOKEN}"));
    let percent = TOKEN.replace('.', "%2E");
    let text = format!("{TOKEN} {coded} {percent} dvt1.eds.NONCENONCE.{TOKEN_SECRET}");
    let record = format!(
        r#"{{"tenant":"eds","workload":"{TOKEN}","secret":"{TOKEN_SECRET}","declared":{{"generation":1,"digest":"{TOKEN}"}},
        "token":{{"kid":"{TOKEN}","secret":"{TOKEN_SECRET}","state":"issued","issued_at":"2026-11-29T10:20:00Z",
        "redeemed_from":"{text}","smbios_uuid":"{TOKEN}"}},
        "refusals":[{{"at":"2026-11-29T10:24:40Z","reason":"{text}","from":"{TOKEN}","claim":"{TOKEN}"}}],
        "reports":[{{"at":"2026-11-29T10:24:40Z","phase":"{TOKEN}","status":"error","code":"{text}","detail":"{text}",
        "digest":"{TOKEN}","smbios_uuid":"{TOKEN}","boot_id":"{TOKEN}","images":{{"{TOKEN}":"{text}"}},"from":"{text}"}}]}}"#
    );
    let broken =
        format!(r#"{{"tenant":"a","workload":"b","token":{{"kid":"K","state":"{TOKEN}","issued_at":"{text}"}}}}"#);
    let server = Server::start(move |_| page(&format!("{record},{broken},\"{TOKEN}\""), None)).await;
    let all = records(&server).await;
    assert_eq!((all.items.len(), all.broken.len()), (1, 2));
    let shown = format!("{all:?}");
    for canary in [TOKEN_SECRET, &TOKEN_SECRET.to_lowercase(), &coded, "NONCENONCE"] {
        assert!(!shown.contains(canary), "{canary} in {shown}");
    }
    assert!(shown.contains("EXAMPLEEXAMPLE03"), "the key id stays: {shown}");
    let refused =
        Server::start(move |_| Canned { status: 500, ..Canned::json(&format!("{{\"error\":\"{TOKEN}\"}}")) }).await;
    let error = client(&refused).read().await.unwrap_err().to_string();
    assert!(!error.contains(TOKEN_SECRET) && error.contains("EXAMPLEEXAMPLE03"), "{error}");
}
