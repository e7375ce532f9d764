//! Command lines as evidence keeps them, taken apart for readers. Nothing here is ever run.

/// A command line: the words of its first stage, and what its output was piped into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Program, without directories, and what stands in front of it (`sudo -n`, `timeout 5`).
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Words of the stages behind it.
    pub piped: Vec<Vec<String>>,
    /// The VRF in which `ip vrf exec` ran it.
    pub vrf: Option<String>,
}

impl Line {
    /// Reads a line; `None` where there is no program in it or it is more than one pipeline.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut stages = split(line)?.into_iter();
        let mut words = stages.next()?;
        let mut vrf = None;
        loop {
            let program = base(words.first()?);
            let arg = |n: usize| words.get(n).map(String::as_str);
            let drop = match program {
                "sudo" => 1 + words.iter().skip(1).take_while(|w| w.starts_with('-')).count(),
                "timeout" => 2,
                "env" => 1 + words.iter().skip(1).take_while(|w| w.contains('=')).count(),
                "ip" if arg(1) == Some("vrf") && arg(2) == Some("exec") => {
                    vrf = words.get(3).cloned();
                    4
                }
                word if word.contains('=') => 1,
                _ => break,
            };
            words = words.split_off(drop.min(words.len()));
        }
        let program = base(words.first()?).to_owned();
        Some(Self { program, args: words.split_off(1), piped: stages.collect(), vrf })
    }

    /// The argument after `name`.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        let at = self.args.iter().position(|arg| arg == name)?;
        self.args.get(at + 1).map(String::as_str)
    }

    /// Whether `name` is one of the arguments.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.args.iter().any(|arg| arg == name)
    }

    /// Arguments that are no options, `takes` being the options that take a value.
    pub fn plain<'a>(&'a self, takes: &[&str]) -> Vec<&'a str> {
        let mut found = Vec::new();
        let mut args = self.args.iter();
        while let Some(arg) = args.next() {
            if takes.contains(&arg.as_str()) {
                args.next();
            } else if !arg.starts_with('-') {
                found.push(arg.as_str());
            }
        }
        found
    }
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Stages of one pipeline, in words. `None` for several commands, or a quote that stays open.
fn split(line: &str) -> Option<Vec<Vec<String>>> {
    let mut stages = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let end = |stages: &mut Vec<Vec<String>>, word: &mut Option<String>| {
        if let (Some(stage), Some(word)) = (stages.last_mut(), word.take()) {
            stage.push(word);
        }
    };
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '|') => {
                end(&mut stages, &mut word);
                stages.push(Vec::new());
            }
            (None, ';' | '&') => return None,
            (None, c) if c.is_whitespace() => end(&mut stages, &mut word),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    end(&mut stages, &mut word);
    quote.is_none().then_some(stages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_front_is_left_out() {
        let line = Line::parse("sudo -n /usr/sbin/iptables -t nat -S POSTROUTING").unwrap();
        assert_eq!((line.program.as_str(), line.option("-t")), ("iptables", Some("nat")));
        let line = Line::parse("ip vrf exec vrf_a timeout 12 ping -n -I 192.0.2.1 198.51.100.10").unwrap();
        assert_eq!((line.program.as_str(), line.vrf.as_deref()), ("ping", Some("vrf_a")));
        assert_eq!(line.plain(&["-I"]), ["198.51.100.10"]);
    }

    #[test]
    fn quotes_and_pipes() {
        let line = Line::parse("ip -o link | awk '{print $2,$5}'").unwrap();
        assert_eq!(line.piped, [["awk", "{print $2,$5}"]]);
        assert_eq!(Line::parse("vtysh -c 'show evpn vni'").unwrap().option("-c"), Some("show evpn vni"));
        assert_eq!(Line::parse("a; b"), None);
        assert_eq!(Line::parse("a 'b"), None);
        assert_eq!(Line::parse("sudo"), None);
    }
}
