//! Plans in files: what was asked for, and what it came to then.
//!
//! A file is not trusted: the plan is made anew from what was asked, and the steps in the file only tell whether it is the same
//! one that was looked at.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::fields::Fields;
use super::fields::Wanted;
use super::plan::{Plan, Preview};

/// Longest file that is read, in bytes.
pub const MOST: u64 = 4 << 20;
/// How long a saved plan may be carried out without a word.
pub const GOOD_FOR: SignedDuration = SignedDuration::from_hours(24);
const SCHEMA: &str = "deevnet-console/saved-plan/v2";

/// What a plan is made from: the name of its maker, and words. Never a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Name in the table of plans.
    pub plan: String,
    /// Words behind it.
    pub words: Vec<String>,
}

/// A plan as it was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    schema: String,
    /// What was asked for.
    pub asked: Asked,
    /// What it came to then.
    pub preview: Preview,
}

/// The text of a file that holds a plan.
///
/// # Errors
/// Where it cannot be put into words.
pub fn text(asked: &Asked, preview: &Preview) -> Result<String, serde_json::Error> {
    let saved = Saved { schema: SCHEMA.to_owned(), asked: asked.clone(), preview: preview.clone() };
    serde_json::to_string_pretty(&saved).map(|text| text + "\n")
}

/// The plan that such a text holds.
///
/// # Errors
/// What it is instead, in words.
pub fn read(text: &str) -> Result<Saved, String> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let head: Head = serde_json::from_str(text).map_err(|e| format!("is no saved plan: {e}"))?;
    if head.schema != SCHEMA {
        return Err(format!("is of the form {}, not {SCHEMA}: make the plan again", crate::text::clean(&head.schema)));
    }
    let saved: Saved = serde_json::from_str(text).map_err(|e| format!("is no plan of this version: {e}"))?;
    if saved.preview.looks.len() != saved.preview.plan.steps.len() {
        return Err("has not one look for each step".to_owned());
    }
    Ok(saved)
}

impl Saved {
    /// How long ago it was looked at.
    #[must_use]
    pub fn age(&self, now: Timestamp) -> SignedDuration {
        now.duration_since(self.preview.at)
    }

    /// What is otherwise in the plan that was made anew and looked at now, a sentence each; none where it is the same.
    #[must_use]
    pub fn differs(&self, newer: &Preview) -> Vec<String> {
        let steps = otherwise(&self.preview.plan, &newer.plan);
        if steps.is_empty() { self.preview.moved(newer) } else { steps }
    }
}

/// How a plan differs from one that was made before.
fn otherwise(then: &Plan, now: &Plan) -> Vec<String> {
    let mut all = Vec::new();
    for (what, then, now) in [("site", &then.site, &now.site), ("subject", &then.subject.name, &now.subject.name)] {
        if then != now {
            all.push(format!("the {what} was {then} and is {now}"));
        }
    }
    let named = |plan: &Plan| -> Vec<(String, Wanted)> {
        plan.steps.iter().map(|step| (step.object.ensure().name(), step.wanted.clone())).collect()
    };
    let (before, after) = (named(then), named(now));
    let lacks = |steps: &[(String, Wanted)], name: &str| !steps.iter().any(|(own, _)| own == name);
    all.extend(
        before.iter().filter(|(name, _)| lacks(&after, name)).map(|(name, _)| format!("no step any more: {name}")),
    );
    all.extend(after.iter().filter(|(name, _)| lacks(&before, name)).map(|(name, _)| format!("a new step: {name}")));
    if all.is_empty() {
        let pairs = before.iter().zip(&after);
        all.extend(pairs.filter_map(|((name, then), (other, now))| match name == other {
            true => wanted(then, now).map(|what| format!("{name}: {what}")),
            false => Some(format!("another order: {other} stands where {name} stood")),
        }));
    }
    if all.is_empty() && then.steps != now.steps {
        all.push("a step is about something else by the same name".to_owned());
    }
    all
}

fn wanted(then: &Wanted, now: &Wanted) -> Option<String> {
    match (then, now) {
        (Wanted::Present(then), Wanted::Present(now)) => {
            let value = |fields: &Fields, name: &String| fields.get(name).cloned().unwrap_or_else(|| "–".to_owned());
            let mut names = then.keys().chain(now.keys());
            let name = names.find(|name| then.get(*name) != now.get(*name))?;
            Some(format!("{name} was to be {} and is to be {}", value(then, name), value(now, name)))
        }
        (Wanted::Absent, Wanted::Absent) => None,
        (Wanted::Absent, _) => Some("was to go and is to be there".to_owned()),
        (_, Wanted::Absent) => Some("was to be there and is to go".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::fields::fields;
    use crate::provision::plan::Step;
    use crate::provision::testing::{plan, thing, world};

    async fn looked(steps: Vec<Step>) -> Preview {
        plan(steps).preview(&world(), super::super::journal::Notes::default()).await
    }

    fn step(id: &str, tag: &str) -> Step {
        Step::present(thing(id), fields([("tag", tag)]))
    }

    fn kept(preview: &Preview) -> Saved {
        let asked = Asked { plan: "onboard".to_owned(), words: vec!["picow".to_owned()] };
        read(&text(&asked, preview).expect("a text")).expect("a plan")
    }

    #[tokio::test]
    async fn what_is_otherwise_than_it_was_saved_is_named() {
        let saved = kept(&looked(vec![step("zone", "1"), step("vnet", "1")]).await);
        assert_eq!(saved.asked.words, ["picow"]);
        assert!(saved.differs(&looked(vec![step("zone", "1"), step("vnet", "1")]).await).is_empty());
        let other = saved.differs(&looked(vec![step("zone", "2"), step("vnet", "1")]).await);
        assert!(other.len() == 1 && other[0].contains("tag was to be 1 and is to be 2"), "{other:?}");
        let more = saved.differs(&looked(vec![step("zone", "1"), step("subnet", "1")]).await).join("; ");
        assert!(more.contains("no step any more") && more.contains("a new step"), "{more}");
        let world = world();
        world.bench.untold("zone", true);
        let untold = kept(&plan(vec![step("zone", "1")]).preview(&world, Default::default()).await);
        world.bench.untold("zone", false);
        let told = untold.differs(&plan(vec![step("zone", "1")]).preview(&world, Default::default()).await);
        assert_eq!(told, ["thing zone could not be told then, and can now"]);
        let order = saved.differs(&looked(vec![step("vnet", "1"), step("zone", "1")]).await);
        assert!(order[0].starts_with("another order"), "{order:?}");
    }

    #[test]
    fn files_of_other_forms_are_no_plans() {
        for (text, why) in [
            ("{}", "is no saved plan"),
            (r#"{"schema":"deevnet-console/saved-plan/v1"}"#, "make the plan again"),
            (r#"{"schema":"deevnet-console/saved-plan/v2"}"#, "is no plan of this version"),
        ] {
            let said = read(text).expect_err("no plan");
            assert!(said.contains(why), "{said}");
        }
    }
}
