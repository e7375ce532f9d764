//! Where items gather while several clients work at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::backends::http::{Exchange, HttpError, Kind as HttpKind, Recorder};
use crate::diagnose::evidence::{Ended, Evidence, Http, Item, Kind};
use crate::site::scrub::Known;

/// Reads the time.
pub type Clock = Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>;

/// Gathers items. Cheap to clone; clones gather in the same place.
#[derive(Clone)]
pub struct Sink {
    items: Arc<Mutex<Vec<Item>>>,
    clock: Clock,
    patience: Duration,
    known: Known,
}

/// Longest wait for one reading of a node, and for one round of probes there.
const PATIENCE: Duration = Duration::from_secs(15);

/// Longest part of a file name that is made of a request.
const SLUG: usize = 60;

impl Sink {
    /// An empty sink.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { items: Arc::default(), clock, patience: PATIENCE, known: Known::default() }
    }

    /// The same for nodes that are slower than nodes are: `patience` for one reading, and for one round of probes.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same, gathering in the same place, without the secrets that are `known`.
    pub(super) fn scrubbing(&self, known: &Known) -> Self {
        Self { known: known.clone(), ..self.clone() }
    }

    /// Longest wait for one reading of a node, and for one round of probes there.
    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// A recorder for a client of `from`: a node, a host or a service, as findings call it.
    #[must_use]
    pub fn recorder(&self, from: &str) -> Recorder {
        let (sink, from) = (self.clone(), from.to_owned());
        Recorder::new(move |exchange| sink.exchange(&from, exchange))
    }

    fn exchange(&self, from: &str, exchange: Exchange) {
        let line = format!("{} {}", exchange.method, exchange.target);
        let mut headers = BTreeMap::new();
        let (ended, body) = match exchange.ended {
            Ok(answer) => {
                headers.extend(answer.date.map(|date| ("Date".to_owned(), date)));
                let body = String::from_utf8_lossy(&answer.body).into_owned();
                (Ended { status: answer.status, reason: answer.reason }, body)
            }
            // An answer all the same: it says where it points.
            Err(HttpError { kind: HttpKind::Redirected { status, location }, .. }) => {
                headers.insert("Location".to_owned(), location);
                (Ended { status, reason: String::new() }, String::new())
            }
            Err(why) => (Ended { status: 0, reason: why.to_string() }, String::new()),
        };
        let Some(mut http) = Http::parse(&line, ended) else { return };
        (http.sent, http.headers) = (exchange.sent, headers);
        let slug = http.path.clone();
        self.add(from, &slug, "json", Kind::Http(http), body, String::new());
    }

    /// Adds an item; its file is named after `from` and `slug`.
    pub fn add(&self, from: &str, slug: &str, ending: &str, kind: Kind, body: String, stderr: String) {
        let at = (self.clock)();
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let file = format!("{:03}-{}.{ending}", items.len() + 1, name(&format!("{from}-{slug}")));
        let empty = body.is_empty();
        let item = Item { file, from: from.to_owned(), kind, at: Some(at), body, stderr, empty };
        items.push(self.scrubbed(item));
    }

    /// Adds `request`, which nobody could be asked, or was not answered, and why.
    pub fn unanswered(&self, from: &str, request: &str, why: &str) {
        if let Some(http) = Http::parse(request, Ended { status: 0, reason: why.to_owned() }) {
            let slug = http.path.clone();
            self.add(from, &slug, "json", Kind::Http(http), String::new(), String::new());
        }
    }

    /// The clock that items are dated by.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Adds a text under a name of its own.
    pub fn put(&self, file: &str, from: &str, kind: Kind, body: String) {
        let at = (self.clock)();
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, from, empty) = (file.to_owned(), from.to_owned(), body.is_empty());
        items.push(self.scrubbed(Item { file, from, kind, at: Some(at), body, stderr: String::new(), empty }));
    }

    /// The item without known secrets, wherever somebody repeated one.
    fn scrubbed(&self, mut item: Item) -> Item {
        let scrub = |text: &mut String| *text = self.known.scrub(std::mem::take(text));
        scrub(&mut item.body);
        scrub(&mut item.stderr);
        match &mut item.kind {
            Kind::Http(http) => {
                scrub(&mut http.path);
                http.query.values_mut().for_each(scrub);
                scrub(&mut http.ended.reason);
                http.sent.iter_mut().for_each(scrub);
                http.headers.values_mut().for_each(scrub);
            }
            Kind::Command { line, .. } => scrub(line),
            Kind::Dns(dns) => scrub(&mut dns.question),
            Kind::Material(what) => scrub(what),
        }
        item
    }

    /// What has gathered so far.
    #[must_use]
    pub fn evidence(&self, question: Option<String>) -> Evidence {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Evidence { question, items }
    }
}

/// Letters, digits and single dashes.
fn name(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '-' };
        if out.len() < SLUG && !(c == '-' && (out.is_empty() || out.ends_with('-'))) {
            out.push(c);
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::http::Response;
    use crate::diagnose::evidence::Api;

    fn sink() -> Sink {
        Sink::new(Arc::new(|| "2026-11-29T11:03:00Z".parse().expect("a time")))
    }

    fn exchange(target: &str, ended: Result<Response, HttpKind>) -> Exchange {
        let origin = "https://192.0.2.1".to_owned();
        let ended = ended.map_err(|kind| HttpError { origin: origin.clone(), kind });
        Exchange { origin, method: "GET".into(), target: target.into(), sent: None, ended }
    }

    #[test]
    fn an_exchange_becomes_an_item() {
        let sink = sink();
        let answer =
            Response { status: 200, reason: "OK".into(), content_type: None, date: None, body: b"{}".to_vec() };
        sink.exchange("hv02", exchange("/api2/json/cluster/sdn/zones?running=1", Ok(answer)));
        sink.exchange("hv02", exchange("/api2/json/version", Err(HttpKind::Refused)));
        let items = sink.evidence(None).items;
        let [zones, version] = items.as_slice() else { panic!("two items") };
        let http = zones.http().expect("a request");
        assert!(http.gets(Api::Proxmox, "cluster/sdn/zones") && http.ok());
        assert_eq!((zones.file.as_str(), zones.body.as_str()), ("001-hv02-cluster-sdn-zones.json", "{}"));
        let ended = &version.http().expect("a request").ended;
        assert_eq!((ended.status, ended.reason.as_str()), (0, "https://192.0.2.1: connection refused"));
        assert!(version.empty);
    }

    #[test]
    fn a_file_name_is_made_of_harmless_characters() {
        assert_eq!(name("../../etc/x y"), "etc-x-y");
        assert_eq!(name("nodes/hv02/sdn/zones/a/ip-vrf"), "nodes-hv02-sdn-zones-a-ip-vrf");
        assert!(name(&"x".repeat(500)).len() <= SLUG);
        assert_eq!(name("\u{1b}[2J"), "2J");
    }
}
