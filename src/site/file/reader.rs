//! From text to sections of checked values, with everything that is wrong collected on the way.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{Key, Kind, Need, Section, Shape};
use super::report::{Problem, SiteErrors};
use super::values::{Base, Value, convert, scalars};
use super::{did_you_mean, text_of};
use crate::site::text::nearest;

/// One section as it was found in the file.
pub(crate) struct Fields {
    pub section: &'static Section,
    /// Where it stands.
    pub span: Range<usize>,
    values: BTreeMap<&'static str, (Option<Range<usize>>, Value)>,
    given: Vec<&'static str>,
}

impl Fields {
    /// The value of `key`; `None` when it is absent, or was wrong, which is then known already.
    pub fn get<T: FromValue>(&self, key: &str) -> Option<T> {
        self.values.get(key).and_then(|(_, value)| T::from_value(value))
    }

    /// Whether the file has `key`, be its value right or wrong.
    pub fn was_given(&self, key: &str) -> bool {
        self.given.contains(&key)
    }

    /// Where the value of `key` stands; `None` when it is absent or a default.
    pub fn span_of(&self, key: &str) -> Option<Range<usize>> {
        self.values.get(key).and_then(|(span, _)| span.clone())
    }
}

/// What a [`Value`] holds, as a type.
pub(crate) trait FromValue: Sized {
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! from_value {
    ($($variant:ident => $type:ty),* $(,)?) => {$(
        impl FromValue for $type {
            fn from_value(value: &Value) -> Option<Self> {
                if let Value::$variant(inner) = value { Some(inner.clone()) } else { None }
            }
        }
    )*};
}

from_value! {
    Text => String, Integer => i64, Bool => bool, Words => Vec<String>, Aliases => super::values::Aliases,
    Network => ipnet::Ipv4Net, Networks => Vec<ipnet::Ipv4Net>, Ipv4 => std::net::Ipv4Addr, Ip => std::net::IpAddr,
    DnsServer => std::net::SocketAddr, Url => super::values::Origin, Path => std::path::PathBuf,
    Fingerprint => [u8; 32], Secret => crate::site::model::SecretSource, Transport => crate::site::model::Transport,
}

/// A file as far as it was understood.
pub(crate) struct Reader<'s> {
    schema: &'static [Section],
    source: &'s str,
    base: Base,
    pub fields: Vec<Fields>,
    pub problems: Vec<Problem>,
    missing: Vec<String>,
    hidden: Vec<Range<usize>>,
}

impl<'s> Reader<'s> {
    /// Reads `source` against `schema`.
    ///
    /// # Errors
    /// Text that is not TOML. Everything else is in `problems`.
    pub fn read(schema: &'static [Section], source: &'s str, path: &Path, base: Base) -> Result<Self, SiteErrors> {
        let document = DeTable::parse(source).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let problem = Problem::new(format!("this is not TOML: {}", text_of(error.message()))).at(span.clone());
            SiteErrors::new(path, source, vec![problem], &hidden_by_syntax(schema, source, span.start))
        })?;
        let (fields, problems, missing, hidden) = Default::default();
        let mut reader = Self { schema, source, base, fields, problems, missing, hidden };
        reader.top(document.get_ref());
        Ok(reader)
    }

    /// Names a key that the rest of its section asks for.
    pub fn missing(&mut self, section: &'static Section, name: &str) {
        if let Some(key) = section.key(name) {
            self.missing.push(missing_line(section, 1, key));
        }
    }

    /// All sections called `name`.
    pub fn sections(&self, name: &'static str) -> impl Iterator<Item = &Fields> {
        self.fields.iter().filter(move |fields| fields.section.name == name)
    }

    /// Every problem, or `value` when there is none.
    pub fn finish<T>(mut self, path: &Path, value: Option<T>) -> Result<T, SiteErrors> {
        if !self.missing.is_empty() {
            let count = match self.missing.len() {
                1 => "a required key is missing".to_owned(),
                n => format!("{n} required keys are missing"),
            };
            let mut problem = Problem::new(format!("the site is only half described: {count}"));
            problem.notes =
                std::mem::take(&mut self.missing).into_iter().map(|key| format!("missing: {key}")).collect();
            self.problems.push(problem.help("docs/configuration.md describes every section and key"));
        }
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => {
                if self.problems.is_empty() {
                    self.problems
                        .push(Problem::new("the file could not be understood, and this program cannot say why"));
                }
                Err(SiteErrors::new(path, self.source, self.problems, &self.hidden))
            }
        }
    }

    fn top(&mut self, document: &DeTable<'_>) {
        let schema = self.schema;
        let top = schema.iter().find(|section| section.shape == Shape::Top);
        for (name, node) in document {
            let known = |section: &&Section| section.name == name.get_ref() && section.shape != Shape::Top;
            if let Some(section) = schema.iter().find(known) {
                self.section(section, name.span(), node);
            } else if top.is_none_or(|top| top.key(name.get_ref()).is_none()) {
                scalars(node, &mut self.hidden);
                let problem = self.unknown_at_top(name.get_ref(), node).at(name.span());
                self.problems.push(problem);
            }
        }
        if let Some(top) = top {
            let own = |name: &str| top.key(name).is_some();
            self.table(top, 1, 0..0, document.iter().filter(|(name, _)| own(name.get_ref())));
        }
        for section in schema.iter().filter(|section| section.required) {
            if self.sections(section.name).next().is_none() && !document.contains_key(section.name) {
                let required = section.keys.iter().filter(|key| key.need == Need::Required);
                self.missing.extend(required.map(|key| missing_line(section, 1, key)));
            }
        }
    }

    fn unknown_at_top(&self, name: &str, node: &Spanned<DeValue<'_>>) -> Problem {
        let table = node.get_ref().is_table() || node.get_ref().is_array();
        let problem = Problem::new(format!("unknown {} `{}`", if table { "section" } else { "key" }, text_of(name)));
        let names: Vec<_> = self.schema.iter().map(|section| section.name).filter(|name| !name.is_empty()).collect();
        let top = self.schema.iter().filter(|section| section.shape == Shape::Top).flat_map(|section| section.keys);
        if !table && let Some(section) = self.schema.iter().find(|section| section.key(name).is_some()) {
            return problem.help(format!("it belongs into {}", section.title()));
        }
        match nearest(name, names.iter().copied().chain(top.clone().map(|key| key.name))) {
            Some(near) => problem.help(did_you_mean(near)),
            None if names.is_empty() => problem.help(format!("known are {}", list(top.map(|key| key.name)))),
            None => problem.help(format!("known sections are {}", list(names.into_iter()))),
        }
    }

    fn section(&mut self, section: &'static Section, span: Range<usize>, node: &Spanned<DeValue<'_>>) {
        match (section.shape, node.get_ref()) {
            (Shape::One, DeValue::Table(table)) => self.table(section, 1, span, table.iter()),
            (Shape::Many, DeValue::Array(items)) if items.iter().all(|item| item.get_ref().is_table()) => {
                for (item, number) in items.iter().zip(1..) {
                    if let Some(table) = item.get_ref().as_table() {
                        self.table(section, number, item.span(), table.iter());
                    }
                }
                if items.is_empty() && section.required {
                    self.problems.push(Problem::new(format!("at least one {} is needed", section.title())).at(span));
                }
            }
            (_, other) => {
                scalars(node, &mut self.hidden);
                let found = if other.is_table() { format!("[{}]", section.name) } else { other.type_str().to_owned() };
                let problem = Problem::new(format!("expected {}, found {found}", section.title())).at(span);
                self.problems.push(problem.help(format!("start the section with a line {}", section.title())));
            }
        }
    }

    fn table<'t, 'i: 't>(
        &mut self,
        section: &'static Section,
        number: usize,
        span: Range<usize>,
        entries: impl Iterator<Item = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>)>,
    ) {
        let (mut values, mut given) = (BTreeMap::new(), Vec::new());
        for (name, node) in entries {
            let Some(key) = section.key(name.get_ref()) else {
                scalars(node, &mut self.hidden);
                let problem = self.unknown_key(section, name.get_ref()).at(name.span());
                self.problems.push(problem);
                continue;
            };
            given.push(key.name);
            self.hide(key, node);
            match convert(key.kind, node, &self.base) {
                Ok(value) => _ = values.insert(key.name, (Some(node.span()), value)),
                Err(problem) => self.problems.push(problem),
            }
        }
        for key in section.keys.iter().filter(|key| !given.contains(&key.name)) {
            match key.need {
                Need::Required => self.missing.push(missing_line(section, number, key)),
                Need::Default(text) => {
                    let value = DeValue::parse(text).ok().and_then(|node| convert(key.kind, &node, &self.base).ok());
                    values.extend(value.map(|value| (key.name, (None, value))));
                }
                Need::Optional => {}
            }
        }
        self.fields.push(Fields { section, span, values, given });
    }

    /// A secret's value is never shown, nor is a URL that holds credentials.
    fn hide(&mut self, key: &Key, node: &Spanned<DeValue<'_>>) {
        let credentials = node.get_ref().as_str().is_some_and(|text| text.contains('@'));
        match key.kind {
            Kind::Secret => scalars(node, &mut self.hidden),
            Kind::Url if credentials => self.hidden.push(node.span()),
            _ => {}
        }
    }

    fn unknown_key(&self, section: &'static Section, name: &str) -> Problem {
        let problem = Problem::new(format!("unknown key `{}` in {}", text_of(name), section.title()));
        if let Some(near) = nearest(name, section.keys.iter().map(|key| key.name)) {
            return problem.help(did_you_mean(near));
        }
        match self.schema.iter().find(|other| other.key(name).is_some()) {
            Some(other) => problem.help(format!("it belongs into {}", other.title())),
            None => problem.help(format!("known are {}", list(section.keys.iter().map(|key| key.name)))),
        }
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn missing_line(section: &Section, number: usize, key: &Key) -> String {
    let Key { name, doc, .. } = key;
    match section.shape {
        Shape::Top => format!("{name}, at the top of the file: {doc}"),
        Shape::Many if number > 1 => format!("{} number {number}, {name}: {doc}", section.title()),
        Shape::One | Shape::Many => format!("{} {name}: {doc}", section.title()),
    }
}

/// Where the text is not even TOML, the line at `at` is shown only as far as it is certain to hold no secret: its key,
/// and its value up to another `=` if that key is known to be no secret.
fn hidden_by_syntax(schema: &[Section], source: &str, at: usize) -> Vec<Range<usize>> {
    let start = source.get(..at).unwrap_or_default().rfind('\n').map_or(0, |newline| newline + 1);
    let line = source.get(start..).unwrap_or_default().split('\n').next().unwrap_or_default();
    let shown = match line.split_once('=') {
        None if line.trim_start().starts_with('[') && !line.contains(['"', '\'']) => line.len(),
        None => 0,
        Some((name, value)) => {
            let mut kinds = schema.iter().filter_map(|section| section.key(name.trim())).map(|key| key.kind).peekable();
            let open = kinds.peek().is_some() && kinds.all(|kind| kind != Kind::Secret);
            let blank = value.len() - value.trim_start().len();
            let more = if open { value.find('=').map_or(value.len(), |equals| equals + 1) } else { blank };
            name.len() + 1 + more
        }
    };
    std::iter::once(start + shown..start + line.len()).filter(|range| !range.is_empty()).collect()
}
