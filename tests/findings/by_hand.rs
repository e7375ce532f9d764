//! Evidence made by hand, and what is claimed of it.

use std::collections::BTreeSet;

use deevnet_console::diagnose::Report;
use deevnet_console::diagnose::evidence::{Dns, Ended, Evidence, Http, Item, Kind};
use deevnet_console::diagnose::finding::{Layer, Severity};
use deevnet_console::diagnose::rules::rule;

/// One item.
pub fn item(file: &str, from: &str, kind: Kind, body: &str) -> Item {
    Item {
        file: file.to_owned(),
        from: from.to_owned(),
        kind,
        at: None,
        took: None,
        body: body.to_owned(),
        stderr: String::new(),
        empty: body.is_empty(),
    }
}

/// A request and its answer. Its file is called after the request.
pub fn http(from: &str, request: &str, status: u16, reason: &str, body: &str) -> Item {
    let ended = Ended { status, reason: reason.to_owned() };
    let http = Http::parse(request, ended).expect("a request");
    item(request, from, Kind::Http(http), body)
}

/// A read that was answered.
pub fn get(from: &str, path: &str, body: &str) -> Item {
    http(from, &format!("GET {path}"), 200, "OK", body)
}

/// A question on a DNS port and its answer. Its file is called after both.
pub fn asked(server: &str, question: &str, body: &str) -> Item {
    let kind = Kind::Dns(Dns { question: question.to_owned(), asked_from: None });
    item(&format!("{server} {question}"), server, kind, body)
}

/// An answer as dig prints it.
pub fn dig(status: &str, flags: &str, answers: &[&str], authority: &[&str]) -> String {
    let counts = format!("ANSWER: {}, AUTHORITY: {}, ADDITIONAL: 1", answers.len(), authority.len());
    let records: Vec<&str> = answers.iter().chain(authority).copied().collect();
    format!(
        ";; ->>HEADER<<- opcode: QUERY, status: {status}, id: 7\n;; flags: {flags}; QUERY: 1, {counts}\n{}\n",
        records.join("\n")
    )
}

/// What dig says when nothing comes.
pub const SILENCE: &str = ";; communications error to 192.0.2.1#53: timed out\n;; no servers could be reached\n";

/// What a bundle comes to.
pub fn report(items: Vec<Item>) -> Report {
    Report::of(&Evidence { items, ..Evidence::default() })
}

/// Ids of the faults and warnings that are no consequence of another.
pub fn claims(report: &Report) -> BTreeSet<&'static str> {
    let roots = report.findings.iter().filter(|f| f.caused_by.is_none() && f.severity > Severity::Info);
    roots.map(|f| f.id).collect()
}

/// Whether rules of `layers` found all they want to know.
pub fn nothing_unknown(site: &Site, layers: &[Layer]) {
    let report = site.report();
    let of = |id: &&'static str| rule(id).is_some_and(|rule| layers.contains(&rule.layer));
    let missing: Vec<_> = report.unknown.iter().filter(|u| u.ids.is_empty() || u.ids.iter().any(&of)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// A bundle in which single items can be replaced.
#[derive(Clone)]
pub struct Site(pub Vec<Item>);

impl Site {
    /// The same with `new` instead of the item of that file; that there is one is checked.
    pub fn with(mut self, new: Item) -> Self {
        let old = self.0.iter_mut().find(|item| item.file == new.file).unwrap_or_else(|| panic!("no {}", new.file));
        *old = new;
        self
    }

    /// The same with one item more.
    pub fn and(mut self, new: Item) -> Self {
        self.0.push(new);
        self
    }

    /// The same without the items whose file begins with `file`.
    pub fn without(mut self, file: &str) -> Self {
        let before = self.0.len();
        self.0.retain(|item| !item.file.starts_with(file));
        assert!(self.0.len() < before, "no {file}");
        self
    }

    /// What it comes to.
    pub fn report(&self) -> Report {
        report(self.0.clone())
    }

    /// Claims exactly `ids`.
    pub fn is(&self, ids: &[&'static str]) {
        let report = self.report();
        let said: Vec<_> = report.findings.iter().map(|f| (f.id, &f.subject.name, f.title.as_str())).collect();
        assert_eq!(claims(&report), ids.iter().copied().collect::<BTreeSet<_>>(), "{said:#?}\n{:#?}", report.unknown);
    }

    /// Claims nothing, and says that something is unknown, for want of `missing`.
    pub fn is_unknown(&self, missing: &str) {
        let report = self.report();
        assert!(claims(&report).is_empty(), "{:#?}", report.findings);
        assert!(report.unknown.iter().any(|u| u.missing.contains(missing)), "{:#?}", report.unknown);
    }
}
