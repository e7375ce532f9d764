//! Other names, addresses and numbers, consistently, by form: prefixes stay prefixes, order stays order.

use std::sync::LazyLock;

use deevnet_console::diagnose::evidence::{Evidence, Http, Item, Kind};
use regex_lite::{Captures, Regex};

/// Names of the cases and others of the same length, so that identifiers made from them keep their limits.
const NAMES: [(&str, &str); 13] = [
    ("tdemo", "qumbo"),
    ("tacme", "zorfy"),
    ("pve1", "hyp7"),
    ("pve2", "hyp8"),
    ("pve3", "hyp9"),
    ("PVE1", "HYP7"),
    ("svc-console", "bot-gadgets"),
    ("TenantOps", "RoleNinea"),
    ("lab.example", "sky.example"),
    ("lab-ca", "sky-ca"),
    ("web1", "fox7"),
    ("web2", "fox8"),
    ("web3", "fox9"),
];

static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(opn|pdns|ops|opz|ns1|lab|mgmt|TENANT)\b").expect("a pattern"));
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b10\.20\.(\d{1,3})\.(\d{1,3})\b").expect("a pattern"));
static REVERSE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b((?:\d{1,3}\.)?)(\d{1,3})\.20\.10\.in-addr").expect("a pattern"));
static VNI: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b([12]00\d\d)\b").expect("a pattern"));
static VMID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(50\d\d|90\d\d)\b").expect("a pattern"));

/// Short names, whole words only: parts of other words stay.
const WORDS: [(&str, &str); 8] = [
    ("opn", "fw7"),
    ("pdns", "auth"),
    ("ops", "zip"),
    ("opz", "ziq"),
    ("ns1", "ax7"),
    ("lab", "sky"),
    ("mgmt", "desk"),
    ("TENANT", "GUESTS"),
];

/// Interfaces of a guest's card carry its number: `tap5001i0`, `fwpr5001p0`.
static CARD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(tap|fwbr|fwln|fwpr)(50\d\d|90\d\d)([ip]\d)").expect("a pattern"));
/// Source ports of captured packets, after the address has been renamed.
static PORT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\d\.)([45]\d{4})\b").expect("a pattern"));

/// A percent-encoded sign, as in keys that Proxmox stores.
static ENCODED: LazyLock<Regex> = LazyLock::new(|| Regex::new("%[0-9A-F]{2}").expect("a pattern"));
/// Stands for the edge of a word while names are replaced; no evidence has it.
const EDGE: char = '\u{1}';

/// Another third octet, such that prefixes down to /18 hold the same neighbours as before.
fn octet(text: &str) -> u32 {
    text.parse::<u32>().map_or(0, |n| n ^ 64)
}

fn plus(n: u32) -> impl Fn(&Captures<'_>) -> String {
    move |c| c[1].parse::<u32>().map_or_else(|_| c[1].to_owned(), |v| (v + n).to_string())
}

/// `text` with other names, addresses and numbers.
pub fn rename(text: &str) -> String {
    // What follows a percent-encoded sign begins a word.
    let mut out = ENCODED.replace_all(text, |c: &Captures<'_>| format!("{}{EDGE}", &c[0])).into_owned();
    for (old, new) in NAMES {
        out = out.replace(old, new);
    }
    let out = WORD.replace_all(&out, |c: &Captures<'_>| {
        WORDS.iter().find(|(old, _)| *old == &c[1]).map_or_else(|| c[1].to_owned(), |(_, new)| (*new).to_owned())
    });
    let out = ADDRESS.replace_all(&out, |c: &Captures<'_>| format!("10.77.{}.{}", octet(&c[1]), &c[2]));
    let out = REVERSE.replace_all(&out, |c: &Captures<'_>| format!("{}{}.77.10.in-addr", &c[1], octet(&c[2])));
    let out = VNI.replace_all(&out, plus(700));
    let out = VMID.replace_all(&out, plus(1300));
    let more = |text: &str, n: u32| text.parse::<u32>().map_or_else(|_| text.to_owned(), |v| (v + n).to_string());
    let out = CARD.replace_all(&out, |c: &Captures<'_>| format!("{}{}{}", &c[1], more(&c[2], 1300), &c[3]));
    PORT.replace_all(&out, |c: &Captures<'_>| format!("{}{}", &c[1], more(&c[2], 111))).replace(EDGE, "")
}

/// The same evidence of another site.
pub fn evidence(old: &Evidence) -> Evidence {
    Evidence { question: old.question.clone(), items: old.items.iter().map(item).collect() }
}

fn item(old: &Item) -> Item {
    let kind = match &old.kind {
        Kind::Http(http) => Kind::Http(Http {
            path: rename(&http.path),
            query: http.query.iter().map(|(k, v)| (k.clone(), rename(v))).collect(),
            ended: deevnet_console::diagnose::evidence::Ended {
                status: http.ended.status,
                reason: rename(&http.ended.reason),
            },
            sent: http.sent.as_deref().map(rename),
            headers: http.headers.clone(),
            ..http.clone()
        }),
        Kind::Command { line, exit } => Kind::Command { line: rename(line), exit: *exit },
        Kind::Dns(dns) => Kind::Dns(deevnet_console::diagnose::evidence::Dns {
            question: rename(&dns.question),
            asked_from: dns.asked_from.as_deref().map(rename),
        }),
        Kind::Material(what) => Kind::Material(rename(what)),
        Kind::Pasted { .. } => old.kind.clone(),
    };
    Item { from: rename(&old.from), kind, body: rename(&old.body), stderr: rename(&old.stderr), ..old.clone() }
}
