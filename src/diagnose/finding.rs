//! What a diagnosis says: findings with typed facts, what passed, what is unknown and why.

use serde::Serialize;

use crate::site::names::TenantName;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// To be known, nothing to be done.
    Info,
    /// To be looked at: it will break, or is weaker than it seems.
    Warning,
    /// Broken, or open to somebody it must not be open to.
    Fault,
}

/// Where a fault sits; the order is that of the path from a workload outwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Whether the console may and can look at all.
    Access,
    /// Zones, VNets, subnets, controllers, and what nodes made of them.
    Fabric,
    /// Virtual machines and their agents.
    Workload,
    /// From the workload to the internet, by way of an exit node.
    Egress,
    /// Between tenants.
    Isolation,
    /// Rules, translation and routes of OPNsense.
    Perimeter,
    /// Zones, records, forwards, resolvers, updates.
    Dns,
    /// Delivery of configuration.
    Bootstrap,
}

/// What a finding is about: a kind the field knows (`tenant`, `node`, `zone`, `subnet`, `vnet`, `workload`, `rule`,
/// `name`, `source`, `server`, `cluster`, `token`, `privilege`) and its name, cleaned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Subject {
    /// Kind.
    pub kind: &'static str,
    /// Name.
    pub name: String,
}

impl Subject {
    /// A subject. The name comes from evidence and is cleaned here.
    pub fn new(kind: &'static str, name: impl AsRef<str>) -> Self {
        Self { kind, name: crate::text::clean(name.as_ref()).into_owned() }
    }
}

/// One typed fact a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Fact {
    /// What, dotted and stable: `zone.exit-nodes`, `subnet.snat`.
    pub key: &'static str,
    /// Of what, cleaned.
    pub subject: String,
    /// Value, cleaned.
    pub value: String,
}

/// A step that is offered. Nothing is done without consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Next {
    /// Stable id: `set-exit-nodes`.
    pub id: &'static str,
    /// In words.
    pub text: String,
    /// Danger level of screens.md: 0 looks, 1 one object, 2 one tenant, 3 shared or final.
    pub danger: u8,
    /// The command to run elsewhere, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Identity of a finding within a report.
pub type Key = (&'static str, Subject);

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Id of the catalogue.
    pub id: &'static str,
    /// Severity.
    pub severity: Severity,
    /// Layer.
    pub layer: Layer,
    /// Subject: a node-wide fault belongs to the node.
    pub subject: Subject,
    /// Whom it reaches, cleaned; counted once.
    pub affects: Vec<String>,
    /// One sentence an operator understands.
    pub title: String,
    /// What it rests on.
    pub facts: Vec<Fact>,
    /// The finding of which this is a consequence.
    pub caused_by: Option<Key>,
    /// What was not tested, and what would.
    pub not_tested: Vec<String>,
    /// Next steps, the first one first.
    pub next: Vec<Next>,
    /// Files of the evidence it rests on.
    pub evidence: Vec<String>,
}

impl Finding {
    /// Its identity.
    #[must_use]
    pub fn key(&self) -> Key {
        (self.id, self.subject.clone())
    }

    /// Adds a fact, once. Subject and value come from evidence and are cleaned here.
    #[must_use]
    pub fn fact(mut self, key: &'static str, subject: impl AsRef<str>, value: impl ToString) -> Self {
        let clean = |text: &str| crate::text::clean(text).into_owned();
        let fact = Fact { key, subject: clean(subject.as_ref()), value: clean(&value.to_string()) };
        if !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
        self
    }

    /// Adds a next step. Its words may hold names from evidence and are cleaned here.
    #[must_use]
    pub fn next(mut self, id: &'static str, danger: u8, text: impl Into<String>) -> Self {
        let text = crate::text::clean(&text.into()).into_owned();
        self.next.push(Next { id, text, danger, command: None });
        self
    }

    /// Gives the last next step its command. One key copies it to a shell: where a name from evidence would make it more
    /// than one plain command, there is none.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        let command = Some(command.into()).filter(|command| is_plain(command));
        if let (Some(last), Some(command)) = (self.next.last_mut(), command) {
            last.command = Some(command);
        }
        self
    }

    /// The same of a command that names `tenant`: none for what is no tenant's name.
    #[must_use]
    pub fn command_for(self, tenant: &str, command: impl Into<String>) -> Self {
        if tenant.parse::<TenantName>().is_ok() { self.command(command) } else { self }
    }

    /// Says whom it reaches, each once.
    #[must_use]
    pub fn affects(mut self, who: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        for who in who {
            let who = crate::text::clean(who.as_ref()).into_owned();
            if !self.affects.contains(&who) {
                self.affects.push(who);
            }
        }
        self
    }

    /// Says what was not tested.
    #[must_use]
    pub fn not_tested(mut self, what: impl Into<String>) -> Self {
        self.not_tested.push(what.into());
        self
    }

    /// Hangs it under its cause.
    #[must_use]
    pub fn caused_by(mut self, cause: Option<Key>) -> Self {
        self.caused_by = cause;
        self
    }
}

/// Whether a shell takes `command` for one command of plain words, some of them in single quotes.
fn is_plain(command: &str) -> bool {
    let bare = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || " ._-/:@=,+%".contains(c));
    let quoted = |text: &str| text.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    let parts: Vec<&str> = command.split('\'').collect();
    let right = |(at, part): (usize, &&str)| if at % 2 == 0 { bare(part) } else { quoted(part) };
    parts.len() % 2 == 1 && parts.iter().enumerate().all(right)
}

/// Something that could not be said, and the input that is missing for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unknown {
    /// The input: what and where, e.g. `the NAT rules of hv02`.
    pub missing: String,
    /// Why, where the evidence says it: denied, no answer, not read.
    pub why: Option<String>,
    /// Ids that could not be judged because of it.
    pub ids: Vec<&'static str>,
    /// Of whom it is missing: of these alone, which may be of nobody; `None` = of everybody, or that is not told.
    #[serde(skip)]
    pub about: Option<Vec<Subject>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(command: &str) -> Option<String> {
        let finding = Finding {
            id: "x",
            severity: Severity::Info,
            layer: Layer::Fabric,
            subject: Subject::new("zone", "eds"),
            affects: Vec::new(),
            title: String::new(),
            facts: Vec::new(),
            caused_by: None,
            not_tested: Vec::new(),
            next: Vec::new(),
            evidence: Vec::new(),
        };
        let mut finding = finding.next("look", 0, "look at e\u{1b}[2Jds").command(command);
        assert!(!finding.next.iter().any(|next| next.text.contains('\u{1b}')));
        let named = finding.clone().next("again", 0, "").command_for("x;id", command);
        assert!(named.next.last().is_some_and(|next| next.command.is_none()));
        finding.next.pop().and_then(|next| next.command)
    }

    #[test]
    fn what_is_told_twice_is_kept_once() {
        let mut said = super::super::rules::Said::default();
        let rule = super::super::rules::rule("sdn-pending").unwrap();
        let finding = super::super::rules::Out::new(rule, &mut said).finding(Subject::new("zone", "eds"), "");
        let finding = finding.affects(["eds", "tdemo", "eds"]).affects(["tdemo"]);
        let finding = finding.fact("zone.vnet", "eds", "eds0").fact("zone.vnet", "eds", "eds0");
        assert_eq!((finding.affects, finding.facts.len()), (vec!["eds".to_owned(), "tdemo".to_owned()], 1));
    }

    #[test]
    fn a_command_with_a_name_that_a_shell_would_run_is_none() {
        for plain in [
            "vtysh -c 'show running-config'",
            "pveum acl modify / --tokens 'root@pam!console' --roles PVEAuditor",
            "sysctl -w net.ipv4.conf.all.rp_filter=0",
        ] {
            assert_eq!(step(plain).as_deref(), Some(plain));
        }
        for name in ["x;id", "$(id)", "`id`", "x\nid", "x|id", "x>y", "x&", "it's", "e\u{202e}ds", "x\tid"] {
            assert_eq!(step(&format!("ip route show vrf vrf_{name}")), None, "{name:?}");
        }
        assert_eq!(step("pveum acl modify / --tokens ''; id; '' --roles PVEAuditor"), None, "out of its quotes");
    }
}
