//! What the terminal can do, as far as its environment tells.
//!
//! Nothing is asked of the terminal itself: answers would arrive between the first keys, late or never, and where the
//! decoder does not know them they would be taken for typing. Sequences that a terminal does not know, such as
//! synchronised output, are ignored by it (ECMA-48 §5.4), so knowing less costs nothing.

use super::{error::TerminalError, painter::PaintOptions};
use crate::text::Charset;

/// How many colours may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColourDepth {
    /// None: `NO_COLOR` is set, or the terminal is monochrome. Bold, dim and reverse remain.
    None,
    /// The sixteen named colours of the user's palette.
    Ansi16,
    /// The 256 indexed colours.
    Indexed256,
    /// 24 bits.
    True,
}

/// What stands between the console and the terminal that the operator sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Multiplexer {
    /// Nothing that is known.
    None,
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

/// The abilities of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Which colours the theme may resolve to.
    pub colours: ColourDepth,
    /// Which characters our own marks may use.
    pub charset: Charset,
    /// What the painter may use.
    pub paint: PaintOptions,
    /// How clipboard strings must be wrapped.
    pub multiplexer: Multiplexer,
}

impl Capabilities {
    /// Reads the environment through `get`, which returns the value of a variable.
    ///
    /// # Errors
    /// [`TerminalError::Unsuitable`] when `TERM` is missing or names a terminal that cannot place text.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Self, TerminalError> {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let term = get("TERM").unwrap_or_default();
        if matches!(term.as_str(), "" | "dumb" | "unknown" | "emacs") {
            return Err(TerminalError::Unsuitable { term });
        }
        let multiplexer = multiplexer(&term, &get);
        let colours =
            if get("NO_COLOR").is_some() { ColourDepth::None } else { colours(&term, multiplexer, get("COLORTERM")) };
        Ok(Self {
            colours,
            charset: charset(&term, &get),
            paint: PaintOptions { synchronised: !is_old(&term), scroll_regions: has_scroll_regions(&term) },
            multiplexer,
        })
    }
}

fn multiplexer(term: &str, get: &impl Fn(&str) -> Option<String>) -> Multiplexer {
    // Over ssh the variables of the multiplexer stay behind, but its TERM comes along.
    if get("TMUX").is_some() || term.starts_with("tmux") {
        Multiplexer::Tmux
    } else if get("STY").is_some() || term.starts_with("screen") {
        Multiplexer::Screen
    } else {
        Multiplexer::None
    }
}

fn colours(term: &str, multiplexer: Multiplexer, colorterm: Option<String>) -> ColourDepth {
    const TRUE_COLOUR: [&str; 6] = ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour"];
    if term.starts_with("vt") {
        return ColourDepth::None;
    }
    let claimed = colorterm.is_some_and(|value| matches!(value.as_str(), "truecolor" | "24bit"));
    let known = term.ends_with("-direct") || TRUE_COLOUR.iter().any(|name| term.starts_with(name));
    // GNU screen passes COLORTERM on but not the colours.
    if (claimed && multiplexer != Multiplexer::Screen && term != "linux") || known {
        ColourDepth::True
    } else if term.contains("256col") {
        ColourDepth::Indexed256
    } else {
        ColourDepth::Ansi16
    }
}

/// By the locale, in POSIX order of precedence. The Linux console has too few glyphs for our marks.
fn charset(term: &str, get: &impl Fn(&str) -> Option<String>) -> Charset {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(get).unwrap_or_default().to_ascii_lowercase();
    let unicode = locale.contains("utf-8") || locale.contains("utf8");
    if unicode && term != "linux" && !is_old(term) { Charset::Unicode } else { Charset::Ascii }
}

/// Terminals, or what calls itself so, from before private modes were many.
fn is_old(term: &str) -> bool {
    term.starts_with("vt") || term.starts_with("ansi")
}

/// Only where SU, SD and DECSTBM are known to work together; elsewhere rows are written again.
fn has_scroll_regions(term: &str) -> bool {
    const KNOWN: [&str; 16] = [
        "xterm",
        "tmux",
        "screen",
        "linux",
        "rxvt",
        "alacritty",
        "foot",
        "wezterm",
        "kitty",
        "contour",
        "konsole",
        "gnome",
        "vte",
        "st-",
        "iterm",
        "mintty",
    ];
    let lower = term.to_ascii_lowercase();
    lower == "st" || KNOWN.iter().any(|name| lower.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(env: &str) -> Result<Capabilities, TerminalError> {
        Capabilities::from_env(|name| {
            env.split(' ').filter_map(|pair| pair.split_once('=')).find(|(n, _)| *n == name).map(|(_, v)| v.to_owned())
        })
    }

    #[test]
    fn a_terminal_that_cannot_place_text_is_refused_with_a_remedy() {
        for env in ["", "TERM=", "TERM=dumb"] {
            let error = caps(env).unwrap_err();
            assert!(error.to_string().contains("TERM"), "{error}");
            assert!(error.help().contains("xterm-256color"));
        }
    }

    #[test]
    fn colour_depth_follows_the_environment() {
        use ColourDepth::{Ansi16, Indexed256, None, True};
        for (env, wanted) in [
            ("TERM=xterm-256color", Indexed256),
            ("TERM=xterm-256color COLORTERM=truecolor", True),
            ("TERM=xterm-256color COLORTERM=truecolor NO_COLOR=1", None),
            ("TERM=xterm-256color NO_COLOR=", Indexed256),
            ("TERM=xterm", Ansi16),
            ("TERM=linux COLORTERM=truecolor", Ansi16),
            ("TERM=screen-256color COLORTERM=truecolor", Indexed256),
            ("TERM=screen-256color COLORTERM=truecolor TMUX=/t,1,0", True),
            ("TERM=xterm-kitty", True),
            ("TERM=vt220", None),
        ] {
            assert_eq!(caps(env).unwrap().colours, wanted, "{env}");
        }
    }

    #[test]
    fn the_locale_decides_about_characters() {
        for (env, wanted) in [
            ("TERM=xterm LANG=en_GB.UTF-8", Charset::Unicode),
            ("TERM=xterm LANG=en_GB.UTF-8 LC_ALL=C", Charset::Ascii),
            ("TERM=xterm LC_CTYPE=C.utf8 LANG=C", Charset::Unicode),
            ("TERM=xterm", Charset::Ascii),
            ("TERM=linux LANG=en_GB.UTF-8", Charset::Ascii),
        ] {
            assert_eq!(caps(env).unwrap().charset, wanted, "{env}");
        }
    }

    #[test]
    fn multiplexers_are_seen_also_through_ssh() {
        for (env, wanted) in [
            ("TERM=screen-256color TMUX=/t,1,0", Multiplexer::Tmux),
            ("TERM=tmux-256color", Multiplexer::Tmux),
            ("TERM=screen", Multiplexer::Screen),
            ("TERM=xterm STY=1.pts", Multiplexer::Screen),
            ("TERM=xterm", Multiplexer::None),
        ] {
            assert_eq!(caps(env).unwrap().multiplexer, wanted, "{env}");
        }
    }

    #[test]
    fn unknown_terminals_get_no_scroll_regions() {
        assert!(caps("TERM=xterm-256color").unwrap().paint.scroll_regions);
        assert!(!caps("TERM=eterm-color").unwrap().paint.scroll_regions);
        assert!(!caps("TERM=vt100").unwrap().paint.synchronised);
    }
}
