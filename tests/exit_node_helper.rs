//! The real helper script on this machine, through the `command` transport: as the current user, without rights, with
//! tools missing or hanging, with arguments that try to break out.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test that cannot go on must fail, says what it skips, and measures time"
)]

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use deevnet_console::backends::exit_node::error::Error;
use deevnet_console::backends::exit_node::helper::{self, LookupRequest};
use deevnet_console::backends::exit_node::model::{Lookup, Reading, UnreadKind};
use deevnet_console::backends::exit_node::{Client, transport};
use deevnet_console::site::model::{ExitNodeSite, Transport};

const DEADLINE: Duration = Duration::from_secs(60);

fn client(prefix: &[&str]) -> Client {
    Client::new(&ExitNodeSite {
        name: "here".to_owned(),
        transport: Transport::Command(prefix.iter().map(|word| (*word).to_owned()).collect()),
        transit_interface: "lo".to_owned(),
        transit_address: Ipv4Addr::LOCALHOST,
        transit_gateway: Ipv4Addr::LOCALHOST,
        egress_apply: None,
        egress_install: false,
    })
}

async fn read(prefix: &[&str]) -> Result<Reading, Error> {
    client(prefix).read(DEADLINE, &[]).await
}

/// A prefix that answers with `printf TEXT`, whatever it is asked.
async fn answer(text: &str, code: u8) -> Error {
    let command = format!("cat >/dev/null; printf '{text}'; exit {code}");
    read(&["sh", "-c", &command]).await.unwrap_err()
}

/// Runs the script as `sh HELPER ARGS…`, as if it were installed.
fn script(args: &[&str], stdin: &str) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let (path, input) = (dir.path().join("helper"), dir.path().join("stdin"));
    fs::write(&path, helper::SCRIPT).unwrap();
    fs::write(&input, stdin).unwrap();
    Command::new("sh").arg(path).args(args).stdin(fs::File::open(input).unwrap()).output().unwrap()
}

/// Whether this test may make namespaces and change users; says so when it may not.
fn may(test: &str, argv: &[&str]) -> bool {
    let tried = Command::new(argv[0]).args(&argv[1..]).arg("true").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let may = tried.is_ok_and(|status| status.success());
    if !may {
        eprintln!("SKIPPED {test}: `{} true` is not permitted here", argv.join(" "));
    }
    may
}

fn has_ip(test: &str) -> bool {
    let has = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"].iter().any(|path| Path::new(path).exists());
    if !has {
        eprintln!("SKIPPED {test}: iproute2 is not installed");
    }
    has
}

/// A directory of programs that stand before the system's.
fn fakes(programs: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, body) in programs {
        let path = dir.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn path_with(dir: &tempfile::TempDir) -> String {
    format!("PATH={}:/usr/bin:/bin", dir.path().display())
}

#[tokio::test]
async fn this_machine_is_read_as_the_current_user() {
    if !has_ip("this_machine_is_read_as_the_current_user") {
        return;
    }
    let ask = |name: &str, iif| LookupRequest::new(name, Ipv4Addr::LOCALHOST, None, iif).unwrap();
    let asked = [ask("loopback", None), ask("nowhere", Some("no.such.device"))];
    let reading = client(&["env"]).read(DEADLINE, &asked).await.unwrap();
    let links = reading.links.value().unwrap();
    let lo = links.iter().find(|link| link.name == "lo").unwrap();
    assert!(lo.flags.contains(&"LOOPBACK".to_owned()) && lo.stats.is_some());
    let addresses = reading.addresses.value().unwrap();
    assert!(addresses.iter().any(|a| a.dev == "lo" && a.ip == Ipv4Addr::LOCALHOST));
    assert!(reading.forwarding.value().unwrap().contains_key("all"));
    assert_eq!(
        reading.kernel.value().map(String::as_str),
        Some(fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim())
    );
    assert!(reading.counters.value().unwrap()["IpInReceives"] > 0);
    let answers = &reading.lookups.value().unwrap().by_name;
    assert!(matches!(&answers["loopback"], Lookup::Route { dev, .. } if dev == "lo"), "{answers:?}");
    assert!(matches!(&answers["nowhere"], Lookup::Error(words) if !words.is_empty()), "{answers:?}");
    assert!(reading.unread().iter().all(|u| !u.what.is_empty() && !u.why.is_empty()), "{:?}", reading.unread());
}

#[tokio::test]
async fn nothing_is_left_behind() {
    // Other tests of this file run beside it: look for a directory of this run alone.
    let hidden = ["unshare", "-m", "sh", "-c", "mount -t tmpfs t /tmp && \"$@\"; ls -A /tmp >&2", "sh"];
    if may("nothing_is_left_behind", &["unshare", "-m"]) {
        let runner = transport::Runner::Command(transport::CommandTransport::new(hidden.map(str::to_owned).to_vec()));
        let output = runner.run(&helper::COMMAND, &helper::stream(&[]), DEADLINE).await.unwrap();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    }
}

#[tokio::test]
async fn the_command_decides_which_network_is_read() {
    let prefix = ["unshare", "-n"];
    let test = "the_command_decides_which_network_is_read";
    if !has_ip(test) || !may(test, &prefix) {
        return;
    }
    let reading = read(&prefix).await.unwrap();
    let names: Vec<&str> = reading.links.value().unwrap().iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["lo"]);
    assert_eq!(reading.main_routes.value().map(Vec::len), Some(0));
    assert!(reading.vrf_routes.is_empty());
}

#[tokio::test]
async fn a_user_without_rights_reads_what_needs_none() {
    let prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/"];
    let test = "a_user_without_rights_reads_what_needs_none";
    if !has_ip(test) || !may(test, &prefix) {
        return;
    }
    // Programs that only root may use, and a configuration that only root may read, as on a node.
    let tools = fakes(&[
        ("iptables-nft-save", "exit 0"),
        ("vtysh", "exit 0"),
        ("sudo", "echo 'sudo: a password is required' >&2; exit 1"),
    ]);
    let path = path_with(&tools);
    let reading = read(&[&prefix[..], &[&path]].concat()).await.unwrap();
    assert!(!reading.privileged);
    assert!(reading.links.value().is_some() && reading.rules.value().is_some() && reading.counters.value().is_some());
    let nat = reading.nat.unread().unwrap();
    assert_eq!((nat.kind, nat.what.as_str()), (UnreadKind::Denied, "iptables-save -c"));
    assert_eq!(nat.why, "needs root on the node (sudo: a password is required)");
}

#[tokio::test]
async fn an_older_helper_that_refuses_is_told_by_its_version() {
    let test = "an_older_helper_that_refuses_is_told_by_its_version";
    // What is installed is looked for under one fixed name: it is put there in a namespace of its own.
    let put =
        "mount -t tmpfs t /usr/local/sbin && install -m 755 /bin/true /usr/local/sbin/deevnet-exit-node && exec \"$@\"";
    let user = ["unshare", "-m", "sh", "-c", put, "sh", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let prefix = [&user[..], &["env", "HOME=/"]].concat();
    if !has_ip(test) || !may(test, &prefix) {
        return;
    }
    let refuses = "echo 'deevnet-exit-node: refused: a lookup needs four fields' >&2; exit 2";
    let tools = fakes(&[("iptables-nft-save", "exit 0"), ("sudo", refuses)]);
    let reading = read(&[&prefix[..], &[&path_with(&tools)]].concat()).await.unwrap();
    let why = &reading.nat.unread().unwrap().why;
    assert!(why.contains("is another version than 3: install the current one"), "{why}");
}

#[tokio::test]
async fn a_missing_tool_is_named_and_costs_its_part_alone() {
    let hide = "for p in /usr/sbin/ip /sbin/ip /usr/bin/ip /bin/ip; do [ ! -e $p ] || mount --bind /dev/null $p || exit 99; done; exec \"$@\"";
    let prefix = ["unshare", "-m", "sh", "-c", hide, "sh"];
    if !may("a_missing_tool_is_named_and_costs_its_part_alone", &prefix) {
        return;
    }
    let reading = read(&prefix).await.unwrap();
    let links = reading.links.unread().unwrap();
    assert_eq!((links.kind, links.why.as_str()), (UnreadKind::Missing, "ip: not found"));
    assert!(reading.vrf_routes.is_empty() && reading.lookups.unread().is_some());
    assert!(reading.kernel.value().is_some());
}

#[tokio::test]
async fn a_tool_that_hangs_is_ended_and_told() {
    let tools = fakes(&[("systemctl", "sleep 600"), ("vtysh", "trap '' TERM; sleep 600 & wait; sleep 600")]);
    let started = Instant::now();
    let reading = read(&["env", &path_with(&tools)]).await.unwrap();
    let frr = reading.frr.unread().unwrap();
    assert_eq!((frr.kind, frr.what.as_str()), (UnreadKind::TimedOut, "systemctl is-active frr"));
    assert!(reading.kernel.value().is_some());
    assert!(started.elapsed() < DEADLINE, "side by side, each within its own limit");
}

#[tokio::test]
async fn broken_output_of_a_tool_is_unparsable_not_empty() {
    let tools =
        fakes(&[("ip", "echo '[{\"ifname\":'"), ("iptables-nft-save", "printf '*nat\\n:POSTROUTING ACCEPT [0:0]\\n'")]);
    let reading = read(&["env", &path_with(&tools)]).await.unwrap();
    let parts =
        [reading.links.unread(), reading.main_routes.unread(), reading.neighbours.unread(), reading.lookups.unread()];
    for unread in parts {
        assert_eq!(unread.map(|u| u.kind), Some(UnreadKind::Unparsable));
    }
}

#[test]
fn arguments_that_try_to_break_out_are_refused() {
    let canary = tempfile::tempdir().unwrap();
    let touch = canary.path().join("ran").display().to_string();
    let long = "x".repeat(10_000);
    let hostile = [
        format!("a;touch {touch}/1.2.3.4/-/-"),
        format!("$(touch {touch})/1.2.3.4/-/-"),
        format!("`touch {touch}`/1.2.3.4/-/-"),
        format!("a/1.2.3.4;touch {touch}/-/-"),
        "a/1.2.3.4/-/eth0 table main".to_owned(),
        "a/1.2.3.4/-/-x".to_owned(),
        "-a/1.2.3.4/-/-".to_owned(),
        "a/1.2.3.4\nflush/-/-".to_owned(),
        "a/1.2.3.4/-/e\nroute flush".to_owned(),
        "a/256.1.1.1/-/-".to_owned(),
        "a/1.2.3/-/-".to_owned(),
        "a/1.2.3.4.5/-/-".to_owned(),
        "a/1.2.3.4x/-/-".to_owned(),
        "a/1..3.4/-/-".to_owned(),
        "a/0000001.2.3.4/-/-".to_owned(),
        "a/1.2.3.4/5.6.7/-".to_owned(),
        "a/1.2.3.4/-/..".to_owned(),
        "a/1.2.3.4/-/a123456789012345".to_owned(),
        "a/1.2.3.4/-".to_owned(),
        "a/1.2.3.4/-/-/-".to_owned(),
        String::new(),
        "--help".to_owned(),
        format!("{long}/1.2.3.4/-/-"),
        format!("a/1.2.3.4/-/{long}"),
        "é/1.2.3.4/-/-".to_owned(),
        "*/1.2.3.4/-/-".to_owned(),
        "a/1.2.3.4/-/e?h0".to_owned(),
    ];
    for argument in &hostile {
        for (args, stdin) in
            [(vec!["read", argument.as_str()], String::new()), (vec!["read", "-"], format!("{argument}\n"))]
        {
            let output = script(&args, &stdin);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{argument:.80}: {said}");
            assert!(said.starts_with("deevnet-exit-node: refused: ") && said.lines().count() == 1, "{said}");
            assert!(output.stdout.is_empty());
        }
    }
    assert!(!Path::new(&touch).exists());
}

#[test]
fn subcommands() {
    let version = script(&["version"], "");
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("{}\n", helper::VERSION));
    for refused in [&["probe", "ping"][..], &["write"], &[], &["read; id"]] {
        let output = script(refused, "");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{refused:?}");
    }
}

#[tokio::test]
async fn a_greeting_before_the_frame_is_skipped() {
    let noisy =
        "printf 'Last login: today\\r\\n\\033[1mWelcome\\n\\nno newline at the end'; echo careful >&2; exec \"$@\"";
    let reading = read(&["sh", "-c", noisy, "sh"]).await.unwrap();
    assert!(reading.kernel.value().is_some());
}

#[tokio::test]
async fn a_cut_answer_is_truncated_and_a_cut_script_runs_nothing() {
    let error = read(&["sh", "-c", "\"$@\" | head -c 2000", "sh"]).await.unwrap_err();
    assert!(matches!(error, Error::Truncated { have, want, .. } if have <= 2000 && want > have), "{error:?}");
    let whole = helper::stream(&[]);
    let cut = &whole[..whole.len() * 9 / 10];
    let runner = transport::Runner::Command(transport::CommandTransport::new(vec!["env".to_owned()]));
    let output = runner.run(&helper::COMMAND, cut, DEADLINE).await.unwrap();
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[tokio::test]
async fn other_ends_are_told_apart() {
    let version = answer("%%deevnet-exit-node 1 9\\nsomething new\\n", 0).await;
    assert_eq!(version, Error::HelperVersion { destination: "sh".to_owned(), found: 9, wanted: helper::VERSION });
    assert!(
        matches!(answer("this account is disabled\\n", 1).await, Error::NoFrame { said, .. } if said == "this account is disabled")
    );
    assert!(matches!(answer("", 0).await, Error::NoFrame { code, .. } if code == "0"));
    assert!(matches!(answer("", 127).await, Error::NoShell { .. }));
    let damaged = format!("%%deevnet-exit-node 1 {}\\nmeta zero\\n\\n", helper::VERSION);
    assert!(matches!(answer(&damaged, 0).await, Error::Damaged { .. }));
    let missing = read(&["/nonexistent/program"]).await.unwrap_err();
    assert!(matches!(missing, Error::CommandMissing { .. }), "{missing:?}");
    let empty = read(&[]).await.unwrap_err();
    assert!(matches!(empty, Error::CommandMissing { .. }), "{empty:?}");
    let endless = read(&["sh", "-c", "cat /dev/zero"]).await.unwrap_err();
    assert!(matches!(endless, Error::TooLarge { limit: transport::MAX_STDOUT, .. }), "{endless:?}");
    for error in [version, missing, empty, endless] {
        assert!(!error.help().is_empty() && !error.to_string().contains('\n'));
    }
}

#[tokio::test]
async fn the_deadline_ends_the_whole_process_group() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let hang = format!("sleep 600 & echo $! >{0}; echo $$ >>{0}; wait", pids.display());
    let error = client(&["sh", "-c", &hang]).read(Duration::from_secs(2), &[]).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { seconds: 2, .. }), "{error:?}");
    let pids = fs::read_to_string(pids).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        let gone = (0..500).any(|_| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // Killed is enough: who reaps an orphan is not ours to say.
            let dead =
                stat.is_empty() || stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
            if !dead {
                std::thread::yield_now();
            }
            dead
        });
        assert!(gone, "{pid} still runs");
    }
}

/// Waits, without a clock of its own, until `done` holds.
fn soon(done: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !done() && begun.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    done()
}

/// A fake `ip` that notes its arguments, of which the last is a file in the helper's directory, and hangs.
fn hanging(noted: &Path) -> tempfile::TempDir {
    fakes(&[("ip", &format!("echo \"$@\" >'{0}.new'; mv '{0}.new' '{0}'; exec sleep 600", noted.display()))])
}

fn directory_in(noted: &Path) -> std::path::PathBuf {
    let text = fs::read_to_string(noted).unwrap();
    Path::new(text.split_whitespace().last().unwrap()).parent().unwrap().to_owned()
}

#[tokio::test]
async fn a_run_that_is_given_up_removes_its_directory() {
    let home = tempfile::tempdir().unwrap();
    for (case, given_up) in [("deadline", false), ("dropped", true)] {
        let noted = home.path().join(case);
        let tools = hanging(&noted);
        let path = path_with(&tools);
        let prefix = ["env", &path];
        let client = client(&prefix);
        if given_up {
            let reading = client.read(DEADLINE, &[]);
            tokio::select! {
                result = reading => panic!("it ended: {result:?}"),
                () = async { while !noted.exists() { tokio::task::yield_now().await; } } => {}
            }
        } else {
            let error = client.read(Duration::from_secs(2), &[]).await.unwrap_err();
            assert!(matches!(error, Error::TimedOut { .. }), "{error:?}");
        }
        let dir = directory_in(&noted);
        assert!(dir.file_name().unwrap().to_string_lossy().starts_with("deevnet-exit-node."), "{}", dir.display());
        let gone = tokio::task::spawn_blocking(move || soon(|| !dir.exists()));
        assert!(gone.await.unwrap(), "{case}: its directory is left");
    }
}

#[tokio::test]
async fn what_a_killed_run_left_is_removed_and_nothing_else() {
    let kept = tempfile::tempdir().unwrap();
    fs::write(kept.path().join("file"), "kept").unwrap();
    let word = kept.path().file_name().unwrap().to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "");
    let tail: String = word.chars().rev().chain("0000000".chars()).take(7).collect();
    let at = |form: &str| Path::new("/tmp").join(format!("deevnet-exit-node.{}", form.replace('*', &tail)));
    let old = [at("a*"), at("b*too-long"), at("*")];
    for dir in &old {
        fs::create_dir(dir).unwrap();
        fs::write(dir.join("part.o"), "left").unwrap();
    }
    std::os::unix::fs::symlink(kept.path(), old[0].join("link")).unwrap();
    std::os::unix::fs::symlink(kept.path(), at("c*")).unwrap();
    fs::create_dir(at("d*")).unwrap();
    let paths: Vec<_> = old.iter().cloned().chain([at("c*"), kept.path().to_owned()]).collect();
    let aged = Command::new("touch").args(["-h", "-d", "3 hours ago"]).args(&paths).status().unwrap();
    assert!(aged.success());
    let read = read(&["env"]).await;
    let there = |path: &Path| path.symlink_metadata().is_ok();
    let left = [at("a*"), at("b*too-long"), at("*"), at("c*"), at("d*")].map(|path| there(&path));
    for path in paths.iter().filter(|path| **path != *kept.path()).chain([&at("d*")]) {
        let _ = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
    }
    read.unwrap();
    assert_eq!(left, [false, true, true, true, true], "old and ours alone: another form, a link, a fresh one stay");
    assert_eq!(fs::read_to_string(kept.path().join("file")).unwrap(), "kept", "no link is followed");
}

#[tokio::test]
async fn flows_are_counted_whole_and_listed_in_part() {
    let line = "tcp 6 100 SYN_SENT src=10.20.129.10 dst=192.0.2.80 sport=$n dport=443 $mark src=192.0.2.80 \
                dst=10.20.50.22 sport=443 dport=$n mark=0 use=1";
    let script = format!(
        "[ \"$*\" = '-L -s 10.20.129.0/24' ] || exit 9\nmark='[UNREPLIED]'\nn=0\nwhile [ $n -lt 300 ]; do n=$((n + 1)); \
         [ $n -gt 40 ] && mark=; echo \"{line}\"; done"
    );
    let dir = fakes(&[("conntrack", &script), ("id", "echo 0")]);
    let prefixes: Vec<ipnet::Ipv4Net> = ["10.20.129.7/24", "10.20.130.0/24"].map(|net| net.parse().unwrap()).into();
    let reading = client(&["env", &path_with(&dir)]).read_with_flows(DEADLINE, &prefixes).await.unwrap();
    let tracked = reading.flows[&prefixes[0]].value().unwrap();
    assert_eq!((tracked.total, tracked.unreplied, tracked.listed.len()), (300, 40, 200));
    assert!(reading.flows[&prefixes[1]].unread().is_some(), "a listing that failed is no empty one");
    let many = vec![prefixes[0]; helper::MAX_FLOWS + 1];
    assert!(client(&["env"]).read_with_flows(DEADLINE, &many).await.is_err());
    assert_eq!(script_refuses("flows/10.20.129.0"), Some(2));
    assert_eq!(script_refuses("flows/10.20.129.0/4;id"), Some(2));
}

fn script_refuses(wish: &str) -> Option<i32> {
    script(&["read", wish], "").status.code()
}
