//! Where items gather while several clients work at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::backends::http::{Exchange, HttpError, Kind as HttpKind, Recorder};
use crate::diagnose::evidence::{Ended, Evidence, Http, Item, Kind, NOT_ASKED};
use crate::diagnose::facts::given_up;
use crate::diagnose::parts::Part;
use crate::inventory::feed::Unusable;
use crate::site::scrub::Known;

/// Reads the time.
pub type Clock = Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>;

/// Hears how many items have come and what is still awaited.
pub type Tell = Arc<dyn Fn(usize, &[Part]) + Send + Sync>;

/// Gathers items. Cheap to clone; clones gather in the same place.
#[derive(Clone)]
pub struct Sink {
    gathered: Arc<Mutex<Gathered>>,
    clock: Clock,
    patience: Duration,
    known: Known,
    tell: Option<Tell>,
}

/// What has come, and what is still awaited.
#[derive(Default)]
struct Gathered {
    items: Vec<Item>,
    open: Vec<Part>,
    given_up: bool,
}

/// Longest wait for one reading of a node, and for one round of probes there.
const PATIENCE: Duration = Duration::from_secs(15);

/// Longest part of a file name that is made of a request.
const SLUG: usize = 60;

impl Sink {
    /// An empty sink.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { gathered: Arc::default(), clock, patience: PATIENCE, known: Known::default(), tell: None }
    }

    /// The same for nodes that are slower than nodes are: `patience` for one reading, and for one round of probes.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same, and `tell` hears of every item that comes and of every part that ends. It must not block.
    #[must_use]
    pub fn telling(mut self, tell: Tell) -> Self {
        self.tell = Some(tell);
        self
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what was gathered, then tells of it.
    fn change(&self, change: impl FnOnce(&mut Gathered)) {
        let mut gathered = self.gathered();
        change(&mut gathered);
        let Some(tell) = &self.tell else { return };
        let (count, open) = (gathered.items.len(), gathered.open.clone());
        drop(gathered);
        tell(count, &open);
    }

    /// From now on `part` is awaited.
    pub(super) fn begin(&self, part: Part) {
        let open = &mut self.gathered().open;
        if !open.contains(&part) {
            open.push(part);
        }
    }

    /// `part` has ended, however.
    pub(super) fn end(&self, part: &Part) {
        self.change(|gathered| gathered.open.retain(|open| open != part));
    }

    /// What is still awaited.
    #[must_use]
    pub fn open(&self) -> Vec<Part> {
        self.gathered().open.clone()
    }

    /// Nobody waits any more for what has not come, and `why`. It becomes an item, so that whoever judges the evidence
    /// later knows it too: also where nothing was begun yet. The first word counts.
    pub fn give_up(&self, why: &str) {
        let (open, before) = {
            let mut gathered = self.gathered();
            (std::mem::take(&mut gathered.open), std::mem::replace(&mut gathered.given_up, true))
        };
        if !before {
            let (file, kind, body) = given_up::item(why, &open);
            self.put(file, "console", kind, body);
        }
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
        self.add_item((from, &slug, "json"), Some(exchange.took), Kind::Http(http), body, String::new());
    }

    /// Adds an item; its file is named after `from` and `slug`.
    pub fn add(&self, from: &str, slug: &str, ending: &str, kind: Kind, body: String, stderr: String) {
        self.add_item((from, slug, ending), None, kind, body, stderr);
    }

    /// The same of something that was begun at `began`, by this sink's clock.
    pub(super) fn add_since(
        &self,
        began: jiff::Timestamp,
        (from, slug): (&str, &str),
        kind: Kind,
        body: String,
        stderr: String,
    ) {
        let took = (self.clock)().duration_since(began).unsigned_abs();
        self.add_item((from, slug, "txt"), Some(took), kind, body, stderr);
    }

    fn add_item(
        &self,
        (from, slug, ending): (&str, &str, &str),
        took: Option<Duration>,
        kind: Kind,
        body: String,
        stderr: String,
    ) {
        let at = Some((self.clock)());
        self.change(|gathered| {
            let items = &mut gathered.items;
            let file = format!("{:03}-{}.{ending}", items.len() + 1, name(&format!("{from}-{slug}")));
            let empty = body.is_empty();
            items.push(self.scrubbed(Item { file, from: from.to_owned(), kind, at, took, body, stderr, empty }));
        });
    }

    /// Adds `request`, which was not sent, and why: the site file's secret or certificate cannot be used.
    pub(super) fn unasked(&self, from: &str, request: &str, why: &Unusable) {
        let help = why.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        self.unanswered(from, request, &format!("{NOT_ASKED}{}{help}", why.text));
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
        let at = Some((self.clock)());
        let (file, from, empty) = (file.to_owned(), from.to_owned(), body.is_empty());
        let item = self.scrubbed(Item { file, from, kind, at, took: None, body, stderr: String::new(), empty });
        self.change(|gathered| gathered.items.push(item));
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
            Kind::Pasted { by, via } => {
                scrub(by);
                scrub(via);
            }
            Kind::Material(what) => scrub(what),
        }
        item
    }

    /// What has gathered so far.
    #[must_use]
    pub fn evidence(&self, question: Option<String>) -> Evidence {
        Evidence { question, items: self.gathered().items.clone() }
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
        let (took, method) = (Duration::from_millis(31), "GET".into());
        Exchange { origin, method, target: target.into(), sent: None, took, ended }
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
        assert!(version.empty && version.took == Some(Duration::from_millis(31)));
    }

    #[test]
    fn what_was_given_up_is_an_item_and_nobody_waits_for_it() {
        let told = Arc::new(Mutex::new(0));
        let count = Arc::clone(&told);
        let sink = sink().telling(Arc::new(move |_, _| *count.lock().expect("a count") += 1));
        sink.begin(Part::Fabric);
        sink.begin(Part::Read("hv02".into()));
        sink.put("site.toml", "lab", Kind::Material("the site file".into()), String::new());
        sink.end(&Part::Fabric);
        assert_eq!((*told.lock().expect("a count"), sink.open()), (2, vec![Part::Read("hv02".into())]));
        sink.give_up("given up by you");
        sink.give_up("once is enough");
        let items = sink.evidence(None).items;
        assert!(sink.open().is_empty() && items.len() == 2);
        assert_eq!(items[1].body, "given up by you\nread hv02\n");
    }

    #[test]
    fn what_is_given_up_before_it_began_leaves_its_trace() {
        let sink = sink();
        sink.give_up("given up by you");
        let bodies: Vec<String> = sink.evidence(None).items.into_iter().map(|item| item.body).collect();
        assert_eq!(bodies, ["given up by you\n"]);
    }

    #[test]
    fn a_file_name_is_made_of_harmless_characters() {
        assert_eq!(name("../../etc/x y"), "etc-x-y");
        assert_eq!(name("nodes/hv02/sdn/zones/a/ip-vrf"), "nodes-hv02-sdn-zones-a-ip-vrf");
        assert!(name(&"x".repeat(500)).len() <= SLUG);
        assert_eq!(name("\u{1b}[2J"), "2J");
    }
}
