//! Keymap and theme files: where in a file something is wrong, and what was probably meant.

/// A file as it was read, or an embedded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Name by which others refer to it: the file's stem.
    pub name: String,
    /// How errors name it.
    pub path: String,
    /// Contents.
    pub text: String,
}

impl TextFile {
    /// A file embedded in the program.
    #[must_use]
    pub fn embedded(folder: &str, name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), path: format!("embedded {folder}/{name}.toml"), text: text.to_owned() }
    }

    /// An error at byte `offset`.
    pub fn error(&self, offset: usize, what: impl Into<String>, help: Option<String>) -> FileError {
        let (line, column) = locate(&self.text, offset);
        FileError { path: self.path.clone(), line, column, what: what.into(), help }
    }

    /// The error of the TOML parser, placed.
    #[must_use]
    pub fn toml_error(&self, error: &toml::de::Error) -> FileError {
        let offset = error.span().map_or(0, |s| s.start);
        let what = error.message().lines().next().unwrap_or("not TOML").to_owned();
        let earlier = if what.contains("duplicate key") { self.earlier_line(offset) } else { None };
        match earlier {
            Some(line) => self.error(offset, format!("{what}; it is already set in line {line}"), None),
            None => self.error(offset, what, None),
        }
    }

    /// The line above `offset` in the same table that begins with the same key.
    fn earlier_line(&self, offset: usize) -> Option<usize> {
        let (line, _) = locate(&self.text, offset);
        let key_of = |l: &str| l.split_once('=').map(|(k, _)| k.trim().to_owned());
        let key = key_of(self.text.lines().nth(line.checked_sub(1)?)?)?;
        let above: Vec<&str> = self.text.lines().take(line - 1).collect();
        let table = above.iter().rposition(|l| l.trim_start().starts_with('[')).map_or(0, |i| i + 1);
        let found = above.iter().skip(table).position(|l| key_of(l).as_ref() == Some(&key))?;
        Some(table + found + 1)
    }
}

/// What is wrong in a keymap or theme file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {what}")]
pub struct FileError {
    /// File.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// One sentence.
    pub what: String,
    /// What helps.
    help: Option<String>,
}

impl FileError {
    /// What helps, when something does.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// Line and column (from 1, in characters) of byte `offset`.
#[must_use]
pub fn locate(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// The candidate nearest to `word`, when one is near enough to have been meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (c, strsim::damerau_levenshtein(&word, &c.to_lowercase())))
        .filter(|(c, d)| *d <= (c.chars().count().max(word.chars().count()) / 3).max(1))
        .min_by_key(|(_, d)| *d)
        .map(|(c, _)| c)
}

/// `did you mean "X"?`, when something is near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|c| format!("did you mean \"{c}\"?"))
}

/// Compares the part of a document after its marker with what the program generates; `UPDATE_DOCS=1` writes it.
#[cfg(test)]
pub fn check_generated(path: &str, generated: &str) {
    const MARKER: &str = "<!-- generated from here on -->\n";
    let document = std::fs::read_to_string(path).unwrap();
    let (head, tail) = document.split_once(MARKER).unwrap_or_else(|| panic!("{path} has no marker"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{head}{MARKER}{generated}")).unwrap();
        return;
    }
    assert_eq!(tail, generated, "{path} is out of date: run this test with UPDATE_DOCS=1");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_named_by_line_and_column_in_characters() {
        assert_eq!(locate("ab\ncé=", 0), (1, 1));
        assert_eq!(locate("ab\ncé=", 6), (2, 3));
        assert_eq!(locate("ab", 99), (1, 3));
    }

    #[test]
    fn only_near_words_are_suggested() {
        assert_eq!(nearest("slection", ["border", "selection"]), Some("selection"));
        assert_eq!(nearest("zzz", ["border", "selection"]), None);
    }
}
