//! Screens of what a check left in a directory: no network, and the same bundle gives the same cells.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::super::args::{Global, RenderArgs};
use super::super::{Code, Failure, check};
use crate::console::findings::{Came, Found, Inquiry};
use crate::console::model::{Model, Screen};
use crate::console::{Msg, findings, isolation, nav, update};
use crate::diagnose::Diagnosis;
use crate::diagnose::collect::{Check, Wanted};
use crate::diagnose::evidence::{Evidence, load};
use crate::diagnose::facts::Facts;
use crate::diagnose::rules::matrix::Matrix;
use crate::inventory::{Readings, join};
use crate::site::Site;

/// What can be drawn of a bundle.
pub(super) const SCREENS: [&str; 6] = ["diagnose", "finding", "evidence", "path", "contract", "isolation"];

/// Draws a screen of the bundle in `dir`.
pub(super) fn draw(global: &Global, request: &RenderArgs, dir: &Path, size: (u16, u16)) -> Result<Code, Failure> {
    let screen = known(&request.screen)?;
    let evidence = load(dir).map_err(|e| Failure::usage(e.to_string(), e.help()))?;
    let site = site_of(&evidence, dir)?;
    let wanted = wanted(request, screen, &evidence);
    check::there(&evidence, &wanted, &site)?;
    let (began, ended) = read_at(&evidence);
    let now = request.at.or(ended).ok_or_else(|| {
        Failure::usage(
            format!("{} does not say when it was read", dir.display()),
            "give the moment to draw as now: --at",
        )
    })?;
    let style = super::style(global, request)?;
    let mut model = Model::new(site.name.clone(), size, now, style.look, style.keymap);
    model.mode_word = Some("BUNDLE");
    model.isolation.operator = crate::runtime::who::user();
    update(&mut model, Msg::Inventory(Arc::new(join(&site, &Readings::default(), 0))));
    let matrix = Matrix::of(&Facts::of(&evidence));
    let diagnosis = Diagnosis::of(&wanted, evidence, Vec::new());
    let at = ended.unwrap_or(now);
    let took = began.and_then(|began| Duration::try_from(at.duration_since(began)).ok()).unwrap_or_default();
    model.inquiry = Some(Inquiry {
        id: 1,
        check: wanted.check,
        tenant: wanted.tenant.as_deref().map(Arc::from),
        asked: began.unwrap_or(at),
        came: Came::Ended,
        found: Some(Found { diagnosis: Arc::new(diagnosis), at, took }),
    });
    (model.isolation.id, model.isolation.matrix) = (1, Some(Arc::new(matrix)));
    let target = shown(screen, &model)?;
    nav::from_home(&mut model, target);
    super::write_screen(&model, super::colour(request))
}

fn known(word: &str) -> Result<&'static str, Failure> {
    SCREENS.into_iter().find(|screen| *screen == word).ok_or_else(|| {
        let near = crate::site::text::nearest(word, SCREENS);
        let help =
            near.map_or_else(|| format!("one of: {}", SCREENS.join(", ")), |near| format!("did you mean {near}?"));
        Failure::usage(format!("no screen of a bundle is called {word:?}"), help)
    })
}

/// The site as the bundle keeps it: numbers and names on the screen are its.
fn site_of(evidence: &Evidence, dir: &Path) -> Result<Arc<Site>, Failure> {
    let facts = Facts::of(evidence);
    if let Some(site) = facts.site {
        return Ok(Arc::new(site.value));
    }
    let help = "`check … --save DIR` keeps it beside what was read; `explain DIR` tells the findings without it";
    let unreadable = facts.unreadable.iter().find(|u| u.file == "site.toml");
    let text = match unreadable {
        Some(bad) => format!("{}/site.toml: {}", dir.display(), bad.why),
        None => format!("{} holds no site.toml: of which site it is, is missing", dir.display()),
    };
    Err(Failure::usage(text, help))
}

/// What the bundle was asked, narrowed to what the screen is about. One that no check left is asked about everything.
fn wanted(request: &RenderArgs, screen: &str, evidence: &Evidence) -> Wanted {
    let asked = evidence.question.as_deref().and_then(Wanted::asked).unwrap_or_else(|| Wanted::of(Check::All, None));
    let check = match screen {
        "path" if !asked.check.has_path() => Check::Egress,
        "contract" => Check::Contract,
        "isolation" => Check::Isolation,
        _ => asked.check,
    };
    let tenant = request.tenant.clone().or_else(|| asked.tenant.clone());
    let workload = asked.workload.clone().filter(|_| tenant == asked.tenant);
    Wanted { check, tenant, workload, keys: asked.keys }
}

/// When the first and the last item came.
fn read_at(evidence: &Evidence) -> (Option<Timestamp>, Option<Timestamp>) {
    let at = || evidence.items.iter().filter_map(|item| item.at);
    let end = evidence.items.iter().filter_map(|item| item.at?.checked_add(item.took.unwrap_or_default()).ok());
    (at().min(), end.max())
}

fn shown(screen: &str, model: &Model) -> Result<Screen, Failure> {
    let inquiry = model.inquiry.as_ref();
    Ok(match screen {
        "isolation" => isolation::screen(),
        "finding" => {
            let first = inquiry.and_then(Inquiry::headline).ok_or_else(|| {
                Failure::usage("nothing was found in this bundle", "render diagnose shows what was looked at")
            })?;
            Screen::Finding { key: Some(first.key()), json: false, scroll: 0 }
        }
        "evidence" => {
            let spot = findings::first(model).ok_or_else(|| {
                Failure::usage(
                    "nothing in this bundle has evidence to show",
                    "render diagnose shows what was looked at",
                )
            })?;
            let lines = inquiry.map(|inquiry| findings::lines(inquiry, &spot, model.look.glyphs)).unwrap_or_default();
            Screen::Evidence { spot: Some(spot), lines: lines.into(), search: String::new(), scroll: 0 }
        }
        _ => Screen::diagnose(),
    })
}
