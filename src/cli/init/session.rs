//! The answers so far, and how the next one is come by: a flag, a question, or what was found.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use zeroize::Zeroizing;

use super::prompt::{Ended, Prompt, can_ask};
use super::propose::Proposals;
use super::write;
use crate::cli::args::InitArgs;
use crate::cli::{Code, Failure, open};
use crate::site::Secret;
use crate::site::file::draft::{Draft, Refused, find};
use crate::site::file::keys::{Need, Shape};
use crate::site::model::SecretSource;

/// Sections that a site may leave out.
pub(super) const OPTIONAL: [&str; 5] = ["powerdns", "opnsense", "resolvers", "bootstrap", "registry"];

/// A site file in the making.
pub(super) struct Session<'a> {
    pub(super) draft: Draft,
    /// Where the site file will be.
    pub(super) path: PathBuf,
    pub(super) request: &'a InitArgs,
    /// Secrets that were typed, and where each will be.
    pub(super) typed: Vec<(PathBuf, Secret)>,
    pub(super) found: Proposals,
    prompt: Option<Prompt>,
    runtime: tokio::runtime::Runtime,
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Eof => Self::usage(
                "the input ended before the last question; nothing was written",
                "answer every question, or give the answers as flags",
            ),
            Ended::Signal(number) => Self {
                code: Code::Signal(number.saturating_add(128)),
                text: "interrupted; nothing was written".to_owned(),
                help: None,
            },
            Ended::Broken(kind) => Self::usage(
                format!("the terminal cannot be read ({kind}); nothing was written"),
                "give the answers as flags",
            ),
        }
    }
}

fn refused(flag: &str, refused: &Refused) -> Failure {
    let help = refused.help.clone().unwrap_or_else(|| "docs/configuration.md describes every key".to_owned());
    Failure::usage(format!("{flag}: {refused}"), help)
}

impl<'a> Session<'a> {
    /// Takes the flags. The site's name is settled here, since the file is called after it.
    pub(super) fn start(request: &'a InitArgs) -> Result<Self, Failure> {
        if let Some(unknown) = request.off.iter().find(|section| !OPTIONAL.contains(&section.as_str())) {
            let text = format!("--off {unknown}: this section cannot be left out");
            return Err(Failure::usage(text, format!("one of {}", OPTIONAL.join(", "))));
        }
        let prompt = if !request.non_interactive && can_ask() {
            Some(Prompt::new().map_err(|e| Failure::plain(format!("signal handlers: {e}")))?)
        } else {
            None
        };
        let mut session = Self {
            draft: Draft::default(),
            path: request.out.clone().unwrap_or_else(|| PathBuf::from("site.toml")),
            request,
            typed: Vec::new(),
            found: Proposals::new(),
            prompt,
            runtime: open::runtime()?,
        };
        if let Some(out) = &request.out
            && std::fs::symlink_metadata(out).is_ok()
        {
            return Err(write::exists(out));
        }
        session.name()?;
        session.flags()?;
        Ok(session)
    }

    fn name(&mut self) -> Result<(), Failure> {
        let flag = self.request.set.iter().find_map(|set| set.strip_prefix("site.name="));
        if let Some(name) = self.request.name.as_deref().or(flag) {
            self.set("site", 0, "name", name).map_err(|e| refused("NAME", &e))?;
        } else if self.asks() {
            self.say("A site file says where everything of a site is. Enter takes the answer in brackets; ctrl-c ends\nthis, and nothing is written before the last answer.");
            self.ask("site", 0, "name", None)?;
        }
        if self.request.out.is_none() {
            let Some(name) = self.draft.text_of("site", 0, "name") else {
                return Err(Failure::usage("the site has no name", "give it as in `deevnet-console init NAME`"));
            };
            self.path = open::places()?.sites_dir().join(format!("{name}.toml"));
            if std::fs::symlink_metadata(&self.path).is_ok() {
                return Err(write::exists(&self.path));
            }
        }
        Ok(())
    }

    fn flags(&mut self) -> Result<(), Failure> {
        let short = [("url", &self.request.proxmox_url), ("token", &self.request.proxmox_token)];
        for (key, value) in short {
            if let Some(value) = value {
                self.set("proxmox", 0, key, value).map_err(|e| refused(&format!("--proxmox-{key}"), &e))?;
            }
        }
        for set in &self.request.set {
            let usage = || {
                let shown = set.split('=').next().unwrap_or_default();
                Failure::usage(
                    format!("--set {shown}: this is not SECTION.KEY=VALUE"),
                    "for example --set proxmox.node=hv02",
                )
            };
            let (place, value) = set.split_once('=').ok_or_else(usage)?;
            let parts: Vec<&str> = place.split('.').collect();
            let (section, number, key) = match parts.as_slice() {
                [section, key] => (*section, 0, *key),
                [section, number, key] => {
                    let number = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).ok_or_else(usage)?;
                    (*section, number, *key)
                }
                _ => return Err(usage()),
            };
            let many = find(section, key).map_err(|e| refused(&format!("--set {place}"), &e))?.0.shape == Shape::Many;
            if number > 0 && !many {
                return Err(usage());
            }
            self.set(section, number, key, value).map_err(|e| refused(&format!("--set {place}"), &e))?;
        }
        Ok(())
    }

    /// Whether somebody can be asked.
    pub(super) const fn asks(&self) -> bool {
        self.prompt.is_some()
    }

    /// Explains something to whoever is asked.
    pub(super) fn say(&self, text: &str) {
        if let Some(prompt) = &self.prompt {
            prompt.say(text);
        }
    }

    pub(super) fn set(&mut self, section: &str, number: usize, key: &str, answer: &str) -> Result<(), Refused> {
        self.draft.set(section, number, key, answer, &self.path)
    }

    /// Sees to it that a key has an answer: a flag's, else the operator's, else the proposal. A key that may be left out is
    /// left out where the answer is empty.
    pub(super) fn ask(
        &mut self,
        section: &'static str,
        number: usize,
        key: &'static str,
        default: Option<String>,
    ) -> Result<(), Failure> {
        if self.draft.get(section, number, key).is_some() {
            return Ok(());
        }
        let default = default.or_else(|| self.found.get(&(section, key)).filter(|_| number == 0).cloned());
        let Some(prompt) = &mut self.prompt else {
            if let Some(default) = default {
                // A proposal that does not fit is none.
                let _ = self.set(section, number, key, &default);
            }
            return Ok(());
        };
        let (_, known) = find(section, key).map_err(|e| refused(key, &e))?;
        let needed = known.need == Need::Required
            || self.draft.missing().iter().any(|(s, _, k)| s.name == section && k.name == key);
        let empty = match (known.need, &default) {
            _ if needed => "",
            (_, Some(_)) => " (- leaves it out)",
            (Need::Default(value), None) => &format!(" (empty: {value})"),
            (_, None) => " (empty: none)",
        };
        let question = format!("[{section}] {key}, {}{empty}", known.doc);
        loop {
            let answer = prompt.line(&question, default.as_deref())?;
            if !needed && matches!(answer.as_str(), "" | "-") {
                return Ok(());
            }
            if answer.is_empty() {
                prompt.say(&format!("  This is needed: {}.", known.kind.describe()));
                continue;
            }
            match self.draft.set(section, number, key, &answer, &self.path) {
                Ok(()) => return Ok(()),
                Err(refused) => {
                    let help = refused.help.map(|help| format!(": {help}")).unwrap_or_default();
                    prompt.say(&format!("  Not taken: {}{help}", refused.message));
                }
            }
        }
    }

    /// The same for a key that may be left out in general, and not here.
    pub(super) fn ask_needed(&mut self, section: &'static str, key: &'static str) -> Result<(), Failure> {
        while self.asks() && self.draft.get(section, 0, key).is_none() {
            self.ask(section, 0, key, None)?;
        }
        Ok(())
    }

    /// One of a few words, by its first letter or whole; `default` where it is empty. Without anybody to ask: the default.
    pub(super) fn choose(
        &mut self,
        question: &str,
        words: &[&'static str],
        default: &'static str,
    ) -> Result<&'static str, Failure> {
        let Some(prompt) = &mut self.prompt else { return Ok(default) };
        loop {
            let answer =
                prompt.line(&format!("{question} ({})", words.join(", ")), Some(default))?.to_ascii_lowercase();
            let found = words.iter().find(|word| **word == answer);
            if let Some(word) = found.or_else(|| words.iter().find(|word| word.starts_with(&answer))) {
                return Ok(word);
            }
            prompt.say(&format!("  One of {}.", words.join(", ")));
        }
    }

    /// Asks again for one key that the operator names, after the whole did not fit together.
    pub(super) fn ask_again(&mut self) -> Result<(), Failure> {
        let Some(prompt) = &mut self.prompt else { return Ok(()) };
        let answer = prompt.line("Which answer shall be changed, as SECTION.KEY (empty gives up)", None)?;
        if answer.is_empty() {
            return Err(Failure::usage("given up; nothing was written", "run init again"));
        }
        let found = answer.split_once('.').map(|(section, key)| find(section, key));
        match found {
            Some(Ok((section, key))) => {
                self.draft.unset(section.name, 0, key.name);
                self.ask(section.name, 0, key.name, None)
            }
            _ => {
                prompt.say("  There is no such key.");
                Ok(())
            }
        }
    }

    /// Where a secret comes from. A file that is not there yet can be filled: what is typed is written at the end.
    pub(super) fn secret(&mut self, section: &'static str, key: &'static str) -> Result<(), Failure> {
        if self.draft.get(section, 0, key).is_some() || !self.asks() {
            return Ok(());
        }
        let name = self.draft.text_of("site", 0, "name").unwrap_or_default();
        let file = open::places()?.config().join("secrets").join(format!("{name}-{section}-{key}"));
        self.say("  Secrets stay outside of the site file: env:NAME, file:PATH or command:PROGRAM ARGUMENT.");
        self.ask(section, 0, key, Some(format!("file:{}", file.display())))?;
        let Some(SecretSource::File(path)) = self.draft.secret(section, key, &self.path) else { return Ok(()) };
        if std::fs::symlink_metadata(&path).is_ok() || self.typed.iter().any(|(other, _)| *other == path) {
            return Ok(());
        }
        let Some(prompt) = &mut self.prompt else { return Ok(()) };
        prompt
            .say(&format!("  {} is not there; what you type is written to it at the end, mode 0600.", path.display()));
        let secret = prompt.hidden("  The secret (not shown; empty: you write the file yourself)")?;
        if !secret.expose().is_empty() {
            self.typed.push((path, secret));
        }
        Ok(())
    }

    /// The secret itself, for a probe: as typed, else from its source. `Err` says why there is none.
    pub(super) fn read_secret(&self, section: &'static str, key: &'static str) -> Result<Zeroizing<String>, Failure> {
        let source = self.draft.secret(section, key, &self.path);
        let source = source.ok_or_else(|| Failure::plain(format!("[{section}] {key} is not known")))?;
        if let SecretSource::File(path) = &source
            && let Some((_, typed)) = self.typed.iter().find(|(other, _)| other == path)
        {
            return Ok(Zeroizing::new(typed.expose().to_owned()));
        }
        let read = self.block(async { source.read().await })?;
        read.map(|secret| Zeroizing::new(secret.expose().to_owned()))
            .map_err(|e| Failure::usage(e.to_string(), e.help().to_owned()))
    }

    /// Longest time of one step of a probe.
    pub(super) fn wait(&self) -> Duration {
        Duration::from_secs(u64::from(self.request.timeout))
    }

    /// Waits for `work`, or for a signal.
    pub(super) fn block<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let interrupted = async {
            let mut tick = tokio::time::interval(Duration::from_millis(100));
            loop {
                tick.tick().await;
                if let Some(ended) = self.prompt.as_ref().and_then(Prompt::ended) {
                    return ended;
                }
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                done = work => Ok(done),
                ended = interrupted => Err(Failure::from(ended)),
            }
        })
    }

    /// The path as the reader resolves relative ones.
    pub(super) fn at(&self) -> &Path {
        &self.path
    }
}
