//! The program itself against a lab that runs as a process of its own, as a script would use it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests, which should stop")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const KINDS: [&str; 8] = ["tenants", "vrfs", "vnets", "workloads", "checkins", "snat", "pending", "sources"];

/// A running `lab`, killed at the end.
struct Lab {
    child: Child,
    dir: tempfile::TempDir,
}

impl Lab {
    fn start(args: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = program(&dir);
        command.args(["lab", "--site-out"]).arg(dir.path().join("site.toml")).args(args);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let ready = lines.map_while(Result::ok).any(|line| line.contains("ctrl-c"));
        assert!(ready, "the lab ended before it served");
        Self { child, dir }
    }

    fn site(&self) -> PathBuf {
        self.dir.path().join("site.toml")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = program(&self.dir);
        command.arg("--site").arg(self.site()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(args, self.command(args).output().unwrap())
    }

    fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(args);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{args:?}: {e}\n{}{}", ran.out, ran.err))
    }

    fn fault(&self, action: &str, fault: &str) {
        let ran = self.run(&["lab", "fault", action, fault]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{fault}: {}", ran.err);
    }

    /// The API token's secret.
    fn secret(&self) -> String {
        let text = std::fs::read_to_string(self.site()).unwrap();
        let file = text.split("token = { file = \"").nth(1).unwrap().split('"').next().unwrap();
        std::fs::read_to_string(file).unwrap().trim().split_once('=').unwrap().1.to_owned()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // It has no more to do; its directory goes with it.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

/// The program with nothing of this environment that would change what it prints.
fn program(home: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deevnet-console"));
    for key in ["LC_ALL", "LC_CTYPE", "NO_COLOR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DEEVNET_LOG"] {
        command.env_remove(key);
    }
    command.env("HOME", home.path()).env("LANG", "C.UTF-8").stdin(Stdio::null());
    command
}

/// What a run left.
struct Ran {
    out: String,
    err: String,
    code: i32,
}

impl Ran {
    fn of(args: &[&str], output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap_or_else(|e| panic!("{args:?}: {e}"));
        let code = output.status.code().unwrap_or_else(|| panic!("{args:?} was ended by a signal"));
        Self { out: text(output.stdout), err: text(output.stderr), code }
    }
}

fn bare(args: &[&str]) -> Ran {
    let home = tempfile::tempdir().unwrap();
    Ran::of(args, program(&home).args(args).output().unwrap())
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object")).keys().map(String::as_str).collect()
}

fn assert_keys(what: &str, value: &Value, wanted: &[&str]) {
    let have = keys(value);
    for key in wanted {
        assert!(have.contains(key), "{what} lack {key:?}: {have:?}");
    }
}

#[test]
fn every_kind_in_every_form_with_the_fields_of_the_contract() {
    let lab = Lab::start(&[]);
    for kind in KINDS {
        let table = lab.run(&["get", kind]);
        assert_eq!(table.code, 0, "{kind}: {}", table.err);
        assert!(!table.out.contains("warning") && !table.out.contains('\u{1b}'), "{kind}: {}", table.out);
        let json = lab.json(&["get", kind, "-o", "json"]);
        assert_eq!(json["schema"], format!("deevnet-console/get-{kind}/v1"));
        assert_eq!(keys(&json), ["schema", "at", "sources", "items"], "{kind}");
        assert!(json["at"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
        let sources = json["sources"].as_array().unwrap();
        assert_eq!(sources.len(), 6);
        sources.iter().for_each(|s| assert_keys("sources", s, &["name", "state", "age_s", "error"]));
        let yaml = lab.run(&["get", kind, "-o", "yaml"]);
        let yaml: Value = serde_yaml_ng::from_str(&yaml.out).unwrap();
        assert_eq!((&yaml["schema"], keys(&yaml)), (&json["schema"], keys(&json)));
        let count = |v: &Value| v["items"].as_array().unwrap().len();
        assert_eq!(count(&yaml), count(&json), "{kind}");
    }
    let tenants = lab.json(&["get", "tenants", "-o", "json"]);
    let fields =
        ["name", "index", "vrf_vni", "vnet_vni", "subnet", "gateway", "forward_zone", "reverse_zone", "presence"];
    assert_keys("tenants", &tenants["items"][1], &fields);
    let layers = ["fabric", "node", "dns", "resolver", "workloads", "bootstrap"];
    assert_eq!(keys(&tenants["items"][1]["presence"]), layers);
    assert_eq!(tenants["items"][1]["name"], "eds");
    layers.iter().for_each(|layer| assert_eq!(tenants["items"][1]["presence"][layer], "present", "{layer}"));
    let workloads = lab.json(&["get", "workloads", "-o", "json"]);
    let fields = ["tenant", "name", "vmid", "mac", "address", "node", "status"];
    assert_keys("workloads", &workloads["items"][0], &fields);
    assert_eq!(workloads["items"].as_array().unwrap().len(), 42);
    assert_eq!(lab.json(&["get", "pending", "-o", "json"])["items"], Value::Array(Vec::new()));
}

#[test]
fn a_filter_keeps_one_tenant_and_a_wrong_name_is_a_usage_error() {
    let lab = Lab::start(&[]);
    for kind in ["tenants", "vrfs", "vnets", "workloads", "snat"] {
        let json = lab.json(&["get", kind, "--tenant", "sensors", "-o", "json"]);
        let items = json["items"].as_array().unwrap();
        let key = if kind == "tenants" { "name" } else { "tenant" };
        assert!(!items.is_empty() && items.iter().all(|i| i[key] == "sensors"), "{kind}: {items:?}");
    }
    let wrong = lab.run(&["get", "tenants", "--tenant", "sensor"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    assert!(
        wrong.err.contains("no tenant is called \"sensor\"") && wrong.err.contains("did you mean sensors?"),
        "{}",
        wrong.err
    );
    let kind = lab.run(&["get", "workload"]);
    assert_eq!(kind.code, 2);
    assert!(kind.err.contains("'workloads'"), "{}", kind.err);
    let screen = lab.run(&["render", "bord"]);
    assert_eq!(screen.code, 2);
    assert!(screen.err.contains("did you mean board?"), "{}", screen.err);
}

#[test]
fn what_is_not_known_is_said_and_ends_with_3() {
    let lab = Lab::start(&[]);
    lab.fault("on", "pve-down");
    let down = lab.json(&["get", "tenants", "-o", "json"]);
    assert_eq!(lab.run(&["get", "tenants"]).code, 3);
    assert_eq!(down["items"], Value::Null, "not read is not an empty list");
    assert!(down["unknown"].as_str().unwrap().contains("https://127.0.0.1:"), "{down}");
    assert_eq!(down["sources"][0]["state"], "failed");
    let table = lab.run(&["get", "tenants"]);
    assert_eq!(table.out, "", "nothing is known, so nothing is printed");
    assert!(table.err.contains("tenants are unknown"), "{}", table.err);
    assert!(table.err.contains("  help: "), "{}", table.err);
    let board = lab.run(&["render", "board", "--tenant", "eds", "--size", "80x24"]);
    assert_eq!(board.code, 0, "nobody knows that there is no eds: {}", board.err);
    assert!(board.out.contains("Tenants › eds") && board.out.contains("no answer"), "{}", board.out);
    lab.fault("off", "pve-down");
    lab.fault("on", "pve-denied");
    let denied = lab.json(&["get", "workloads", "-o", "json"]);
    assert_eq!((&denied["items"], &denied["sources"][0]["state"]), (&Value::Null, &Value::from("denied")));
    let why = denied["unknown"].as_str().unwrap();
    assert!(why.contains("SDN.Audit") && why.contains("/sdn/zones"), "{why}");
    assert_eq!(lab.run(&["get", "workloads"]).code, 3);
    lab.fault("off", "pve-denied");
    lab.fault("on", "exit-denied");
    let vrfs = lab.json(&["get", "vrfs", "--tenant", "eds", "-o", "json"]);
    assert!(vrfs["items"][0]["unknown"]["SNAT"].as_str().unwrap().contains("iptables"), "{vrfs}");
    assert_eq!(lab.run(&["get", "vrfs"]).code, 3);
    assert_eq!(lab.run(&["get", "vnets"]).code, 0, "what Proxmox alone knows is known");
    lab.fault("off", "exit-denied");
    assert_eq!(lab.run(&["get", "tenants"]).code, 0);
}

#[test]
fn a_name_that_the_site_keeps_is_warned_of() {
    let lab = Lab::start(&["--tenants", "1", "--workloads", "1"]);
    let kept = lab.run(&["numbering", "7", "--name", "api"]);
    assert_eq!(kept.code, 0);
    assert!(kept.err.contains("reserved_names"), "{}", kept.err);
    assert_eq!(lab.run(&["numbering", "7", "--name", "radio"]).err, "");
    let waits = lab.run(&["get", "pending"]).err;
    assert!(waits.contains("No SDN edit waits") && !waits.contains("warning"), "{waits}");
}

#[test]
fn faults_are_switched_from_another_process() {
    let lab = Lab::start(&["--tenants", "3", "--workloads", "1", "--fault", "snat-missing@eds"]);
    let list = lab.run(&["lab", "fault", "list"]);
    assert!(
        list.out.lines().any(|l| l.starts_with("snat-missing ") && l.ends_with("on: snat-missing@eds")),
        "{}",
        list.out
    );
    let node = |lab: &Lab| {
        lab.json(&["get", "tenants", "--tenant", "eds", "-o", "json"])["items"][0]["presence"]["node"].clone()
    };
    assert_eq!(node(&lab), "differs");
    lab.fault("off", "snat-missing");
    assert_eq!(node(&lab), "present");
    let wrong = lab.run(&["lab", "fault", "on", "snat-mising"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("did you mean \"snat-missing\"?"), "{}", wrong.err);
}

#[test]
fn a_watch_prints_one_document_a_line() {
    let lab = Lab::start(&["--tenants", "2", "--workloads", "1"]);
    let mut child = lab.command(&["snat", "--watch", "-o", "json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        let line = lines.next().unwrap().unwrap();
        let one: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(one["items"].as_array().unwrap().len(), 2, "{line}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let lab = Lab::start(&[]);
    for args in [
        &["get", "workloads", "-o", "json"][..],
        &["get", "workloads"],
        &["completions", "bash"],
        &["man"],
        &["numbering"],
    ] {
        let mut child = lab.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// A text in the forms in which it could get out.
fn forms(secret: &str) -> Vec<String> {
    use base64::Engine as _;
    let encode = |bytes: &str| base64::engine::general_purpose::STANDARD.encode(bytes).trim_end_matches('=').to_owned();
    let percent: String = secret.bytes().map(|b| format!("%{b:02X}")).collect();
    let dashes = secret.replace('-', "%2D");
    // Base64 depends on where in three bytes the text begins; a byte at each end belongs to its neighbours too.
    let inner = |pad: &str| encode(&format!("{pad}{secret}")).chars().skip(4).take(40).collect();
    vec![secret.to_owned(), percent, dashes, inner(""), inner("x"), inner("xx")]
}

#[test]
fn no_output_holds_the_token() {
    let lab = Lab::start(&[]);
    let forms = forms(&lab.secret());
    let log = lab.dir.path().join("log");
    let logged = log.to_str().unwrap().to_owned();
    let check = |what: &str, text: &str| {
        forms.iter().for_each(|form| assert!(!text.contains(form.as_str()), "{what} holds the token: {text}"));
    };
    for fault in ["", "pve-auth", "pve-denied", "pve-down", "hostile-names"] {
        if !fault.is_empty() {
            lab.fault("on", fault);
        }
        for args in [
            &["get", "sources", "-o", "json"][..],
            &["get", "workloads", "-o", "yaml"],
            &["get", "tenants"],
            &["render", "sources"],
        ] {
            let all: Vec<&str> = ["--log", &logged].into_iter().chain(args.iter().copied()).collect();
            let ran = lab.run(&all);
            check(fault, &ran.out);
            check(fault, &ran.err);
            let clean = |c: char| c != '\n' && c.is_control() || matches!(c, '\u{202e}' | '\u{2066}');
            assert!(!ran.out.contains(clean) && !ran.err.contains(clean), "{fault} {args:?}: {:?}", ran.out);
        }
        if !fault.is_empty() {
            lab.fault("off", fault);
        }
    }
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("source failed"), "it logs nothing: {text}");
    check("the log", &text);
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600, "others can read the log");
    let file = lab.run(&["lab", "fault", "list"]);
    check("the fault list", &file.out);
}

#[test]
fn screens_fit_the_size_that_was_asked_for() {
    let lab = Lab::start(&[]);
    for (size, screen) in
        [("120x40", "board"), ("80x24", "tenants"), ("72x20", "overview"), ("60x12", "board"), ("1x1", "board")]
    {
        let ran = lab.run(&["render", screen, "--size", size, "--at", "2026-07-01T12:00:00Z"]);
        assert_eq!(ran.code, 0, "{size}: {}", ran.err);
        let (w, h) = size.split_once('x').unwrap();
        let (w, h): (usize, usize) = (w.parse().unwrap(), h.parse().unwrap());
        assert_eq!(ran.out.lines().count(), h, "{size}\n{}", ran.out);
        assert!(ran.out.lines().all(|l| deevnet_console::text::width(l) <= w), "{size}\n{}", ran.out);
    }
    let small = lab.run(&["render", "board", "--size", "60x12"]);
    assert!(small.out.contains("72"), "it says how large the terminal must be\n{}", small.out);
    for bad in ["0x10", "80", "axb", "5000x10"] {
        assert_eq!(lab.run(&["render", "board", "--size", bad]).code, 2, "{bad}");
    }
    let ascii = Ran::of(&[], lab.command(&["get", "tenants"]).env("LANG", "C").output().unwrap());
    assert!(ascii.code == 0 && ascii.out.is_ascii() && ascii.out.contains("eds"), "{}", ascii.out);
}

#[test]
fn what_needs_no_site_works_without_one() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = bare(&["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains("workloads"), "{shell}: {}", ran.err);
    }
    let man = bare(&["man"]);
    assert!(man.code == 0 && man.out.contains(".TH deevnet-console 1"), "{}", man.out);
    let help = bare(&["--help"]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    for line in [
        "demo ",
        "lab ",
        "numbering ",
        "get ",
        "snat ",
        "render ",
        "completions ",
        "man ",
        "--site <FILE|NAME>",
        "--ascii",
    ] {
        assert!(help.out.contains(line), "--help lacks {line:?}\n{}", help.out);
    }
    let get = bare(&["get", "--help"]);
    KINDS.iter().for_each(|kind| assert!(get.out.contains(kind), "get --help lacks {kind}"));
    assert_eq!(bare(&["--version"]).code, 0);
    for verb in [&["demo"][..], &["lab"], &["render", "tenants", "--demo"]] {
        let both = bare(&[verb, &["--site", "mobile"]].concat());
        assert!(both.code == 2 && both.err.contains("leave --site out"), "{verb:?}: {}", both.err);
    }
    let unknown = bare(&["gett", "tenants"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    assert!(unknown.err.contains("'get'"), "{}", unknown.err);
}

#[test]
fn a_site_half_described_says_all_that_is_missing_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("half.toml");
    std::fs::write(
        &file,
        "version = 1\n[site]\nname = \"half\"\n[proxmox]\nurl = \"https://10.20.99.22:8006\"\nnod = \"x\"\n",
    )
    .unwrap();
    let ran = bare(&["--site", file.to_str().unwrap(), "get", "tenants"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    for word in ["domain", "octet", "token", "numbering", "nod", "node"] {
        assert!(ran.err.contains(word), "{word} is not named:\n{}", ran.err);
    }
    let none = bare(&["get", "tenants"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""));
    assert!(none.err.contains("help:"), "{}", none.err);
}

#[test]
fn numbering_follows_the_site() {
    let lab = Lab::start(&["--tenants", "1", "--workloads", "0"]);
    let json = lab.json(&["numbering", "2", "--name", "eds", "-o", "json"]);
    let text = json.to_string();
    for value in ["10002", "20020", "10.20.130.0/24", "10.20.130.1", "eds.mobile.deevnet.net"] {
        assert!(text.contains(value), "{value} is missing: {text}");
    }
    let out = lab.run(&["numbering", "64"]);
    assert_eq!((out.code, out.out.as_str()), (2, ""));
}
