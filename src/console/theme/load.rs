//! Reading theme files.

use std::collections::BTreeMap;

use ratatui::style::Modifier;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Role;
use crate::console::file::{FileError, TextFile, did_you_mean};

/// The embedded themes: name and text.
pub const EMBEDDED: [(&str, &str); 5] = [
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("mono", include_str!("../../../themes/mono.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../../themes/colour-blind.toml")),
];

/// The background a theme is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// Dark.
    Dark,
    /// Light.
    Light,
    /// Either: no colours, or the terminal's own only.
    Any,
}

/// A colour as a theme names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The terminal's own.
    Default,
    /// One of the 16, 0–15.
    Named(u8),
    /// One of the 256.
    Indexed(u8),
    /// 24 bits.
    Rgb(u8, u8, u8),
}

/// What a theme gives a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleStyle {
    /// Text.
    pub fg: Ink,
    /// Behind it.
    pub bg: Ink,
    /// Attributes.
    pub attributes: Modifier,
}

/// A theme: every role, not yet resolved for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Name.
    pub name: String,
    /// Background it is made for.
    pub background: Background,
    /// Roles.
    pub roles: BTreeMap<Role, RoleStyle>,
}

/// The names of the 16 colours, in the terminal's order.
pub(super) const NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

const ATTRIBUTES: [(&str, Modifier); 5] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underline", Modifier::UNDERLINED),
    ("reverse", Modifier::REVERSED),
];

/// The theme called `name`.
pub(super) fn find(name: &str, files: &[TextFile]) -> Result<Theme, FileError> {
    if let Some(file) = files.iter().find(|f| f.name == name) {
        return parse(file);
    }
    if let Some((_, text)) = EMBEDDED.iter().find(|(n, _)| *n == name) {
        return parse(&TextFile::embedded("themes", name, text));
    }
    let names: Vec<&str> = EMBEDDED.iter().map(|(n, _)| *n).chain(files.iter().map(|f| f.name.as_str())).collect();
    let help = did_you_mean(name, names.iter().copied()).unwrap_or_else(|| format!("there are: {}", names.join(", ")));
    let file = TextFile { name: name.to_owned(), path: format!("themes/{name}.toml"), text: String::new() };
    Err(file.error(0, format!("there is no theme \"{name}\""), Some(help)))
}

/// Parses a theme file.
///
/// # Errors
/// The first thing wrong: a role that is missing or unknown, a colour that is none, with its line and nearest word.
pub fn parse(file: &TextFile) -> Result<Theme, FileError> {
    let table = DeTable::parse(&file.text).map_err(|e| file.toml_error(&e))?;
    let (mut name, mut background, mut roles) = (None, Background::Any, None);
    for (key, value) in table.get_ref() {
        let at = value.span().start;
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("version", DeValue::Integer(i)) if i.as_str() == "1" => {}
            ("version", _) => {
                let help = Some("version = 1".to_owned());
                return Err(file.error(at, "this version of the file format is not known", help));
            }
            ("name", DeValue::String(s)) => name = Some((s.as_ref().to_owned(), at)),
            ("background", DeValue::String(s)) => background = parse_background(file, at, s)?,
            ("roles", DeValue::Table(t)) => roles = Some(parse_roles(file, key.span().start, t)?),
            (word, _) => {
                let help = did_you_mean(word, ["version", "name", "background", "roles"]);
                return Err(file.error(key.span().start, format!("unknown key, or wrong type: \"{word}\""), help));
            }
        }
    }
    match name {
        Some((n, _)) if n == file.name => {}
        Some((n, at)) => {
            let what = format!("the theme calls itself \"{n}\", its file \"{}\"", file.name);
            return Err(file.error(at, what, Some("give both the same name".to_owned())));
        }
        None => {
            let help = Some(format!("name = \"{}\"", file.name));
            return Err(file.error(0, "the theme does not name itself", help));
        }
    }
    let roles = roles.ok_or_else(|| file.error(0, "the table [roles] is missing", None))?;
    Ok(Theme { name: file.name.clone(), background, roles })
}

fn parse_background(file: &TextFile, at: usize, word: &str) -> Result<Background, FileError> {
    match word {
        "dark" => Ok(Background::Dark),
        "light" => Ok(Background::Light),
        "any" => Ok(Background::Any),
        _ => {
            let help = did_you_mean(word, ["dark", "light", "any"]).or_else(|| Some("dark, light or any".to_owned()));
            Err(file.error(at, format!("unknown background \"{word}\""), help))
        }
    }
}

fn parse_roles(file: &TextFile, at: usize, table: &DeTable<'_>) -> Result<BTreeMap<Role, RoleStyle>, FileError> {
    let mut out = BTreeMap::new();
    for (key, value) in table {
        let word = key.get_ref().as_ref();
        let Some(role) = Role::ALL.into_iter().find(|r| r.word() == word) else {
            let near = did_you_mean(word, Role::ALL.iter().map(|r| r.word()));
            return Err(file.error(key.span().start, format!("unknown role \"{word}\""), near));
        };
        out.insert(role, parse_style(file, value)?);
    }
    match Role::ALL.into_iter().find(|r| !out.contains_key(r)) {
        None => Ok(out),
        Some(role) => {
            let help = Some(format!("add \"{}\" = \"default\" to [roles]", role.word()));
            Err(file.error(at, format!("the role \"{}\" is missing", role.word()), help))
        }
    }
}

fn parse_style(file: &TextFile, value: &Spanned<DeValue<'_>>) -> Result<RoleStyle, FileError> {
    let mut style = RoleStyle { fg: Ink::Default, bg: Ink::Default, attributes: Modifier::empty() };
    let DeValue::Table(table) = value.get_ref() else {
        style.fg = parse_ink(file, value)?;
        return Ok(style);
    };
    for (key, value) in table {
        let word = key.get_ref().as_ref();
        match (word, ATTRIBUTES.iter().find(|(n, _)| *n == word), value.get_ref()) {
            ("fg", _, _) => style.fg = parse_ink(file, value)?,
            ("bg", _, _) => style.bg = parse_ink(file, value)?,
            (_, Some((_, attribute)), DeValue::Boolean(on)) => style.attributes.set(*attribute, *on),
            (_, Some(_), _) => return Err(file.error(value.span().start, format!("{word} is true or false"), None)),
            _ => {
                let words = ATTRIBUTES.iter().map(|(n, _)| *n).chain(["fg", "bg"]);
                return Err(file.error(
                    key.span().start,
                    format!("unknown attribute \"{word}\""),
                    did_you_mean(word, words),
                ));
            }
        }
    }
    Ok(style)
}

fn parse_ink(file: &TextFile, value: &Spanned<DeValue<'_>>) -> Result<Ink, FileError> {
    let wrong = |what: String, help: Option<String>| file.error(value.span().start, what, help);
    let kinds = || Some("a colour is default, one of 16 names, \"#rrggbb\" or a number 0–255".to_owned());
    match value.get_ref() {
        DeValue::Integer(i) => i
            .as_str()
            .parse()
            .map(Ink::Indexed)
            .map_err(|_| wrong(format!("{} is not a colour number", i.as_str()), kinds())),
        DeValue::String(s) if s == "default" => Ok(Ink::Default),
        DeValue::String(s) => {
            let word = s.as_ref();
            if let Some(hex) = word.strip_prefix('#') {
                return parse_hex(hex).ok_or_else(|| wrong(format!("\"{word}\" is not #rrggbb"), kinds()));
            }
            let index = NAMES.iter().position(|n| *n == word).and_then(|i| u8::try_from(i).ok());
            let near = || did_you_mean(word, NAMES.into_iter().chain(["default"])).or_else(kinds);
            index.map(Ink::Named).ok_or_else(|| wrong(format!("\"{word}\" is not a colour"), near()))
        }
        other => Err(wrong(format!("a colour is wanted here, not {}", other.type_str()), kinds())),
    }
}

fn parse_hex(hex: &str) -> Option<Ink> {
    if hex.len() != 6 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let [_, r, g, b] = u32::from_str_radix(hex, 16).ok()?.to_be_bytes();
    Some(Ink::Rgb(r, g, b))
}
