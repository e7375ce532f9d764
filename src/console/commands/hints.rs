//! Key hints of the footer, from the keymap in force.

use crate::console::change::{Approve, Asks, Page, Sheet, run as running};
use crate::console::keymap::{self, Mode};
use crate::console::list::{ListId, Scope};
use crate::console::model::{Focus, Layout, Model, Overlay, Screen, TextForm};
use crate::console::update::{mode, screen_mode};

/// Hints at most.
pub const MOST: usize = 10;

/// (command line, word), the most useful first.
type Wish = (&'static str, &'static str);

/// (key, word) for the footer, those of the focused pane first, at most ten. After the first key of a sequence: how it
/// can go on. What has no key in the keymap in force is left out.
#[must_use]
pub fn hints(model: &Model) -> Vec<(String, String)> {
    if model.layout() == Layout::TooSmall {
        return keyed(model, Mode::Everywhere, &[("quit", "quit")]);
    }
    if !model.prefix.is_empty() {
        return continuations(model);
    }
    match &model.overlay {
        Overlay::None if matches!(model.screen(), Screen::Change(Page::Form)) => keyed(
            model,
            Mode::Field,
            &[("open", "to the plan"), ("complete", "next field"), ("back", "keep the draft and leave")],
        ),
        Overlay::None => keyed(model, mode(model), &on_screen(model)),
        Overlay::Help { .. } => {
            let mut out = keyed(model, Mode::Overlay, &[("up", "up"), ("down", "down")]);
            out.extend(typed_into(model, "search"));
            out
        }
        Overlay::Actions { .. } => {
            let mut out = keyed(model, Mode::Overlay, &[("up", "up"), ("down", "down"), ("open", "do")]);
            out.extend(typed_into(model, "narrow"));
            out
        }
        Overlay::Command { .. } => {
            let right = keymap::parse_sequence("right").map(|k| keymap::display(&k, model.look.glyphs.ascii));
            let mut out: Vec<_> = right.into_iter().map(|key| (key, "take".to_owned())).collect();
            out.extend(keyed(
                model,
                Mode::Field,
                &[("complete", "next"), ("up", "older"), ("down", "newer"), ("open", "run"), ("back", "close")],
            ));
            out
        }
        Overlay::Search { .. } => {
            keyed(model, Mode::Field, &[("open", "stay there"), ("back", "as before"), ("up", "up"), ("down", "down")])
        }
        Overlay::Save { .. } => keyed(model, Mode::Field, &[("open", "save"), ("back", "close")]),
        Overlay::Approve(open) => of_question_asked(model, open),
        Overlay::Paste(_) => keyed(model, Mode::Field, &[("open", "take it"), ("back", "close")]),
        Overlay::Filter { .. } => {
            keyed(model, Mode::Field, &[("open", "keep"), ("back", "as before"), ("up", "up"), ("down", "down")])
        }
        Overlay::Sort { .. } => keyed(
            model,
            Mode::Overlay,
            &[("up", "up"), ("down", "down"), ("open", "sort by it, again turns"), ("back", "close")],
        ),
        Overlay::Columns { .. } => {
            keyed(model, Mode::Overlay, &[("up", "up"), ("down", "down"), ("open", "show or hide"), ("back", "close")])
        }
    }
}

/// What leaves an overlay that letters are typed into, and what they do there.
fn typed_into(model: &Model, what: &str) -> Vec<(String, String)> {
    let mut out = keyed(model, Mode::Field, &[("back", "close")]);
    out.push(("type".into(), what.into()));
    out
}

fn on_screen(model: &Model) -> Vec<Wish> {
    let marked = model.focused_state().is_some_and(|s| !s.marks.is_empty());
    let filtered = model.focused_state().is_some_and(|s| !s.filter.is_empty());
    let back = if filtered {
        "clear filter"
    } else if marked {
        "unmark"
    } else {
        "back"
    };
    let rail = matches!(model.screen(), Screen::Tenants) && model.focus == Focus::Rail;
    let mut out: Vec<Wish> = Vec::new();
    if !rail || filtered || marked {
        out.push(("back", back));
    }
    match model.screen() {
        Screen::Text { form, .. } => out.extend(of_text(*form)),
        Screen::Resolve { .. } => out = of_question(model),
        Screen::Evidence { .. } => out = of_evidence(),
        Screen::Change(page) => {
            out = of_page(page);
            if running::strayed(model) {
                out.retain(|(line, _)| *line != "back");
                out.insert(0, ("back", "back to the whole"));
            }
            // Its key would take it back.
            out.retain(|(line, _)| *line != "write" || model.changes.armed.is_none());
        }
        Screen::Isolation { .. } | Screen::Cell { .. } => out = of_table(model),
        Screen::Diagnose { .. } | Screen::Finding { .. } => out = of_check(model),
        screen => out.extend(of_lists(model, screen)),
    }
    let listed = !model.screen().is_text() && !matches!(model.screen(), Screen::Isolation { .. } | Screen::Change(_));
    if listed || matches!(model.screen(), Screen::Text { .. }) {
        out.push(("refresh", "refresh"));
    }
    out.push(("help", "help"));
    let ready = |(line, _): &Wish| super::parse(line).is_ok_and(|(c, _)| c.availability(model).reason().is_none());
    out.retain(ready);
    fit(out)
}

fn of_text(form: TextForm) -> Vec<Wish> {
    let mut out = vec![("data", if form == TextForm::Yaml { "json" } else { "yaml" })];
    if form != TextForm::Describe {
        out.push(("describe", "describe"));
    }
    out.extend([("edit", "in $EDITOR"), ("copy", "copy"), ("page-down", "page"), ("actions", "actions")]);
    out
}

fn of_lists(model: &Model, screen: &Screen) -> Vec<Wish> {
    let mut out = vec![("open", if matches!(screen, Screen::Overview) { "go to it" } else { "open" })];
    if super::super::nav::stops(model).len() > 1 {
        out.push(("next-pane", "pane"));
    }
    out.extend([
        ("filter", "filter"),
        ("command", "command"),
        ("actions", "actions"),
        ("describe", "describe"),
        ("explain", "explain"),
    ]);
    match model.focused() {
        Some((ListId::Attention | ListId::Tenants, _)) => out.push(("next-finding", "next finding")),
        Some((list, scope)) if super::availability::by_tenant(list) => {
            out.push(("scope", if scope == Scope::All { "one tenant" } else { "all tenants" }));
        }
        _ => {}
    }
    out.push(if matches!(screen, Screen::List { .. }) { ("sort", "sort") } else { ("zoom", "zoom") });
    out
}

/// As many as there is room for.
fn fit(mut out: Vec<Wish>) -> Vec<Wish> {
    if out.len() > MOST {
        // Whoever sees several panes tries this key first.
        out.retain(|(line, _)| *line != "next-pane");
    }
    if out.len() > MOST {
        // Help stays: it has the rest.
        let help = out.pop();
        out.truncate(MOST - 1);
        out.extend(help);
    }
    out
}

fn of_question(model: &Model) -> Vec<Wish> {
    let open = model.question.as_ref().is_some_and(crate::console::resolve::Question::is_open);
    vec![
        ("back", if open { "give up" } else { "back" }),
        ("refresh", "ask again"),
        ("copy", "copy as Markdown"),
        ("command", "resolve NAME TYPE"),
        ("page-down", "page"),
    ]
}

fn of_table(model: &Model) -> Vec<Wish> {
    let open = model.inquiry.as_ref().is_some_and(crate::console::findings::Inquiry::is_open);
    let cell = matches!(model.screen(), Screen::Cell { .. });
    let mut out = vec![("back", if open { "give up" } else { "back" })];
    if !cell {
        out.extend([("next-pane", "cell"), ("open", "evidence")]);
    }
    out.extend([("paste", "paste a result"), ("refresh", "run again")]);
    out.push(("copy", if cell { "copy commands" } else { "copy as Markdown" }));
    out.extend(if cell { [("page-down", "page")] } else { [("next-finding", "next not blocked")] });
    out.push(("explain", "findings"));
    out
}

/// The keys of a question are its own, whatever the keymap.
fn of_question_asked(model: &Model, open: &Approve) -> Vec<(String, String)> {
    let words = match &open.asks {
        Asks::Yes => ("yes, run it", "cancel, nothing is sent"),
        Asks::Leave => ("leave after this step", "stay"),
        Asks::Name { last: true, .. } => ("run it: final", "cancel, nothing is sent"),
        Asks::Name { .. } => ("run it", "cancel, nothing is sent"),
    };
    let yes = open.key().map(|key| (key.to_string(), words.0.to_owned()));
    yes.into_iter().chain(keyed(model, Mode::Field, &[("back", words.1)])).collect()
}

fn of_page(page: &Page) -> Vec<Wish> {
    match page {
        Page::Form => Vec::new(),
        Page::Plan { .. } => vec![
            ("back", "back"),
            ("apply", "apply"),
            ("write", "write mode"),
            ("describe", "step"),
            ("data", "yaml"),
            ("save-bundle", "save"),
            ("refresh", "look again"),
        ],
        Page::Run { .. } => vec![
            ("step 1", "take a way on"),
            ("stop", "stop after this step"),
            ("handover", "hand over"),
            ("undo", "undo"),
            ("open", "log"),
            ("journal", "journal"),
            ("back", "leave it"),
        ],
        Page::Unfinished { .. } => vec![
            ("step 1", "resume"),
            ("step 2", "undo"),
            ("step 3", "later"),
            ("describe", "journal entry"),
            ("refresh", "look again"),
            ("quit", "quit"),
            ("back", "leave it"),
        ],
        Page::Journal { .. } => {
            vec![("back", "back"), ("open", "open"), ("undo", "undo"), ("command", "resume"), ("refresh", "refresh")]
        }
        Page::Text { of: Sheet::HandOver, .. } => vec![
            ("back", "back"),
            ("step 1", "save"),
            ("step 2", "key to a file"),
            ("step 3", "secret to the clipboard"),
            ("copy", "copy"),
            ("page-down", "page"),
            ("refresh", "read again"),
        ],
        Page::Text { .. } => vec![("back", "back"), ("page-down", "page")],
    }
}

fn of_check(model: &Model) -> Vec<Wish> {
    let open = model.inquiry.as_ref().is_some_and(crate::console::findings::Inquiry::is_open);
    let json = match model.screen() {
        Screen::Finding { json: true, .. } => "finding",
        _ => "JSON",
    };
    vec![
        ("back", if open { "give up" } else { "back" }),
        ("open", "evidence"),
        ("step 1", "next step"),
        ("refresh", "run again"),
        ("save-bundle", "save"),
        ("copy", "copy"),
        ("paste", "paste a result"),
        ("data", json),
        ("command", "command"),
    ]
}

fn of_evidence() -> Vec<Wish> {
    vec![
        ("back", "back"),
        ("search", "search"),
        ("next-match", "next match"),
        ("copy", "copy"),
        ("save-bundle", "save"),
        ("page-down", "page"),
        ("refresh", "run again"),
        ("step 1", "step"),
    ]
}

fn keyed(model: &Model, mode: Mode, wishes: &[Wish]) -> Vec<(String, String)> {
    let ascii = model.look.glyphs.ascii;
    let key = |line: &str| model.keymap.key_for(mode, line, ascii);
    wishes.iter().filter_map(|(line, word)| Some((key(line)?, (*word).to_owned()))).collect()
}

/// How an unfinished sequence can go on.
fn continuations(model: &Model) -> Vec<(String, String)> {
    let ascii = model.look.glyphs.ascii;
    let begun = model.prefix.len();
    let longer = model.keymap.bindings(mode(model)).filter(|b| b.keys.starts_with(&model.prefix));
    let hint = |b: &keymap::Binding| {
        let (command, rest) = super::parse(&b.line).ok()?;
        let word = if rest.is_empty() { command.title } else { rest };
        Some((keymap::display(b.keys.get(begun..)?, ascii), word.to_owned()))
    };
    longer.filter_map(hint).take(MOST).collect()
}

/// The key in force for a command line on the screen beneath any overlay, as it is shown.
#[must_use]
pub fn key_for(model: &Model, line: &str) -> Option<String> {
    model.keymap.key_for(screen_mode(model, model.screen()), line, model.look.glyphs.ascii)
}
