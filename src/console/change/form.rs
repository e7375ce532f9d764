//! What is asked before a tenant is onboarded, checked while it is typed, against the picture alone: no letter waits for a
//! back end.

use std::str::FromStr as _;

use tui_input::Input as Field;

use super::{Page, Wish, proposal, show};
use crate::console::model::Model;
use crate::console::msg::{Effect, Notice};
use crate::console::widgets::format;
use crate::inventory::{Class, Inventory};
use crate::site::names::{TenantName, WorkloadName};
use crate::site::numbering::TenantIndex;

/// Indices that are given out; the last one is kept for drills.
const ALLOCATABLE: u8 = 62;

/// A field: its key among the words of the wish, its label.
pub type Asked = (&'static str, &'static str);

/// What is asked. The first goes without a key.
pub const ASKED: [Asked; 5] =
    [("name", "Name"), ("index", "Index"), ("workload", "First VM"), ("cores", "Cores"), ("memory", "Memory MiB")];

/// A form that is filled in.
#[derive(Debug, Clone, Default)]
pub struct Form {
    /// Texts, in the order of [`ASKED`].
    pub fields: [Field; ASKED.len()],
    /// The field with the keys.
    pub at: usize,
}

/// A check of what was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What is checked.
    pub label: String,
    /// What it comes to: fine, fault, unknown, or in progress.
    pub class: Class,
    /// Why, and what to do, where it is not fine.
    pub why: Option<String>,
}

fn check(label: impl Into<String>, class: Class, why: Option<String>) -> Check {
    Check { label: label.into(), class, why }
}

impl Form {
    /// Text of a field.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        let at = ASKED.iter().position(|(own, _)| *own == key);
        at.and_then(|at| self.fields.get(at)).map_or("", |field| field.value().trim())
    }

    /// The wish it comes to. What is left out is chosen when the plan is made, by what is there then.
    #[must_use]
    pub fn wish(&self) -> Wish {
        let typed = |(key, _): &Asked| Some(format!("{key}={}", self.text(key))).filter(|_| !self.text(key).is_empty());
        let others = ASKED.iter().skip(1).filter_map(typed);
        Wish { name: "onboard", words: std::iter::once(self.text("name").to_owned()).chain(others).collect() }
    }
}

/// The lowest index that nobody has, as far as the picture knows all.
#[must_use]
pub fn lowest(inv: &Inventory) -> Option<u32> {
    let used = |n: &u32| inv.tenants.iter().any(|t| u32::from(t.index) == *n);
    (1..=u32::from(ALLOCATABLE)).find(|n| !used(n)).filter(|_| inv.tenants_gap.is_none())
}

/// Opens the form, with a name where one was given; what was typed before is kept.
pub fn open(model: &mut Model, name: Option<&str>) -> Vec<Effect> {
    let form = model.changes.form.get_or_insert_default();
    if let Some(name) = name {
        *form = Form::default();
        if let Some(field) = form.fields.first_mut() {
            *field = Field::new(name.to_owned());
        }
    }
    form.at = 0;
    if !matches!(super::page(model), Some(Page::Form)) {
        show(model, Page::Form);
    }
    Vec::new()
}

/// The field with the keys, where the form is on screen.
pub fn field(model: &mut Model) -> Option<&mut Field> {
    if !matches!(super::page(model), Some(Page::Form)) {
        return None;
    }
    let form = model.changes.form.as_mut()?;
    form.fields.get_mut(form.at)
}

/// To the next field, or the one before it.
pub fn turn(model: &mut Model, by: isize) {
    if let Some(form) = &mut model.changes.form {
        let len = form.fields.len();
        form.at = if by > 0 { form.at + 1 } else { form.at + len - 1 } % len;
    }
}

/// Enter: on to the plan, where nothing speaks against it.
pub fn next(model: &mut Model) -> Vec<Effect> {
    let checks = checks(model);
    let failed = checks.iter().filter(|check| check.class == Class::Fault).count();
    let Some(form) = &model.changes.form else { return Vec::new() };
    if form.text("name").is_empty() {
        return Vec::new();
    }
    if failed > 0 {
        let text = format!("{} cannot go on: {} failed", form.text("name"), format::plural(failed, "check"));
        model.say(Notice::warning(text));
        return Vec::new();
    }
    let wish = form.wish();
    proposal::ask(model, wish)
}

/// The checks of what is typed now.
#[must_use]
pub fn checks(model: &Model) -> Vec<Check> {
    let Some(form) = &model.changes.form else { return Vec::new() };
    let typed = form.text("name");
    let mut out = Vec::new();
    let name = TenantName::from_str(typed);
    out.push(match &name {
        _ if typed.is_empty() => check("a name", Class::Progress, None),
        Err(e) => check("letters, digits, 2–8 long", Class::Fault, Some(format!("{e}; {}", e.help()))),
        Ok(name) => match name.advice_for_new() {
            None => check("letters, digits, 3–8 long", Class::Fine, None),
            Some(advice) => check("letters, digits, 3–8 long", Class::Fault, Some(advice.to_owned())),
        },
    });
    let Some(inv) = model.picture() else {
        out.push(check("the site", Class::Progress, None));
        return out;
    };
    if let Ok(name) = &name {
        out.extend(of_name(inv, name));
    }
    out.push(of_index(inv, form.text("index")));
    out.extend(of_first(form));
    out.push(of_pending(inv, typed));
    out.push(check("SDN lock: is tried at apply", Class::Progress, None));
    out
}

fn of_name(inv: &Inventory, name: &TenantName) -> Vec<Check> {
    let unknown = inv.tenants_gap.as_ref().map(|gap| format!("the list of tenants is not known: {}", gap.why));
    let taken = inv.tenants.iter().find(|tenant| *tenant.name == *name.as_str());
    let mut out = vec![match (taken, &unknown) {
        (Some(tenant), _) => {
            let why = format!("{name} is tenant {} of this site. Take another name.", tenant.index);
            check("not a tenant yet", Class::Fault, Some(why))
        }
        (None, Some(why)) => check("not a tenant yet", Class::Unknown, Some(why.clone())),
        (None, None) => check("not a tenant yet", Class::Fine, None),
    }];
    let names = inv.tenants.iter().map(|tenant| &*tenant.name);
    let vnets = inv.vnets.iter().map(|vnet| &*vnet.vnet);
    let conflicts = name.conflicts(&inv.site.numbering, names, vnets);
    let why = conflicts.first().map(|conflict| format!("{conflict}. Change the name; this one cannot be made."));
    let label = "no other name or VNet id in its way";
    out.push(match (why, unknown) {
        (Some(why), _) => check(label, Class::Fault, Some(why)),
        (None, Some(why)) => check(label, Class::Unknown, Some(why)),
        (None, None) => check(label, Class::Fine, None),
    });
    let zone = name.forward_zone(&inv.site.domain);
    let served = inv.zones.iter().find(|row| *row.zone == *zone && row.exists != Ok(false));
    out.push(match served {
        Some(row) if row.exists == Ok(true) => {
            let why = format!("the zone {zone} is served already. Ask whose it is, or take another name.");
            check("free in DNS", Class::Fault, Some(why))
        }
        Some(_) => check("free in DNS", Class::Unknown, Some(format!("whether {zone} is served is not known"))),
        None if inv.records_gap.is_some() => {
            check("free in DNS", Class::Unknown, Some("the zones were not read".to_owned()))
        }
        None => check("free in DNS", Class::Fine, None),
    });
    out
}

fn of_index(inv: &Inventory, typed: &str) -> Check {
    if let Some(gap) = &inv.tenants_gap {
        return check(
            "an index is free",
            Class::Unknown,
            Some(format!("the list of tenants is not known: {}", gap.why)),
        );
    }
    if typed.is_empty() {
        return match lowest(inv) {
            Some(index) => check(format!("index {index} is free"), Class::Fine, None),
            None => check("an index is free", Class::Fault, Some("all indices are taken".to_owned())),
        };
    }
    let index = typed.parse().ok().and_then(|number| TenantIndex::new(number).ok());
    let Some(index) = index else {
        return check(
            "the index",
            Class::Fault,
            Some(format!("{typed:?} is no index: give one from 1 to {ALLOCATABLE}")),
        );
    };
    match inv.tenants.iter().find(|tenant| u64::from(tenant.index) == u64::from(index.get())) {
        Some(tenant) => {
            let free = lowest(inv).map_or_else(String::new, |index| format!("; the lowest free one is {index}"));
            check(
                format!("index {typed} is free"),
                Class::Fault,
                Some(format!("index {typed} is {}'s{free}", tenant.name)),
            )
        }
        None => check(format!("index {typed} is free"), Class::Fine, None),
    }
}

/// The first workload, where one is asked for.
fn of_first(form: &Form) -> Vec<Check> {
    let mut out = Vec::new();
    let (name, mut numbers) =
        (form.text("workload"), ["cores", "memory"].into_iter().filter(|k| !form.text(k).is_empty()));
    if !name.is_empty() {
        out.push(match name.parse::<WorkloadName>() {
            Ok(_) => check("a name for the first VM", Class::Fine, None),
            Err(e) => check("a name for the first VM", Class::Fault, Some(format!("{e}; {}", e.help()))),
        });
    }
    let no_number = |key: &&str| form.text(key).parse::<u32>().ok().is_none_or(|number| number == 0);
    if let Some(bad) = numbers.clone().find(no_number) {
        let why = format!("{bad}: {:?} is no number above 0", form.text(bad));
        out.push(check("the size of the first VM", Class::Fault, Some(why)));
    } else if name.is_empty() && numbers.next().is_some() {
        let why = "a size without a VM: name the first VM, or leave its size out".to_owned();
        out.push(check("the size of the first VM", Class::Fault, Some(why)));
    }
    out
}

fn of_pending(inv: &Inventory, name: &str) -> Check {
    let label = "no SDN edit of others waits";
    match &inv.fabric.pending {
        Err(gap) => check(label, Class::Unknown, Some(format!("what waits is not known: {}", gap.why))),
        Ok(pending) => {
            let mut others = pending.iter().filter(|edit| edit.tenant.as_deref() != Some(name) || name.is_empty());
            match others.next() {
                None => check(label, Class::Fine, None),
                Some(first) => {
                    let by = first.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
                    let more = match others.count() {
                        0 => String::new(),
                        n => format!(", and {n} more"),
                    };
                    let why = format!(
                        "{} {}{by}{more} would go live with your apply. Ask for it to be applied or dropped; the plan asks for the \
                         name typed back otherwise.",
                        first.kind, first.id
                    );
                    check("SDN edits of others wait", Class::Warning, Some(why))
                }
            }
        }
    }
}
