//! `render SCREEN`: one screen as text, for documents, tests and bug reports.

mod bundle;

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use super::args::{Global, Kind, RenderArgs};
use super::get::{self, Wanted};
use super::{Code, Failure, lab, open, screen};
use crate::console::list::{ListId, Scope};
use crate::console::model::Screen;
use crate::console::theme::Depth;
use crate::console::{Model, Msg, lists, nav, update, view};
use crate::inventory::Inventory;
use crate::inventory::feed::Feed;
use crate::runtime::clock;
use crate::site::Site;
use crate::terminal::{Frame, PaintOptions, Painter};

/// Runs the verb.
pub(super) fn run(global: &Global, request: &RenderArgs) -> Result<Code, Failure> {
    let size = size(&request.size)?;
    if let Some(dir) = &request.from {
        return bundle::draw(global, request, dir, size);
    }
    if bundle::SCREENS.contains(&request.screen.as_str()) {
        let text = format!("{} is a screen of what a check read", request.screen);
        return Err(Failure::usage(text, "keep it with `check WHAT --save DIR`, then render it with --from DIR"));
    }
    open::runtime()?.block_on(async {
        if request.demo {
            let lab = lab::start(&request.lab).await?;
            let site = lab::site_of(&lab)?;
            let result = draw(global, request, &site, size).await;
            lab.shutdown().await;
            result
        } else {
            draw(global, request, &open::site(global)?, size).await
        }
    })
}

fn size(text: &str) -> Result<(u16, u16), Failure> {
    let bad = || Failure::usage(format!("--size {text:?} is not WIDTHxHEIGHT"), "for example --size 120x40");
    let (w, h) = text.split_once(['x', '×']).ok_or_else(bad)?;
    let (w, h): (u16, u16) = (w.parse().map_err(|_| bad())?, h.parse().map_err(|_| bad())?);
    if (1..=1000).contains(&w) && (1..=500).contains(&h) { Ok((w, h)) } else { Err(bad()) }
}

/// The screen called `word`: a place, or a list at full width.
fn screen_of(request: &RenderArgs, inv: &Inventory) -> Result<Screen, Failure> {
    let tenant = || tenant_of(request.tenant.as_deref(), inv);
    Ok(match request.screen.as_str() {
        "tenants" => Screen::Tenants,
        "board" => Screen::Board { tenant: tenant()? },
        "overview" => Screen::Overview,
        "fabric" => Screen::Fabric,
        "activity" => Screen::Activity,
        "sources" => Screen::Sources,
        word => {
            let list = list_of(word)?;
            let scope = if request.tenant.is_some() { Scope::Tenant(tenant()?) } else { Scope::All };
            Screen::List { list, scope }
        }
    })
}

/// The tenant of the screen: the one named, or the first. One that is named is shown as unknown while nobody can tell
/// whether there is one.
fn tenant_of(named: Option<&str>, inv: &Inventory) -> Result<Arc<str>, Failure> {
    match (named, inv.tenants.first(), &inv.tenants_gap) {
        (Some(name), ..) => get::known_tenant(inv, name).map(|()| name.into()),
        (None, Some(first), _) => Ok(Arc::clone(&first.name)),
        (None, None, Some(gap)) => {
            Err(Failure::usage(format!("tenants are unknown: {}", gap.why), "name one with --tenant"))
        }
        (None, None, None) => Err(Failure::usage("there is no tenant to show", "see `get tenants`")),
    }
}

fn list_of(word: &str) -> Result<ListId, Failure> {
    lists::ALL.into_iter().find(|id| lists::def(*id).word == word).ok_or_else(|| {
        let places = ["tenants", "board", "overview", "fabric", "activity", "sources"];
        let words: Vec<&str> = places.into_iter().chain(lists::ALL.map(|id| lists::def(id).word)).collect();
        let near = crate::site::text::nearest(word, words.iter().copied());
        let help = near.map_or_else(|| format!("one of: {}", words.join(", ")), |n| format!("did you mean {n}?"));
        Failure::usage(format!("no screen is called {word:?}"), help)
    })
}

async fn draw(global: &Global, request: &RenderArgs, site: &Arc<Site>, size: (u16, u16)) -> Result<Code, Failure> {
    let style = style(global, request)?;
    let clock = clock::system();
    let mut feed = Feed::start(site, open::clients(site).await?, &clock);
    let wanted = Wanted { kinds: kinds(request), tenant: request.tenant.as_deref() };
    let inv = get::picture(&mut feed, wanted, Duration::from_secs(30)).await;
    let now = request.at.unwrap_or_else(|| clock());
    let mut model = Model::new(site.name.clone(), size, now, style.look, style.keymap);
    model.mode_word = request.demo.then_some("DEMO");
    let target = screen_of(request, &inv)?;
    update(&mut model, Msg::Inventory(inv));
    nav::from_home(&mut model, target);
    write_screen(&model, colour(request))
}

fn colour(request: &RenderArgs) -> bool {
    request.colour || std::io::stdout().is_terminal()
}

fn style(global: &Global, request: &RenderArgs) -> Result<screen::Style, Failure> {
    screen::style(global, if colour(request) { Depth::True } else { Depth::None }, false)
}

/// Writes what `model` shows.
fn write_screen(model: &Model, colour: bool) -> Result<Code, Failure> {
    let screenful = view(model);
    let mut out = std::io::stdout();
    if colour {
        let options = PaintOptions { synchronised: false, scroll_regions: false };
        let frame = Frame { buffer: screenful.buffer, scroll: None, cursor: None };
        let mut bytes = Vec::new();
        Painter::new(options).paint(frame, &mut bytes);
        out.write_all(&bytes)?;
        writeln!(out)?;
    } else {
        write_text(&mut out, &screenful.buffer)?;
    }
    Ok(Code::Ok)
}

/// What a screen shows. Names at the perimeter are asked for one by one: where they are the screen, or a tenant's.
fn kinds(request: &RenderArgs) -> &'static [Kind] {
    const ALL: &[Kind] = &[Kind::Records, Kind::Workloads, Kind::Vnets, Kind::Rules, Kind::Tenants];
    if request.screen == "records" || request.tenant.is_some() { ALL } else { ALL.get(1..).unwrap_or(ALL) }
}

/// Rows of cells as lines; a wide character's second cell is not written.
fn write_text(out: &mut dyn Write, buffer: &ratatui::buffer::Buffer) -> Result<(), Failure> {
    let area = buffer.area;
    for y in area.top()..area.bottom() {
        let mut line = String::new();
        let mut skip = 0;
        for x in area.left()..area.right() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer.cell((x, y)).map_or(" ", |c| c.symbol());
            skip = crate::text::width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
