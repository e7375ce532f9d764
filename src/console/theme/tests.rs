use std::collections::BTreeSet;

use ratatui::style::{Color, Modifier, Style};

use super::*;

mod colour_vision;

type Rgb = (u8, u8, u8);

const BLACK: Rgb = (0, 0, 0);
const WHITE: Rgb = (255, 255, 255);

const DEPTHS: [Depth; 4] = [Depth::None, Depth::Ansi16, Depth::Ansi256, Depth::True];

fn themes() -> Vec<Theme> {
    all(&[]).unwrap()
}

fn theme(name: &str) -> Theme {
    themes().into_iter().find(|t| t.name == name).unwrap()
}

/// A colour as light (IEC 61966-2-1).
fn linear((r, g, b): Rgb) -> [f64; 3] {
    [r, g, b].map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    })
}

/// Relative luminance (WCAG 2.2).
fn luminance(color: Rgb) -> f64 {
    let [r, g, b] = linear(color);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The colour a resolved style has, as far as can be known.
fn seen(color: Option<Color>) -> Option<Rgb> {
    match color? {
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(n) => rgb(Ink::Indexed(n)),
        named => (0..16).find(|n| resolve::named(*n) == named).and_then(|n| rgb(Ink::Named(n))),
    }
}

#[test]
fn every_theme_maps_every_role() {
    assert_eq!(
        themes().iter().map(|t| t.name.as_str()).collect::<Vec<_>>(),
        ["dark", "light", "mono", "high-contrast", "colour-blind"]
    );
    for theme in themes() {
        assert_eq!(theme.roles.len(), Role::ALL.len(), "{}", theme.name);
    }
}

/// What a style puts on `paper` with `ink` as the terminal's own: what is written, and what is behind it.
fn inks(style: Style, paper: Rgb, ink: Rgb) -> (Rgb, Rgb) {
    let (front, back) = (seen(style.fg).unwrap_or(ink), seen(style.bg).unwrap_or(paper));
    if style.add_modifier.contains(Modifier::REVERSED) { (back, front) } else { (front, back) }
}

/// Themes with the paper and ink they are for, and the contrast of their text and of what may be fainter.
const READ_ON: [(&str, Rgb, Rgb, f64, f64); 5] = [
    ("dark", BLACK, WHITE, 4.5, 3.0),
    ("light", WHITE, BLACK, 4.5, 3.0),
    ("high-contrast", BLACK, WHITE, 7.0, 7.0),
    ("high-contrast", WHITE, BLACK, 7.0, 7.0),
    ("colour-blind", BLACK, WHITE, 4.5, 3.0),
];

#[test]
fn text_can_be_read_on_the_background_its_theme_is_for() {
    for (name, paper, ink, text, faint) in READ_ON {
        for depth in [Depth::Ansi16, Depth::Ansi256, Depth::True] {
            let look = resolve(&theme(name), depth, &UNICODE);
            for role in Role::ALL {
                // Everything is written over text.
                let style = look.style(Role::Text).patch(look.style(role));
                let (front, back) = inks(style, paper, ink);
                let faint_role = style.add_modifier.contains(Modifier::DIM) || role == Role::Border;
                let least = if faint_role { faint } else { text };
                let got = contrast(front, back);
                assert!(got >= least, "{name} {depth:?} {}: {got:.2}", role.word());
                let (front, back) = inks(style.patch(look.style(Role::Selection)), paper, ink);
                let got = contrast(front, back);
                assert!(got >= least, "{name} {depth:?} {} selected: {got:.2}", role.word());
            }
        }
    }
    let all: BTreeSet<&str> = READ_ON.iter().map(|(name, ..)| *name).chain(["mono"]).collect();
    assert_eq!(all, EMBEDDED.iter().map(|(name, _)| *name).collect(), "a theme that nobody measures");
}

#[test]
fn what_must_stay_apart_does_so_at_every_depth() {
    for theme in themes() {
        for depth in DEPTHS {
            let look = resolve(&theme, depth, &ASCII);
            let has = |role: Role, modifier| look.style(role).add_modifier.contains(modifier);
            assert!(has(Role::Selection, Modifier::REVERSED));
            assert!(has(Role::Fault, Modifier::BOLD));
            assert!(has(Role::Muted, Modifier::DIM) && has(Role::Stale, Modifier::DIM));
            assert!(has(Role::ModeWrite, Modifier::BOLD | Modifier::REVERSED));
            let plain = look.style(Role::Text);
            for role in [Role::Selection, Role::Fault, Role::Muted, Role::Stale, Role::ModeWrite] {
                assert_ne!(look.style(role), plain, "{} {depth:?} {}", theme.name, role.word());
            }
        }
    }
}

#[test]
fn a_theme_cannot_take_the_selection_away() {
    let file = TextFile { name: "dark".into(), ..TextFile::embedded("themes", "dark", EMBEDDED[0].1) };
    let text = file.text.replace("selection = { fg = \"default\", reverse = true }", "selection = \"default\"");
    assert_ne!(text, file.text);
    let look = load("dark", &[TextFile { text, ..file }], Depth::None, false).unwrap();
    assert!(look.style(Role::Selection).add_modifier.contains(Modifier::REVERSED));
}

#[test]
fn no_colour_is_left_where_there_is_none() {
    for theme in themes() {
        let look = resolve(&theme, Depth::None, &UNICODE);
        assert!(look.styles.values().all(|s| s.fg.is_none() && s.bg.is_none()), "{}", theme.name);
    }
}

#[test]
fn each_depth_gets_its_own_kind_of_colour() {
    let look = |depth| resolve(&theme("light"), depth, &UNICODE).style(Role::Ok).fg;
    assert_eq!(look(Depth::True), Some(Color::Rgb(0, 0x5f, 0)));
    assert_eq!(look(Depth::Ansi256), Some(Color::Indexed(22)));
    assert!(matches!(look(Depth::Ansi16), Some(c) if !matches!(c, Color::Rgb(..) | Color::Indexed(_))));
}

#[test]
fn the_nearest_colour_of_a_palette_colour_is_itself() {
    for n in 16..=255u8 {
        let wanted = rgb(Ink::Indexed(n));
        assert_eq!(rgb(Ink::Indexed(nearest_256(wanted.unwrap()))), wanted);
    }
    for n in 0..16u8 {
        assert_eq!(nearest_16(rgb(Ink::Named(n)).unwrap()), n);
    }
}

/// What is wrong in the dark theme once `from` is `to`.
fn wrong(from: &str, to: &str) -> (String, String) {
    let text = EMBEDDED[0].1.replace(from, to);
    assert_ne!(text, EMBEDDED[0].1, "{from}");
    let file = TextFile { name: "dark".into(), path: "themes/dark.toml".into(), text };
    let error = load("dark", &[file], Depth::True, false).unwrap_err();
    (error.to_string(), error.help().unwrap_or("").to_owned())
}

#[test]
fn mistakes_are_placed_and_suggested() {
    for (from, to, what, help) in [
        ("fault =", "fualt =", "unknown role \"fualt\"", "did you mean \"fault\"?"),
        ("ok = \"green\"\n", "", "the role \"ok\" is missing", "add \"ok\""),
        ("ok = \"green\"", "ok = \"gren\"", "\"gren\" is not a colour", "did you mean \"green\"?"),
        ("ok = \"green\"", "ok = \"#12345\"", "\"#12345\" is not #rrggbb", "a colour is"),
        ("ok = \"green\"", "ok = 256", "256 is not a colour number", "0–255"),
        ("ok = \"green\"", "ok = true", "a colour is wanted here, not boolean", ""),
        (
            "reverse = true }\nmatch",
            "revers = true }\nmatch",
            "unknown attribute \"revers\"",
            "did you mean \"reverse\"?",
        ),
        ("background = \"dark\"", "background = \"darc\"", "unknown background \"darc\"", "did you mean \"dark\"?"),
        ("[roles]", "[rules]", "unknown key, or wrong type: \"rules\"", "did you mean \"roles\"?"),
        ("name = \"dark\"", "name = \"other\"", "calls itself \"other\"", "same name"),
        ("version = 1", "version = 3", "version", "version = 1"),
    ] {
        let (got, got_help) = wrong(from, to);
        assert!(got.starts_with("themes/dark.toml:") && got.contains(what), "{to}: {got}");
        assert!(got_help.contains(help), "{to}: {got_help}");
    }
    let (got, _) = wrong("ok = \"green\"", "ok = \"gren\"");
    let line = EMBEDDED[0].1.lines().position(|l| l.starts_with("ok = ")).unwrap() + 1;
    assert!(got.starts_with(&format!("themes/dark.toml:{line}:6: ")), "{got}");
    assert!(load("drak", &[], Depth::None, false).unwrap_err().help().unwrap().contains("dark"));
}

#[test]
fn every_glyph_is_one_cell_wide() {
    for set in [&UNICODE, &ASCII] {
        let classes = [
            set.fine,
            set.warning,
            set.fault,
            set.progress,
            set.pending,
            set.absent,
            set.differs,
            set.unknown,
            set.not_run,
            set.info,
            set.source_fresh,
            set.source_stale,
            set.source_failed,
            set.source_denied,
            set.source_off,
            set.cursor,
            set.mark,
            set.more,
            set.path,
            set.input,
            set.horizontal,
            set.vertical,
            set.dash,
            set.dot,
            set.arrow,
        ];
        for glyph in classes.iter().chain(&set.corners).chain(&set.trend) {
            assert_eq!(crate::text::width(glyph), 1, "{glyph}");
            assert!(!set.ascii || glyph.is_ascii(), "{glyph}");
        }
        let states: BTreeSet<_> = classes.iter().take(10).collect();
        assert_eq!(states.len(), 10, "two classes look the same");
    }
}

/// The generated part of `docs/themes.md`. `UPDATE_DOCS=1` writes it.
#[test]
fn the_reference_of_roles_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/themes.md");
    crate::console::file::check_generated(path, &reference());
}

/// Roles with what the embedded themes give them.
fn reference() -> String {
    let themes = themes();
    let heads: String = themes.iter().map(|t| format!(" {} |", t.name)).collect();
    let mut out = format!("\n## Roles\n\n| role |{heads}\n|---|{}\n", "---|".repeat(themes.len()));
    for role in Role::ALL {
        let cells: String = EMBEDDED
            .iter()
            .map(|(_, text)| {
                let key = [format!("{} = ", role.word()), format!("\"{}\" = ", role.word())];
                let value = text.lines().find_map(|l| key.iter().find_map(|k| l.strip_prefix(k.as_str())));
                format!(" `{}` |", value.unwrap())
            })
            .collect();
        out.push_str(&format!("| `{}` |{cells}\n", role.word()));
    }
    out
}
