//! Reading keymap files: layers, parents, and every way in which they can be wrong.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{name, parse_sequence};
use super::{Binding, Keymap, Mode};
use crate::console::file::{FileError, TextFile, did_you_mean, locate};
use crate::terminal::input::Key;

/// The embedded keymaps: name and text.
pub const EMBEDDED: [(&str, &str); 3] = [
    ("default", include_str!("../../../keymaps/default.toml")),
    ("vim", include_str!("../../../keymaps/vim.toml")),
    ("emacs", include_str!("../../../keymaps/emacs.toml")),
];

/// Layers a keymap may rest on; more is a circle.
const DEPTH: usize = 8;

/// A binding with the place it was written at.
struct Placed {
    keys: Vec<Key>,
    line: String,
    /// Byte offset in its file.
    at: usize,
    /// Depth of its layer: 0 = the file that was asked for.
    layer: usize,
}

/// One file, parsed.
struct Layer {
    file: TextFile,
    parent: Option<(String, usize)>,
    binds: BTreeMap<Mode, Vec<Placed>>,
    unbinds: Vec<(Mode, Vec<Key>, usize)>,
}

/// The keymap called `name`: a file of that name among `files`, else the embedded one, on top of its parents.
///
/// # Errors
/// The first thing wrong in any layer, with file, line and column.
pub fn load(name: &str, files: &[TextFile]) -> Result<Keymap, FileError> {
    let mut layers = Vec::new();
    let mut wanted = name.to_owned();
    let mut asked_by: Option<(TextFile, usize)> = None;
    loop {
        let found = source(&wanted, files, asked_by.as_ref().map(|(f, _)| f.path.as_str()));
        let Some(file) = found else { return Err(no_such(&wanted, files, asked_by)) };
        let layer = parse(file, layers.len())?;
        let parent = layer.parent.clone();
        let file = layer.file.clone();
        layers.push(layer);
        let Some((next, at)) = parent else { break };
        if layers.len() >= DEPTH {
            return Err(file.error(at, "the parents of this keymap lead in a circle", None));
        }
        asked_by = Some((file, at));
        wanted = next;
    }
    let modes = merge(&layers)?;
    Ok(Keymap { name: name.to_owned(), modes })
}

/// A user's file may carry the name of an embedded one and name that as its parent: then the embedded one is meant.
fn source(name: &str, files: &[TextFile], asked_by: Option<&str>) -> Option<TextFile> {
    let user = files.iter().find(|f| f.name == name && asked_by != Some(f.path.as_str()));
    user.cloned()
        .or_else(|| EMBEDDED.iter().find(|(n, _)| *n == name).map(|(n, text)| TextFile::embedded("keymaps", n, text)))
}

fn no_such(name: &str, files: &[TextFile], asked_by: Option<(TextFile, usize)>) -> FileError {
    let names: Vec<&str> = EMBEDDED.iter().map(|(n, _)| *n).chain(files.iter().map(|f| f.name.as_str())).collect();
    let help = did_you_mean(name, names.iter().copied()).unwrap_or_else(|| format!("there are: {}", names.join(", ")));
    let what = format!("there is no keymap \"{name}\"");
    match asked_by {
        Some((file, at)) => file.error(at, what, Some(help)),
        None => TextFile { name: name.to_owned(), path: format!("keymaps/{name}.toml"), text: String::new() }.error(
            0,
            what,
            Some(help),
        ),
    }
}

fn parse(file: TextFile, layer: usize) -> Result<Layer, FileError> {
    let text = file.text.clone();
    let table = DeTable::parse(&text).map_err(|e| file.toml_error(&e))?;
    let mut out = Layer { file, parent: None, binds: BTreeMap::new(), unbinds: Vec::new() };
    let mut named = false;
    for (key, value) in table.get_ref() {
        let at = key.span().start;
        match key.get_ref().as_ref() {
            "version" => version(&out.file, value)?,
            "name" => {
                named = true;
                own_name(&out.file, value)?;
            }
            "parent" => out.parent = Some((string(&out.file, value)?.to_owned(), value.span().start)),
            "unbind" => unbinds(&mut out, value)?,
            word => {
                let Some(mode) = Mode::ALL.into_iter().find(|m| m.word() == word) else {
                    let words = Mode::ALL.iter().map(|m| m.word()).chain(["version", "name", "parent", "unbind"]);
                    return Err(out.file.error(at, format!("unknown key \"{word}\""), did_you_mean(word, words)));
                };
                let binds = bindings(&out.file, mode, value, layer)?;
                out.binds.insert(mode, binds);
            }
        }
    }
    if !named {
        return Err(out.file.error(
            0,
            "the keymap does not name itself",
            Some(format!("name = \"{}\"", out.file.name)),
        ));
    }
    Ok(out)
}

fn version(file: &TextFile, value: &Spanned<DeValue<'_>>) -> Result<(), FileError> {
    match value.get_ref().as_integer().map(|i| i.as_str()) {
        Some("1") => Ok(()),
        _ => Err(file.error(
            value.span().start,
            "this version of the file format is not known",
            Some("version = 1".into()),
        )),
    }
}

fn own_name(file: &TextFile, value: &Spanned<DeValue<'_>>) -> Result<(), FileError> {
    let name = string(file, value)?;
    if name == file.name {
        return Ok(());
    }
    let what = format!("the keymap calls itself \"{name}\", its file \"{}\"", file.name);
    Err(file.error(value.span().start, what, Some("give both the same name".to_owned())))
}

fn string<'a>(file: &TextFile, value: &'a Spanned<DeValue<'_>>) -> Result<&'a str, FileError> {
    value.get_ref().as_str().ok_or_else(|| {
        file.error(value.span().start, format!("a string is wanted here, not {}", value.get_ref().type_str()), None)
    })
}

fn sequence(file: &TextFile, at: usize, text: &str) -> Result<Vec<Key>, FileError> {
    parse_sequence(text).map_err(|(what, help)| file.error(at, what, help))
}

fn bindings(file: &TextFile, mode: Mode, value: &Spanned<DeValue<'_>>, layer: usize) -> Result<Vec<Placed>, FileError> {
    let Some(table) = value.get_ref().as_table() else {
        return Err(file.error(value.span().start, format!("[{}] is a table of keys", mode.word()), None));
    };
    let mut out: Vec<Placed> = Vec::new();
    for (key, value) in table {
        let at = key.span().start;
        let keys = sequence(file, at, key.get_ref())?;
        let line = string(file, value)?;
        let command = crate::console::commands::parse(line);
        command.map_err(|what| file.error(value.span().start, what, Some("docs/keys.md lists the commands".into())))?;
        out.push(Placed { keys, line: line.split_whitespace().collect::<Vec<_>>().join(" "), at, layer });
    }
    out.sort_by_key(|p| p.at);
    Ok(out)
}

fn unbinds(layer: &mut Layer, value: &Spanned<DeValue<'_>>) -> Result<(), FileError> {
    let file = &layer.file;
    let wanted = "[unbind] maps modes to lists of keys, e.g. list = [\"g t\"]";
    let Some(table) = value.get_ref().as_table() else {
        return Err(file.error(value.span().start, wanted, None));
    };
    let mut out = Vec::new();
    for (key, value) in table {
        let word = key.get_ref().as_ref();
        let Some(mode) = Mode::ALL.into_iter().find(|m| m.word() == word) else {
            let help = did_you_mean(word, Mode::ALL.iter().map(|m| m.word()));
            return Err(file.error(key.span().start, format!("unknown mode \"{word}\""), help));
        };
        let Some(list) = value.get_ref().as_array() else {
            return Err(file.error(value.span().start, wanted, None));
        };
        for item in list {
            let at = item.span().start;
            out.push((mode, sequence(file, at, string(file, item)?)?, at));
        }
    }
    layer.unbinds = out;
    Ok(())
}

/// Puts the layers together, the deepest parent first.
fn merge(layers: &[Layer]) -> Result<BTreeMap<Mode, Vec<Binding>>, FileError> {
    let mut all: BTreeMap<Mode, Vec<&Placed>> = BTreeMap::new();
    for layer in layers.iter().rev() {
        for (mode, keys, at) in &layer.unbinds {
            let bound = all.entry(*mode).or_default();
            let before = bound.len();
            bound.retain(|p| p.keys != *keys);
            if bound.len() == before {
                let what = format!("\"{}\" is not bound in [{}] by any parent", name(keys), mode.word());
                return Err(layer.file.error(*at, what, None));
            }
        }
        for (mode, binds) in &layer.binds {
            let bound = all.entry(*mode).or_default();
            for placed in binds {
                bound.retain(|p| p.layer == placed.layer || p.keys != placed.keys);
                if let Some(other) = bound.iter().find(|p| conflicts(&p.keys, &placed.keys)) {
                    return Err(collision(layers, *mode, other, placed));
                }
                bound.push(placed);
            }
        }
    }
    across(layers, &all)?;
    let plain = |p: &&Placed| Binding { keys: p.keys.clone(), line: p.line.clone() };
    Ok(all.iter().map(|(mode, list)| (*mode, list.iter().map(plain).collect())).collect())
}

/// A sequence of one mode may hide the same sequence of everywhere, but must not begin one.
fn across(layers: &[Layer], all: &BTreeMap<Mode, Vec<&Placed>>) -> Result<(), FileError> {
    let Some(everywhere) = all.get(&Mode::Everywhere) else { return Ok(()) };
    for (mode, list) in all.iter().filter(|(m, _)| !matches!(m, Mode::Everywhere | Mode::Overlay | Mode::Field)) {
        for placed in list {
            let clash = |p: &&&Placed| p.keys != placed.keys && conflicts(&p.keys, &placed.keys);
            if let Some(other) = everywhere.iter().find(clash) {
                return Err(collision(layers, *mode, other, placed));
            }
        }
    }
    Ok(())
}

fn conflicts(a: &[Key], b: &[Key]) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

fn collision(layers: &[Layer], mode: Mode, first: &Placed, second: &Placed) -> FileError {
    let place = |p: &Placed| layers.get(p.layer).map(|l| (&l.file, locate(&l.file.text, p.at).0));
    let (Some((file_1, line_1)), Some((file_2, line_2))) = (place(first), place(second)) else {
        return TextFile::embedded("keymaps", "?", "").error(0, "collision", None);
    };
    let relation = if first.keys == second.keys { "is already bound" } else { "collides with" };
    let what = if first.keys == second.keys {
        format!(
            "\"{}\" in [{}] {relation}: line {line_2} and {}, line {line_1}",
            name(&second.keys),
            mode.word(),
            file_1.path
        )
    } else {
        format!(
            "\"{}\" in [{}] {relation} \"{}\": line {line_2} and {}, line {line_1}; one begins the other",
            name(&second.keys),
            mode.word(),
            name(&first.keys),
            file_1.path
        )
    };
    file_2.error(second.at, what, Some("take one of them away; [unbind] takes a parent's".to_owned()))
}
