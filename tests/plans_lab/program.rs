//! The program itself: what it says of plans that are saved, and how it ends.

use std::path::Path;
use std::process::{Command, Output};

use super::LONG;
use super::operators::bench;

pub fn run(dir: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
    command.current_dir(dir).args(["--site", "site.toml"]).args(words);
    command.env("XDG_STATE_HOME", dir.join("state")).env("XDG_CONFIG_HOME", dir.join("config"));
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_saved_and_applied_and_a_journal_that_cannot_be_read_is_unknown() {
    let bench = bench(LONG).await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("site.toml"), bench.lab.site_toml()).unwrap();
    let at = dir.path().to_owned();
    let told = tokio::task::spawn_blocking(move || {
        let (code, shown, said) = run(&at, &["plan", "tenant", "create", "shop", "-o", "shop.json"]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("is saved in shop.json") && said.contains("apply shop.json --write --yes"), "{said}");
        assert!(shown.contains("noticed  SDN apply"), "whom it reaches: {shown}");
        let (code, _, said) = run(&at, &["apply", "shop.json"]);
        assert!(code == 0 && said.contains("is the same now"), "{code} {said}");

        let file = at.join("shop.json");
        let mut saved: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        saved["preview"]["at"] = "2026-01-01T00:00:00Z".into();
        std::fs::write(&file, saved.to_string()).unwrap();
        let (code, _, said) = run(&at, &["apply", "shop.json"]);
        assert!(code == 4 && said.contains("--old"), "{code} {said}");
        let (code, _, said) = run(&at, &["apply", "shop.json", "--old"]);
        assert!(code == 0 && said.contains("is the same now"), "{code} {said}");
        saved["preview"]["plan"]["subject"]["name"] = "x".into();
        std::fs::write(&file, saved.to_string()).unwrap();
        let (code, _, said) = run(&at, &["apply", "shop.json", "--old", "--write", "--yes", "--confirm", "x"]);
        assert!(code == 4 && said.contains("the subject was x and is shop"), "{code} {said}");

        let (code, shown, _) = run(&at, &["plan", "tenant", "create", "shop", "-o", "json"]);
        let document: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert!(code == 0 && document["title"] == "Onboard shop" && !at.join("json").exists());
        let (code, shown, _) = run(&at, &["tsig", "list", "-o", "json"]);
        assert!(code == 0 && shown.contains("tsig-list"), "{shown}");

        assert_eq!(run(&at, &["journal"]).0, 0);
        let site: String = bench_site(&at);
        let journal = at.join("state/deevnet-console").join(site).join("journal");
        std::fs::create_dir_all(&journal).unwrap();
        std::fs::write(journal.join("C-0001.jsonl"), "{}\n").unwrap();
        let (code, _, said) = run(&at, &["journal"]);
        assert!(code == 3 && said.contains("C-0001"), "{code} {said}");
    });
    told.await.unwrap();
    bench.end().await;
}

pub fn bench_site(dir: &Path) -> String {
    let text = std::fs::read_to_string(dir.join("site.toml")).unwrap();
    let name = text.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
    name.trim_matches('"').to_owned()
}
