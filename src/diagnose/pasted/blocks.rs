//! Pasted text cleaned of what a terminal adds, and taken apart into one block a run.

use super::{Reading, Refusal, capture, connect, curl, dns, ping};

/// Most lines that are looked at.
const LINES: usize = 4000;
/// Programs whose output is read.
const PROGRAMS: [&str; 9] = ["ping", "nc", "ncat", "netcat", "curl", "dig", "host", "nslookup", "tcpdump"];

/// A command line in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// Program without directories.
    pub(super) program: String,
    /// Its words.
    pub(super) args: Vec<String>,
}

/// One run: its command line, where it was pasted along, and its output.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Command line.
    pub(super) command: Option<Command>,
    /// Output.
    pub(super) lines: Vec<String>,
}

/// Escape sequences out, carriage returns to line ends, everything that commands a terminal away.
pub(super) fn lines(text: &str) -> Vec<String> {
    let plain = without_escapes(text);
    let clean = crate::text::clean_lines(&plain);
    clean.lines().take(LINES).map(|line| line.trim_end().to_owned()).collect()
}

/// `text` without control sequences (ESC [ … and ESC ] …), and with what a backspace took away gone.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{8}' => drop(out.pop()),
            '\u{9b}' => skip_csi(&mut chars),
            '\u{1b}' => match chars.next() {
                Some('[') => skip_csi(&mut chars),
                // A string ends with BEL or ESC \.
                Some(']' | 'P' | '_' | '^' | 'X') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' {
                            break;
                        }
                        if c == '\u{1b}' {
                            chars.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                Some('(' | ')' | '*' | '+' | '#' | '%') => drop(chars.next()),
                _ => {}
            },
            c => out.push(c),
        }
    }
    out
}

fn skip_csi(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    for c in chars.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&c) {
            break;
        }
    }
}

/// The command in a line: at its start, or behind a prompt (`$`, `#`, `%` or `>` and a blank).
fn command(line: &str) -> Option<Command> {
    let after_prompt = |at: usize, mark: char| line.get(at + mark.len_utf8()..).and_then(|rest| rest.strip_prefix(' '));
    let prompts = line.char_indices().filter(|(_, c)| matches!(c, '$' | '#' | '%' | '>'));
    let behind = prompts.filter_map(|(at, mark)| after_prompt(at, mark));
    std::iter::once(line).chain(behind).find_map(bare)
}

fn bare(line: &str) -> Option<Command> {
    let mut words = line.split_whitespace().peekable();
    loop {
        let word = *words.peek()?;
        let skip = match word {
            "sudo" | "env" | "time" | "-n" => 1,
            "timeout" => 2,
            "ip" => 4,
            _ if word.contains('=') && !word.starts_with('-') => 1,
            _ => break,
        };
        for _ in 0..skip {
            words.next();
        }
    }
    let program = words.next()?.rsplit('/').next()?;
    let args: Vec<String> = words.map(|word| word.trim_matches(['"', '\'']).to_owned()).collect();
    // Output begins with the same words: `ping: connect: …`, `host has address …`.
    let looks = args.iter().any(|arg| arg.starts_with('-') || arg.contains(['.', ':', '@', '/']));
    let prose = args.first().is_some_and(|arg| matches!(arg.as_str(), "has" | "is" | "not" | "statistics"));
    (PROGRAMS.contains(&program) && looks && !prose).then(|| Command { program: program.to_owned(), args })
}

impl Command {
    /// Arguments that are no options; `takes` are the options whose value is a word of its own.
    pub(super) fn plain<'a>(&'a self, takes: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let mut skip = false;
        self.args
            .iter()
            // What a shell runs next is another command.
            .take_while(|arg| !matches!(arg.as_str(), ";" | "&&" | "||" | "|" | "&"))
            .filter(move |arg| {
                let value = std::mem::take(&mut skip);
                skip = takes.iter().any(|option| ends_with_option(arg, option));
                !value && !arg.starts_with('-')
            })
            .map(|arg| arg.trim_end_matches(';'))
    }
}

/// Whether `arg` is `option`, or a bundle of letters that ends with it: `-zvw` takes what `-w` takes.
fn ends_with_option(arg: &str, option: &str) -> bool {
    let bundle = arg.starts_with('-') && !arg.starts_with("--") && option.len() == 2;
    arg == option || (bundle && arg.len() > 2 && option.chars().last() == arg.chars().last())
}

/// Whether a line begins the output of another program than that of `block`.
fn begins(line: &str, block: &Block) -> bool {
    let empty = block.lines.iter().all(|line| line.trim().is_empty());
    let program = block.command.as_ref().map(|command| command.program.as_str());
    let has = |mark: &str| block.lines.iter().any(|line| line.trim_start().starts_with(mark));
    if line.trim_start().starts_with("PING ") {
        return program.map_or(!empty, |program| program != "ping" || has("PING "));
    }
    if line.contains("; <<>> DiG ") {
        return program.map_or(!empty, |program| program != "dig" || has("; <<>> DiG "));
    }
    let nc = matches!(program, Some("nc" | "ncat" | "netcat"));
    connect::whole(line) && !nc && (program.is_some() || has("PING "))
}

/// One block a run.
pub(super) fn split(lines: Vec<String>) -> Vec<Block> {
    let mut blocks = vec![Block::default()];
    for line in lines {
        if let Some(command) = command(&line) {
            blocks.push(Block { command: Some(command), lines: Vec::new() });
            continue;
        }
        if blocks.last().is_some_and(|block| begins(&line, block)) {
            blocks.push(Block::default());
        }
        let ends = connect::trailer(&line).is_some();
        if let Some(block) = blocks.last_mut() {
            block.lines.push(line);
        }
        if ends {
            blocks.push(Block::default());
        }
    }
    blocks.retain(|block| block.command.is_some() || block.lines.iter().any(|line| !line.trim().is_empty()));
    blocks
}

impl Block {
    /// Every line, then every two lines that a terminal may have made of one.
    pub(super) fn variants(&self) -> impl Iterator<Item = String> {
        let pairs = self.lines.windows(2).filter_map(|pair| match pair {
            [a, b] => Some([format!("{a}{b}"), format!("{a} {b}")]),
            _ => None,
        });
        self.lines.iter().cloned().chain(pairs.flatten())
    }

    /// The first of [`Self::variants`] of which `of` makes something.
    pub(super) fn find<T>(&self, of: impl Fn(&str) -> Option<T>) -> Option<(T, String)> {
        self.variants().find_map(|line| of(&line).map(|found| (found, line)))
    }

    /// Whether a line holds `words`.
    pub(super) fn says(&self, words: &str) -> Option<&str> {
        self.lines.iter().map(String::as_str).find(|line| line.contains(words))
    }

    fn program(&self) -> Option<&str> {
        self.command.as_ref().map(|command| command.program.as_str())
    }

    /// What stands in it.
    pub(super) fn read(&self) -> Result<Vec<Reading>, Refusal> {
        if self.lines.iter().all(|line| line.trim().is_empty()) {
            // A list of commands before their outputs.
            return Ok(Vec::new());
        }
        if let (Some(program), Some(line)) = (self.program(), self.says("command not found"))
            && line.contains(program)
        {
            return Err(Refusal::NotRun(line.trim().to_owned()));
        }
        match self.program() {
            Some("ping") => ping::read(self).map(|one| one.into_iter().collect()),
            Some("curl") => curl::read(self).map(|one| one.into_iter().collect()),
            Some("dig" | "host" | "nslookup") => dns::read(self).map(|one| one.into_iter().collect()),
            Some("tcpdump") => capture::read(self).map(|one| one.into_iter().collect()),
            Some(_) => connect::read(self),
            None => self.guess(),
        }
    }

    /// Without a command line the output has to say what it is.
    fn guess(&self) -> Result<Vec<Reading>, Refusal> {
        if let Some(one) = ping::read(self)? {
            return Ok(vec![one]);
        }
        let connections = connect::read(self)?;
        if !connections.is_empty() {
            return Ok(connections);
        }
        for reader in [curl::read, dns::read, capture::read] {
            if let Some(one) = reader(self)? {
                return Ok(vec![one]);
            }
        }
        Ok(Vec::new())
    }
}
