use super::*;
use crate::console::commands;
use crate::console::file::TextFile;
use crate::terminal::input::KeyCode;

fn file(name: &str, text: &str) -> TextFile {
    TextFile { name: name.into(), path: format!("keymaps/{name}.toml"), text: text.into() }
}

/// What is wrong in `text` as the keymap `mine`, as it is told.
fn wrong(text: &str) -> (String, String) {
    let error = load("mine", &[file("mine", text)]).unwrap_err();
    (error.to_string(), error.help().unwrap_or("").to_owned())
}

const HEAD: &str = "version = 1\nname = \"mine\"\nparent = \"default\"\n";

#[test]
fn embedded_keymaps_are_sound() {
    for (name, _) in EMBEDDED {
        let map = load(name, &[]).unwrap();
        assert_eq!(map.name, name);
        assert!(!map.modes.is_empty());
    }
    assert_eq!(Keymap::default(), load("default", &[]).unwrap());
}

#[test]
fn default_keys_are_safe_in_tmux_and_over_ssh() {
    let map = Keymap::default();
    let safe = |key: &Key| {
        let plain = match key.code {
            KeyCode::Char(c) => c.is_ascii_alphanumeric() || " /:?".contains(c),
            KeyCode::Insert | KeyCode::Delete | KeyCode::F(_) => false,
            _ => true,
        };
        plain && !key.ctrl && !key.alt && !key.shift
    };
    for (mode, bindings) in &map.modes {
        for binding in bindings.iter().filter(|b| !b.keys.iter().all(safe)) {
            let (command, _) = commands::parse(&binding.line).unwrap();
            assert!(command.always, "[{}] {} needs an unsafe key", mode.word(), name(&binding.keys));
        }
    }
}

/// Whether every terminal sends `key` as a byte of its own, in tmux and over SSH, without any extended reporting
/// (ECMA-48 §5.2, §8.3). Alt and what begins a control sequence are not such keys.
fn arrives_everywhere(key: &Key) -> bool {
    let plain = !key.ctrl && !key.alt && !key.shift;
    match key.code {
        KeyCode::Char(c) if key.ctrl => !key.alt && (c == ' ' || c.is_ascii_lowercase() && !"hijm".contains(c)),
        KeyCode::Char(c) if key.alt => c.is_ascii_graphic() && !"[]OPX^_".contains(c),
        _ => plain,
    }
}

#[test]
fn the_keys_of_every_keymap_arrive_everywhere() {
    for (embedded, _) in EMBEDDED {
        let map = load(embedded, &[]).unwrap();
        for (mode, bindings) in &map.modes {
            for binding in bindings {
                let keys = name(&binding.keys);
                assert!(binding.keys.iter().all(arrives_everywhere), "{embedded} [{}] {keys}", mode.word());
            }
        }
    }
}

#[test]
fn no_command_rests_on_a_key_that_a_multiplexer_takes() {
    // The prefix keys of tmux and GNU screen.
    let taken = [Key::ctrl('b'), Key::ctrl('a')];
    for (embedded, _) in EMBEDDED {
        let map = load(embedded, &[]).unwrap();
        for mode in Mode::ALL {
            for binding in map.bindings(mode).filter(|b| b.keys.iter().any(|k| taken.contains(k))) {
                let others = map.keys_of(mode, &binding.line).filter(|keys| !keys.iter().any(|k| taken.contains(k)));
                assert!(others.count() > 0, "{embedded} [{}] {}", mode.word(), binding.line);
            }
        }
    }
}

#[test]
fn every_keymap_rests_on_the_default_one() {
    let default = Keymap::default();
    for (embedded, _) in EMBEDDED {
        let map = load(embedded, &[]).unwrap();
        for mode in Mode::ALL {
            for binding in default.bindings(mode) {
                assert_eq!(map.find(mode, &binding.keys), Found::Line(&binding.line), "{embedded} [{}]", mode.word());
            }
        }
    }
}

#[test]
fn no_single_key_changes_anything() {
    for (embedded, _) in EMBEDDED {
        for binding in load(embedded, &[]).unwrap().modes.values().flatten() {
            let (command, _) = commands::parse(&binding.line).unwrap();
            // Those of changes lead to a plan; what runs one is tried in `update/tests/changes.rs`.
            let leads_to_a_plan = command.group == commands::Group::Change;
            let key = name(&binding.keys);
            assert!(leads_to_a_plan || command.danger == commands::Danger::Look, "{embedded}: {key}");
        }
    }
}

#[test]
fn a_layer_overrides_unbinds_and_inherits() {
    let text = format!("{HEAD}[unbind]\nlist = [\"s\"]\n[list]\n\"o\" = \"sort\"\n\"t\" = \"sort name\"\n");
    let map = load("mine", &[file("mine", &text)]).unwrap();
    let keys = |line: &str| map.key_for(Mode::List, line, true);
    assert_eq!(keys("sort").as_deref(), Some("o"));
    assert_eq!(keys("sort name").as_deref(), Some("t"));
    assert_eq!(keys("scope"), None, "its key was taken");
    assert_eq!(keys("go tenants").as_deref(), Some("g t"));
    assert_eq!(map.find(Mode::List, &parse_sequence("s").unwrap()), Found::Nothing);
    assert_eq!(map.find(Mode::List, &parse_sequence("g").unwrap()), Found::Prefix);
    assert_eq!(map.find(Mode::Board, &parse_sequence("s").unwrap()), Found::Line("sort"));
}

#[test]
fn a_file_may_replace_an_embedded_keymap_and_rest_on_it() {
    let text = "name = \"default\"\nparent = \"default\"\n[everywhere]\n\"R\" = \"refresh\"\n";
    let map = load("default", &[file("default", text)]).unwrap();
    assert!(map.keys_of(Mode::List, "refresh").count() == 2);
}

#[test]
fn one_sequence_twice_names_both_lines() {
    let (what, _) = wrong(&format!("{HEAD}[list]\n\"o\" = \"sort\"\n\"o\" = \"mark\"\n"));
    assert_eq!(what, "keymaps/mine.toml:6:1: duplicate key; it is already set in line 5");
    let (what, help) = wrong(&format!("{HEAD}[list]\n\"shift-tab\" = \"sort\"\n\"backtab\" = \"mark\"\n"));
    assert_eq!(
        what,
        "keymaps/mine.toml:6:1: \"backtab\" in [list] is already bound: line 6 and keymaps/mine.toml, line 5"
    );
    assert!(help.contains("[unbind]"));
}

#[test]
fn a_sequence_that_begins_another_names_both_lines() {
    let (what, _) = wrong(&format!("{HEAD}[list]\n\"o\" = \"sort\"\n\"o p\" = \"mark\"\n"));
    assert!(what.starts_with("keymaps/mine.toml:6:1: \"o p\" in [list] collides with \"o\": line 6"), "{what}");
    let (what, _) = wrong(&format!("{HEAD}[list]\n\"g\" = \"sort\"\n"));
    assert!(what.contains("\"g\" in [list] collides with \"g g\": line 5 and embedded keymaps/default.toml"), "{what}");
}

#[test]
fn unknown_words_are_placed_and_suggested() {
    for (body, place, what, help) in [
        ("[lists]\n", "4:2", "unknown key \"lists\"", "did you mean \"list\"?"),
        ("[list]\n\"entre\" = \"open\"\n", "5:1", "\"entre\" is not a key", "did you mean \"enter\"?"),
        ("[list]\n\"o\" = \"opne\"\n", "5:7", "there is no command \"opne\": did you mean \"open\"?", "docs/keys.md"),
        ("[list]\n\"o\" = 3\n", "5:7", "a string is wanted here, not integer", ""),
        ("[unbind]\nlist = [\"X\"]\n", "5:9", "\"X\" is not bound in [list] by any parent", ""),
        ("[unbind]\nlsit = [\"s\"]\n", "5:1", "unknown mode \"lsit\"", "did you mean \"list\"?"),
        ("[list]\n\"\" = \"open\"\n", "5:1", "an empty key sequence", "write e.g."),
        ("[list\n", "4:6", "", ""),
    ] {
        let (got, got_help) = wrong(&format!("{HEAD}{body}"));
        assert!(got.starts_with(&format!("keymaps/mine.toml:{place}: ")) && got.contains(what), "{body}: {got}");
        assert!(got_help.contains(help), "{body}: {got_help}");
    }
}

#[test]
fn names_versions_and_parents_are_checked() {
    assert!(wrong("name = \"other\"\n").0.contains("calls itself \"other\", its file \"mine\""));
    assert!(wrong("[list]\n").0.contains("does not name itself"));
    assert!(wrong("version = 2\nname = \"mine\"\n").0.contains("version"));
    let (what, help) = wrong("name = \"mine\"\nparent = \"defualt\"\n");
    assert!(what.starts_with("keymaps/mine.toml:2:10: there is no keymap \"defualt\""), "{what}");
    assert_eq!(help, "did you mean \"default\"?");
    let circle = [file("a", "name = \"a\"\nparent = \"b\"\n"), file("b", "name = \"b\"\nparent = \"a\"\n")];
    assert!(load("a", &circle).unwrap_err().to_string().contains("circle"));
    assert!(load("vmi", &[]).unwrap_err().help().unwrap().contains("\"vim\""));
}

#[test]
fn every_binding_of_every_mode_is_found_again() {
    for (embedded, _) in EMBEDDED {
        let map = load(embedded, &[]).unwrap();
        for mode in Mode::ALL {
            for binding in map.bindings(mode) {
                assert_eq!(map.find(mode, &binding.keys), Found::Line(&binding.line));
            }
        }
    }
}

/// The generated part of `docs/keys.md`. `UPDATE_DOCS=1` writes it.
#[test]
fn the_reference_of_keys_is_up_to_date() {
    let maps: Vec<Keymap> = EMBEDDED.iter().map(|(name, _)| load(name, &[]).unwrap()).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/keys.md");
    crate::console::file::check_generated(path, &commands::help::reference(&maps));
    assert!(commands::all().count() > 40);
}
