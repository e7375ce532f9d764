//! The full-screen console, on a site or on the embedded lab.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{Global, LabArgs};
use super::{Code, Failure, lab, open};
use crate::console::file::TextFile;
use crate::console::theme::{self, Depth, Look};
use crate::console::{Model, keymap};
use crate::inventory::feed::{Clients, Feed};
use crate::runtime::who::who;
use crate::runtime::{self, End, Session, Workshop, clock};
use crate::site::Site;
use crate::terminal::{Capabilities, ColourDepth, TerminalError};

/// TOML files of the user in a folder of the configuration directory; none where there is no such folder.
fn user_files(dir: &Path) -> Result<Vec<TextFile>, Failure> {
    let unreadable = |path: &Path, e: &io::Error| {
        Failure::usage(format!("{}: {e}", path.display()), "make it readable, or move it away")
    };
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| unreadable(dir, &e))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| unreadable(dir, &e))?.path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|e| unreadable(&path, &e))?;
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        files.push(TextFile { name, path: path.display().to_string(), text });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Theme and keymap, as options, preferences and capabilities say.
pub(super) struct Style {
    pub(super) look: Arc<Look>,
    pub(super) keymap: Arc<keymap::Keymap>,
    themes: Vec<theme::Theme>,
}

/// Loads theme and keymap.
pub(super) fn style(global: &Global, depth: Depth, ascii: bool) -> Result<Style, Failure> {
    let places = open::places()?;
    let preferences = open::preferences(&places)?;
    let failed = |e: crate::console::file::FileError| Failure {
        code: Code::Usage,
        text: e.to_string(),
        help: e.help().map(str::to_owned),
    };
    let themes = user_files(&places.config().join("themes"))?;
    let keymaps = user_files(&places.config().join("keymaps"))?;
    let pick = |option: &Option<String>, preferred: Option<String>, fallback: &str| {
        option.clone().or(preferred).unwrap_or_else(|| fallback.to_owned())
    };
    let ascii = ascii || global.ascii || preferences.ascii == Some(true);
    let theme_name = pick(&global.theme, preferences.theme.clone(), "dark");
    let keymap_name = pick(&global.keymap, preferences.keymap.clone(), "default");
    Ok(Style {
        look: Arc::new(theme::load(&theme_name, &themes, depth, ascii).map_err(failed)?),
        keymap: Arc::new(keymap::load(&keymap_name, &keymaps).map_err(failed)?),
        themes: theme::all(&themes).map_err(failed)?,
    })
}

const fn depth(colours: ColourDepth) -> Depth {
    match colours {
        ColourDepth::None => Depth::None,
        ColourDepth::Ansi16 => Depth::Ansi16,
        ColourDepth::Indexed256 => Depth::Ansi256,
        ColourDepth::True => Depth::True,
    }
}

fn terminal(e: &TerminalError) -> Failure {
    Failure::usage(e.to_string(), e.help())
}

/// The console on a site.
pub(super) fn open(global: &Global) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let state = open::places()?.state_of(&site);
    open::runtime()?.block_on(run(global, &site, state, None))
}

/// The console on the embedded lab.
pub(super) fn demo(global: &Global, args: &LabArgs) -> Result<Code, Failure> {
    open::runtime()?.block_on(async {
        let lab = lab::start(args).await?;
        let site = lab::site_of(&lab)?;
        // Its journal ends with it: it is no change of a real site of that name.
        let state = lab.dir().join("state");
        let result = run(global, &site, state, Some("DEMO")).await;
        lab.shutdown().await;
        result
    })
}

async fn run(global: &Global, site: &Arc<Site>, state: PathBuf, mode: Option<&'static str>) -> Result<Code, Failure> {
    let capabilities = Capabilities::from_env(|name| std::env::var(name).ok()).map_err(|e| terminal(&e))?;
    let ascii = capabilities.charset == crate::text::Charset::Ascii;
    let style = style(global, depth(capabilities.colours), ascii)?;
    let clock = clock::system();
    let feed = Feed::start(site, Clients::connect(site).await, &clock);
    let mut model = Model::new(site.name.clone(), (80, 24), clock(), style.look, style.keymap);
    model.bundles = open::places().ok().map(|places| places.state_of(site).join("bundles"));
    model.mode_word = mode;
    model.changes.read_only = site.read_only;
    model.isolation.operator = crate::runtime::who::user();
    model.themes = style.themes.into();
    let workshop = Workshop { site: Arc::clone(site), state, who: who() };
    let session = Session { model, feed, clock, capabilities, workshop };
    match runtime::run(session).await.map_err(|e| terminal(&e))? {
        End::Quit => Ok(Code::Ok),
        // As if the signal that comes with it had been seen, and as a panic in the main thread would end.
        End::TerminalLost => Ok(Code::Signal(129)),
        End::Panicked => Ok(Code::Signal(101)),
        End::Signal(signal) => Ok(Code::Signal(signal.exit_code().unwrap_or(1))),
    }
}
