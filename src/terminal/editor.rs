//! The operator's own editor on a private file.

use std::{
    fs::{File, OpenOptions, Permissions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

/// The most text that is read back, in bytes.
const MAX_EDITED: u64 = 4 << 20;

/// What came of editing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edited {
    /// The text is as it was.
    Unchanged,
    /// The text as it is now.
    Changed(String),
}

/// Why editing failed. The text that was given is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    /// The variable holds no command.
    #[error("{variable} is {value:?}, which is no command: {reason}")]
    Command {
        /// `VISUAL` or `EDITOR`.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The editor cannot be started.
    #[error("the editor {program:?} cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The editor said that it failed; what it wrote is not used.
    #[error("the editor {program:?} ended with {status}; nothing was taken over")]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// The file between us and the editor.
    #[error("the edited text cannot be {what}: {source}")]
    File {
        /// Written or read.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The file is larger than anything that is edited here.
    #[error("the edited text is larger than 4 MiB")]
    TooLarge,
}

impl EditorError {
    /// What the operator can do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Command { .. } | Self::Start { .. } => "set VISUAL or EDITOR to an editor that is installed",
            Self::Failed { .. } => "save and leave the editor normally to take the text over",
            Self::File { .. } => "check that TMPDIR is writable and has room, and that the text is UTF-8",
            Self::TooLarge => "shorten it",
        }
    }
}

/// An editor with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editor {
    program: String,
    arguments: Vec<String>,
}

impl Editor {
    /// `$VISUAL`, else `$EDITOR`, else `vi`; `get` returns the value of a variable.
    ///
    /// The value is split as a shell would, with quotes and backslashes, but no shell ever sees it.
    ///
    /// # Errors
    /// [`EditorError::Command`] when a quote stays open.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Self, EditorError> {
        let set = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
            let value = get(name).filter(|value| !value.trim().is_empty())?;
            Some((name, value))
        });
        let Some((variable, value)) = set else { return Ok(Self { program: "vi".into(), arguments: Vec::new() }) };
        let error = |value, reason| EditorError::Command { variable, value, reason };
        let Some(words) = split(&value) else { return Err(error(value, "a quote is not closed")) };
        let mut words = words.into_iter();
        match words.next().filter(|program| !program.is_empty()) {
            Some(program) => Ok(Self { program, arguments: words.collect() }),
            None => Err(error(value, "it is empty")),
        }
    }

    /// Lets the operator edit `text` in a file whose name ends in `suffix` (`.toml`), and waits for the editor.
    ///
    /// The file is readable by the user alone, in a directory of its own, so that backup copies are private too.
    /// Call it inside [`super::Guard::lend`]; `stdio` opens the terminal for the child ([`super::Tty::stdio`]).
    ///
    /// # Errors
    /// When the editor cannot be started or fails, or the file cannot be written or read.
    pub fn edit(&self, text: &str, suffix: &str, stdio: impl Fn() -> io::Result<Stdio>) -> Result<Edited, EditorError> {
        let written = |source| EditorError::File { what: "written", source };
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix("deevnet-console-").permissions(Permissions::from_mode(0o700));
        let folder = folder.tempdir().map_err(written)?;
        let path = folder.path().join(format!("edit{suffix}"));
        write_private(&path, text).map_err(written)?;
        let start = |source| EditorError::Start { program: self.program.clone(), source };
        let status = Command::new(&self.program)
            .args(&self.arguments)
            .arg(&path)
            .stdin(stdio().map_err(start)?)
            .stdout(stdio().map_err(start)?)
            .stderr(stdio().map_err(start)?)
            .status()
            .map_err(start)?;
        if !status.success() {
            return Err(EditorError::Failed { program: self.program.clone(), status });
        }
        let edited = read_bounded(&path).map_err(|source| EditorError::File { what: "read", source })?;
        let edited = edited.ok_or(EditorError::TooLarge)?;
        Ok(if edited == text { Edited::Unchanged } else { Edited::Changed(edited) })
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// The text of the file; `None` when it is too large.
fn read_bounded(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    File::open(path)?.take(MAX_EDITED + 1).read_to_string(&mut text)?;
    Ok((text.len() as u64 <= MAX_EDITED).then_some(text))
}

/// Splits into words at blanks outside of quotes; `None` when a quote stays open.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor(command: &str) -> Editor {
        Editor::from_env(|name| (name == "EDITOR").then(|| command.to_owned())).unwrap()
    }

    fn edit(command: &str, text: &str) -> Result<Edited, EditorError> {
        editor(command).edit(text, ".toml", || Ok(Stdio::null()))
    }

    #[test]
    fn the_command_is_split_without_a_shell() {
        for (line, words) in [
            ("vim", vec!["vim"]),
            ("  emacsclient -t  -a '' ", vec!["emacsclient", "-t", "-a", ""]),
            (r#""/opt/my editor/ed" -c "set \"x\"" 'a b'"#, vec!["/opt/my editor/ed", "-c", r#"set "x""#, "a b"]),
            (r"a\ b;rm $HOME", vec!["a b;rm", "$HOME"]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        assert_eq!(split("vim 'x"), None);
        assert_eq!(split("vim \\"), None);
    }

    #[test]
    fn visual_comes_first_and_vi_last() {
        let both = Editor::from_env(|name| Some(if name == "VISUAL" { "hx" } else { "ed" }.to_owned())).unwrap();
        assert_eq!(both.program, "hx");
        assert_eq!(Editor::from_env(|_| Some(" ".into())).unwrap().program, "vi");
        let error = Editor::from_env(|_| Some("'vim".into())).unwrap_err();
        assert!(error.to_string().contains("VISUAL is \"'vim\""), "{error}");
    }

    #[test]
    fn the_edited_text_comes_back() {
        assert_eq!(edit("true", "a = 1\n").unwrap(), Edited::Unchanged);
        assert_eq!(edit("sed -i s/1/2/", "a = 1\n").unwrap(), Edited::Changed("a = 2\n".into()));
    }

    #[test]
    fn the_file_is_private() {
        let Edited::Changed(modes) = edit(r#"sh -c 'stat -c %a "$1" "$(dirname "$1")" > "$1"' x"#, "").unwrap() else {
            panic!("unchanged")
        };
        assert_eq!(modes, "600\n700\n");
    }

    #[test]
    fn an_editor_that_fails_changes_nothing() {
        let failed = edit("sh -c 'echo x > $1; exit 3' x", "a").unwrap_err();
        assert!(matches!(failed, EditorError::Failed { .. }) && failed.to_string().contains("exit status: 3"));
        let missing = edit("/nonexistent/editor", "a").unwrap_err();
        assert!(matches!(missing, EditorError::Start { .. }) && missing.help().contains("EDITOR"));
        let binary = edit(r#"sh -c 'printf "\377" > "$1"' x"#, "a").unwrap_err();
        assert!(matches!(binary, EditorError::File { what: "read", .. }));
    }
}
