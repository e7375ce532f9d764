//! A site file in the making: answers are checked one by one as the reader would, and the text is written from the table
//! of keys.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::DeValue;

use super::base;
use super::keys::{Key, Kind, Need, SITE, Section, Shape};
use super::values::{Value, convert};
use crate::site::model::{SecretSource, Transport, Trust};
use crate::site::text::nearest;

/// An answer that cannot stand in a site file. Never holds the answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Why.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Refused {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()) }
    }
}

/// Answers so far, each as TOML. Sections and keys are those of [`SITE`].
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Section, which one of its kind, key → value.
    values: BTreeMap<(&'static str, usize), BTreeMap<&'static str, String>>,
}

/// The key `name` of the section `section`.
///
/// # Errors
/// [`Refused`] where there is none.
pub fn find(section: &str, name: &str) -> Result<(&'static Section, &'static Key), Refused> {
    let sections = || SITE.iter().filter(|s| !s.name.is_empty());
    let Some(found) = sections().find(|s| s.name == section) else {
        let help = match nearest(section, sections().map(|s| s.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("sections are {}", sections().map(|s| s.name).collect::<Vec<_>>().join(", ")),
        };
        return Err(Refused::new("there is no such section", help));
    };
    let Some(key) = found.key(name) else {
        let help = match nearest(name, found.keys.iter().map(|key| key.name)) {
            Some(near) => format!("did you mean `{section}.{near}`?"),
            None => format!("keys are {}", found.keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")),
        };
        return Err(Refused::new(format!("{} has no such key", found.title()), help));
    };
    Ok((found, key))
}

/// `answer` as the TOML of a value of `kind`. Besides TOML itself it may be bare: words of a list with commas between,
/// `env:NAME`, `file:PATH` or `command:PROGRAM ARGUMENT` for a secret, `ssh:HOST` or `command:…` for a transport.
fn toml_of(kind: Kind, answer: &str) -> Result<String, Refused> {
    let answer = answer.trim();
    if answer.starts_with(['{', '[', '"', '\'']) {
        return Ok(answer.to_owned());
    }
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let list =
        |words: &mut dyn Iterator<Item = &str>| format!("[{}]", words.map(quoted).collect::<Vec<_>>().join(", "));
    let sourced = |known: &[&str], message: &str, help: &str| {
        let found = answer.split_once(':').filter(|(name, _)| known.contains(name));
        match found {
            Some(("command", words)) => Ok(format!("{{ command = {} }}", list(&mut words.split_whitespace()))),
            Some((name, value)) => Ok(format!("{{ {name} = {} }}", quoted(value.trim()))),
            None => Err(Refused::new(message, help)),
        }
    };
    match kind {
        Kind::Integer(..) | Kind::Version(_) | Kind::Bool => Ok(answer.to_owned()),
        Kind::Words | Kind::Networks => {
            let split = |c: char| c == ',' || c.is_whitespace();
            Ok(list(&mut answer.split(split).filter(|word| !word.is_empty())))
        }
        Kind::Command => Ok(list(&mut answer.split_whitespace())),
        Kind::Aliases => {
            let pairs = answer.split(',').filter_map(|pair| pair.split_once('='));
            let pairs = pairs.map(|(alias, name)| format!("{} = {}", quoted(alias.trim()), quoted(name.trim())));
            Ok(format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", ")))
        }
        Kind::Secret => sourced(
            &["env", "file", "command"],
            "a secret is never written into this file, only where it comes from",
            "give env:NAME, file:PATH or command:PROGRAM ARGUMENT",
        ),
        Kind::Transport => {
            sourced(&["ssh", "command"], "this is not a way to a node", "give ssh:HOST or command:PROGRAM")
        }
        _ => Ok(quoted(answer)),
    }
}

impl Draft {
    /// Takes `answer` for a key; `number` counts sections of one kind from 0. `path` is where the file will be: relative
    /// paths start there.
    ///
    /// # Errors
    /// [`Refused`] for what the reader would refuse.
    pub fn set(&mut self, section: &str, number: usize, key: &str, answer: &str, path: &Path) -> Result<(), Refused> {
        let (section, key) = find(section, key)?;
        let text = toml_of(key.kind, answer)?;
        let expected = || Refused::new(format!("expected {}", key.kind.describe()), key.doc);
        let node = DeValue::parse(&text).map_err(|_| expected())?;
        if let Err(problem) = convert(key.kind, &node, &base(path)) {
            return Err(Refused { message: problem.message, help: problem.help.or_else(|| Some(key.doc.to_owned())) });
        }
        if text.contains(['\n', '\r']) {
            return Err(expected());
        }
        self.values.entry((section.name, number)).or_default().insert(key.name, text);
        Ok(())
    }

    /// Takes an answer back.
    pub fn unset(&mut self, section: &'static str, number: usize, key: &str) {
        if let Some(values) = self.values.get_mut(&(section, number)) {
            values.remove(key);
        }
    }

    /// Leaves a section out, with everything in it.
    pub fn leave_out(&mut self, section: &str) {
        self.values.retain(|(name, _), _| *name != section);
    }

    /// The value of a key as TOML.
    #[must_use]
    pub fn get(&self, section: &'static str, number: usize, key: &str) -> Option<&str> {
        self.values.get(&(section, number))?.get(key).map(String::as_str)
    }

    /// The value of a key that is a text.
    #[must_use]
    pub fn text_of(&self, section: &'static str, number: usize, key: &str) -> Option<String> {
        let text = self.get(section, number, key)?;
        DeValue::parse(text).ok()?.get_ref().as_str().map(str::to_owned)
    }

    fn value(&self, section: &'static str, number: usize, key: &str, path: &Path) -> Option<Value> {
        let (_, key) = find(section, key).ok()?;
        let node = DeValue::parse(self.get(section, number, key.name)?).ok()?;
        convert(key.kind, &node, &base(path)).ok()
    }

    /// Where a secret comes from.
    #[must_use]
    pub fn secret(&self, section: &'static str, key: &str, path: &Path) -> Option<SecretSource> {
        match self.value(section, 0, key, path)? {
            Value::Secret(source) => Some(source),
            _ => None,
        }
    }

    /// How an exit node is reached.
    #[must_use]
    pub fn transport(&self, number: usize, path: &Path) -> Option<Transport> {
        match self.value("exit_node", number, "transport", path)? {
            Value::Transport(transport) => Some(transport),
            _ => None,
        }
    }

    /// Origin and trust of a service, as far as they are answered.
    #[must_use]
    pub fn service(&self, section: &'static str, path: &Path) -> Option<(String, Trust)> {
        let Value::Url(origin) = self.value(section, 0, "url", path)? else { return None };
        let trust = match (self.value(section, 0, "fingerprint", path), self.value(section, 0, "ca_file", path)) {
            _ if !origin.tls => Trust::Plaintext,
            (Some(Value::Fingerprint(pin)), _) => Trust::Fingerprint(pin),
            (_, Some(Value::Path(file))) => Trust::CaFile(file),
            _ => Trust::System,
        };
        Some((origin.text, trust))
    }

    /// Whether plain HTTP to that service has to be accepted in so many words.
    #[must_use]
    pub fn is_plain_beyond_loopback(&self, section: &'static str, path: &Path) -> bool {
        matches!(self.value(section, 0, "url", path), Some(Value::Url(origin)) if !origin.tls && !origin.loopback)
    }

    /// Whether anything of `section` was answered.
    #[must_use]
    pub fn has(&self, section: &str) -> bool {
        self.values.keys().any(|(name, _)| *name == section)
    }

    /// How many sections of that kind there are.
    #[must_use]
    pub fn count(&self, section: &str) -> usize {
        self.values.keys().filter(|(name, _)| *name == section).count()
    }

    /// Keys that are still needed: section, number, key.
    #[must_use]
    pub fn missing(&self) -> Vec<(&'static Section, usize, &'static Key)> {
        let mut missing = Vec::new();
        for section in SITE.iter().filter(|s| s.shape != Shape::Top) {
            let mut numbers: Vec<usize> =
                self.values.keys().filter(|(name, _)| *name == section.name).map(|(_, number)| *number).collect();
            if numbers.is_empty() && section.required {
                numbers.push(0);
            }
            for number in numbers {
                let needed = section.keys.iter().filter(|key| self.needs(section, number, key));
                missing.extend(needed.map(|key| (section, number, key)));
            }
        }
        missing
    }

    fn needs(&self, section: &'static Section, number: usize, key: &Key) -> bool {
        if self.get(section.name, number, key.name).is_some() {
            return false;
        }
        let by_mode: &[&str] = match self.text_of("powerdns", 0, "mode").as_deref() {
            Some("api") => &["url", "api_key"],
            Some("tunnel") => &["url", "api_key", "tunnel"],
            _ => &[],
        };
        key.need == Need::Required || (section.name == "powerdns" && by_mode.contains(&key.name))
    }

    /// The file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text =
            "# A site of deevnet-console. docs/configuration.md describes every section and key.\nversion = 1\n"
                .to_owned();
        for section in SITE.iter().filter(|s| s.shape != Shape::Top) {
            let found: Vec<_> = self.values.iter().filter(|((name, _), _)| *name == section.name).collect();
            if found.is_empty() && !section.required {
                text.push_str(&format!("\n# {} is off. {}.\n", section.title(), capitalised(section.doc)));
            }
            for (_, values) in found {
                text.push_str(&format!("\n# {}.\n{}\n", capitalised(section.doc), section.title()));
                for key in section.keys {
                    if let Some(value) = values.get(key.name) {
                        text.push_str(&format!("{} = {value}\n", key.name));
                    }
                }
            }
        }
        text
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::Site;

    const PATH: &str = "/etc/deevnet-console/sites/mobile.toml";

    fn draft(answers: &[(&str, &str, &str)]) -> Draft {
        let mut draft = Draft::default();
        for (section, key, answer) in answers {
            draft.set(section, 0, key, answer, Path::new(PATH)).unwrap_or_else(|e| panic!("{section}.{key}: {e}"));
        }
        draft
    }

    const LEAST: &[(&str, &str, &str)] = &[
        ("site", "name", "mobile"),
        ("site", "domain", "mobile.example"),
        ("site", "octet", "20"),
        ("site", "aliases", "hv02=dv02hyp002p02"),
        ("numbering", "vrf_vni_base", "10000"),
        ("numbering", "vnet_vni_base", "20000"),
        ("numbering", "overlay", "10.20.128.0/18"),
        ("numbering", "asn", "65020"),
        ("numbering", "vmid_base", "2000"),
        ("numbering", "reserved_names", "api, tdns"),
        ("proxmox", "url", "https://10.20.99.22:8006"),
        ("proxmox", "token", "file:../secrets/pve"),
        ("proxmox", "node", "dv02hyp002p02"),
        ("proxmox", "controller", "evpn1"),
        ("exit_node", "name", "dv02hyp002p02"),
        ("exit_node", "transport", "ssh:hv02"),
        ("exit_node", "transit_interface", "vmbr0.50"),
        ("exit_node", "transit_address", "10.20.50.22"),
        ("exit_node", "transit_gateway", "10.20.50.1"),
    ];

    #[test]
    fn what_is_written_is_read_without_errors_and_has_a_comment_for_each_section() {
        let mut draft = draft(LEAST);
        assert!(draft.missing().is_empty());
        let text = draft.text();
        let site = Site::parse(&text, Path::new(PATH)).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(site.aliases["hv02"], "dv02hyp002p02");
        assert_eq!(site.numbering.reserved_names, ["api", "tdns"]);
        for section in SITE.iter().filter(|s| s.shape != Shape::Top) {
            assert!(text.contains(&section.title()), "{}", section.title());
        }
        let lines: Vec<&str> = text.lines().collect();
        let headed = lines.windows(2).filter(|pair| pair[1].starts_with('[')).all(|pair| pair[0].starts_with("# "));
        assert!(headed, "{text}");
        draft.set("powerdns", 0, "mode", "tunnel", Path::new(PATH)).unwrap();
        let missing: Vec<&str> = draft.missing().iter().map(|(_, _, key)| key.name).collect();
        assert_eq!(missing, ["url", "api_key", "tunnel", "dns"]);
        draft.leave_out("powerdns");
        assert!(draft.missing().is_empty() && !draft.has("powerdns"));
    }

    #[test]
    fn answers_are_refused_without_being_repeated() {
        let mut draft = Draft::default();
        for (section, key, answer) in [
            ("opnsense", "key", "c4n4ry"),
            ("proxmox", "url", "https://ops:c4n4ry@10.20.99.22"),
            ("site", "octet", "c4n4ry"),
            ("proxmox", "node", "c4n4ry c4n4ry"),
            ("proxmox", "fingerprint", "c4n4ry"),
            ("site", "name", "\"c4n4ry\"\n[evil]"),
            ("site", "c4n4ry", "x"),
            ("c4n4ry", "x", "x"),
        ] {
            let refused = draft.set(section, 0, key, answer, Path::new(PATH)).unwrap_err();
            assert!(!format!("{refused:?}").contains("c4n4ry"), "{section}.{key}: {refused:?}");
            assert!(refused.help.is_some(), "{section}.{key}");
        }
        assert_eq!(find("proxmox", "tokn").unwrap_err().help.unwrap(), "did you mean `proxmox.token`?");
        assert!(draft.values.is_empty());
    }

    #[test]
    fn a_second_exit_node_is_a_section_of_its_own() {
        let mut draft = draft(LEAST);
        for (_, key, answer) in LEAST.iter().filter(|(section, ..)| *section == "exit_node") {
            let answer = if *key == "name" { "dv02hyp003p02" } else { answer };
            draft.set("exit_node", 1, key, answer, Path::new(PATH)).unwrap();
        }
        let site = Site::parse(&draft.text(), Path::new(PATH)).unwrap();
        assert_eq!(site.exit_nodes.len(), 2);
        draft.unset("exit_node", 1, "transport");
        assert_eq!(draft.missing().len(), 1);
    }
}
