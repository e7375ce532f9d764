//! The API: statuses, headers, shapes and values.

use serde_json::Value;

use super::{KEY, conclude, twins};

/// Differences that remain: part of a step, part of a difference, and why the lab keeps it.
const KNOWN: &[(&str, &str, &str)] = &[
    ("/servers", "version is", "the lab says it is of a later release"),
    ("includerings=false", " lacks ", "the lab counts what the client reads"),
    ("/statistics", "value is", "two servers have done different things"),
    ("/config", " lacks ", "the lab has the settings that the client reads"),
    ("/config", "value is", "the fixture is set up for a test, the lab as a site"),
];

/// A request: method, path below `/api/v1`, key, `Accept`, body.
pub type Step = (&'static str, &'static str, Option<&'static str>, &'static str, &'static str);

pub const JSON: &str = "application/json";

const STEPS: &[Step] = &[
    ("GET", "/servers", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost", Some(KEY), JSON, ""),
    ("GET", "/servers/elsewhere", Some(KEY), JSON, ""),
    ("GET", "/servers/", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones?dnssec=false", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones?zone=tdemo.mobile.deevnet.net.", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones?zone=nobody.example.", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/tdemo.mobile.deevnet.net.", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/TDEMO.mobile.deevnet.net", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/129.20.10.in-addr.arpa.", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/tdemo.mobile.deevnet.net.?rrsets=false", Some(KEY), JSON, ""),
    (
        "GET",
        "/servers/localhost/zones/tdemo.mobile.deevnet.net.?rrset_name=app.tdemo.mobile.deevnet.net.&rrset_type=A",
        Some(KEY),
        JSON,
        "",
    ),
    ("GET", "/servers/localhost/zones/nobody.example.", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/nobody.example.", Some(KEY), "*/*", ""),
    ("GET", "/servers/localhost/zones/tdemo.mobile.deevnet.net./metadata", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/nobody.example./metadata", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/tdemo.mobile.deevnet.net./metadata/TSIG-ALLOW-DNSUPDATE", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/tdemo.mobile.deevnet.net./metadata/ALLOW-AXFR-FROM", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/zones/tdemo.mobile.deevnet.net./metadata/SOA-EDIT-API", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/tsigkeys", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/tsigkeys/tdemo.", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/tsigkeys/nobody.", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/statistics?includerings=false", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/statistics?statistic=udp-queries", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/statistics?statistic=no-such", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/config", Some(KEY), JSON, ""),
    ("GET", "/servers/localhost/nothing", Some(KEY), JSON, ""),
    ("GET", "/nothing", Some(KEY), JSON, ""),
    ("GET", "/servers", Some("wrong"), JSON, ""),
    ("GET", "/servers", Some("wrong"), "*/*", ""),
    ("GET", "/servers", Some("wrong"), "text/html", ""),
    ("GET", "/servers", None, JSON, ""),
    ("PUT", "/servers", Some(KEY), JSON, "{}"),
    ("DELETE", "/servers/localhost/config", Some(KEY), JSON, ""),
    ("POST", "/servers/localhost/statistics", Some(KEY), "*/*", ""),
    ("POST", "/servers/localhost/zones", Some(KEY), JSON, "{"),
    ("PATCH", "/servers/localhost/zones/tdemo.mobile.deevnet.net.", Some(KEY), JSON, "{"),
    ("PATCH", "/servers/localhost/zones/nobody.example.", Some(KEY), JSON, "{\"rrsets\":[]}"),
];

pub struct Heard {
    status: u16,
    kind: Option<String>,
    challenge: Option<String>,
    closes: bool,
    body: String,
}

pub async fn send(http: &reqwest::Client, origin: &str, step: &Step) -> Heard {
    let (method, path, key, accept, body) = *step;
    let mut request = http.request(method.parse().unwrap(), format!("{origin}/api/v1{path}")).header("Accept", accept);
    if let Some(key) = key {
        request = request.header("X-API-Key", key);
    }
    if !body.is_empty() {
        request = request.header("Content-Type", JSON).body(body);
    }
    let answer = request.send().await.unwrap();
    let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_lowercase());
    Heard {
        status: answer.status().as_u16(),
        kind: header("content-type"),
        challenge: header("www-authenticate"),
        closes: header("connection").as_deref() == Some("close"),
        body: answer.text().await.unwrap(),
    }
}

/// What two bodies say differently: in shape, in types, in values.
fn compare(path: &str, lab: &Value, real: &Value, out: &mut Vec<String>) {
    match (lab, real) {
        (Value::Object(a), Value::Object(b)) => {
            for key in b.keys().filter(|key| !a.contains_key(*key)) {
                out.push(format!("{path}.{key} is not in the lab"));
            }
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => compare(&format!("{path}.{key}"), value, other, out),
                    None => out.push(format!("{path}.{key} is the lab's alone")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => arrays(path, a, b, out),
        (a, b) if std::mem::discriminant(a) != std::mem::discriminant(b) => {
            out.push(format!("{path} is {a} in the lab, {b} in fact"));
        }
        (a, b) if a != b => out.push(format!("{path} is {a} in the lab, {b} in fact")),
        _ => {}
    }
}

/// Rows are matched by what names them; their order is not stable (facts/dns.md §3).
fn arrays(path: &str, lab: &[Value], real: &[Value], out: &mut Vec<String>) {
    let id = |row: &Value| {
        let part = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match row {
            Value::Object(_) => format!("{} {} {} {}", part("name"), part("kind"), part("type"), part("content")),
            other => other.to_string(),
        }
    };
    for row in real.iter().filter(|row| !lab.iter().any(|other| id(other) == id(row))) {
        out.push(format!("{path} lacks {}", id(row).trim()));
    }
    for row in lab {
        match real.iter().find(|other| id(other) == id(row)) {
            Some(other) => compare(&format!("{path}[{}]", id(row).trim()), row, other, out),
            None => out.push(format!("{path} has {} alone", id(row).trim())),
        }
    }
}

pub fn differences(lab: &Heard, real: &Heard) -> Vec<String> {
    let mut out = Vec::new();
    let mut differ = |what: &str, a: &str, b: &str| {
        if a != b {
            out.push(format!("{what} is {a} in the lab, {b} in fact"));
        }
    };
    differ("status", &lab.status.to_string(), &real.status.to_string());
    differ("content-type", &format!("{:?}", lab.kind), &format!("{:?}", real.kind));
    differ("www-authenticate", &format!("{:?}", lab.challenge), &format!("{:?}", real.challenge));
    differ("closing", &lab.closes.to_string(), &real.closes.to_string());
    match (serde_json::from_str(&lab.body), serde_json::from_str(&real.body)) {
        (Ok(a), Ok(b)) => compare("body", &a, &b, &mut out),
        _ => {
            if lab.body.trim() != real.body.trim() {
                out.push(format!("body is {:?} in the lab, {:?} in fact", lab.body, real.body));
            }
        }
    }
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_answers_as_a_real_server_does() {
    let Some((lab, real)) = twins("the_api_answers_as_a_real_server_does").await else { return };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
    let (lab_at, real_at) = (lab.powerdns_url().unwrap(), real.origin());
    let mut steps = Vec::new();
    for step in STEPS {
        let (a, b) = (send(&http, &lab_at, step).await, send(&http, &real_at, step).await);
        let key = step.2.map_or("no key", |key| if key == KEY { "the key" } else { "a wrong key" });
        steps.push((format!("{} {} ({key}, {})", step.0, step.1, step.3), differences(&a, &b)));
    }
    conclude("API", &steps, KNOWN);
    lab.shutdown().await;
}
