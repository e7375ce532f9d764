//! The frame in which the helper answers: a header with lengths, then bytes. `helper.sh`, `emit`, writes it.

use std::collections::BTreeMap;

const MAGIC: &[u8] = b"%deevnet-exit-node ";
const END: &[u8] = b"%end\n";
/// More than the helper has parts, fewer than a damaged header could make us hold.
const MOST_PARTS: usize = 64;

/// How a part ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// It ran.
    Exit(i32),
    /// It was not tried: the right is missing.
    Denied,
    /// It was not tried: the program or file is not there.
    Missing,
}

/// One part of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// How it ended.
    pub code: Code,
    /// Its stdout.
    pub out: Vec<u8>,
    /// Its stderr.
    pub err: String,
}

/// A whole frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Version of the helper.
    pub version: u32,
    /// Parts by name.
    pub parts: BTreeMap<String, Part>,
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameError {
    /// No frame begins in them.
    Absent,
    /// One begins and is cut.
    Truncated {
        /// Bytes of the frame that came.
        have: usize,
        /// Bytes announced; 0 when the header is cut.
        want: usize,
    },
    /// Its header is not understood.
    Damaged(String),
    /// It is another version's.
    Version(u32),
}

impl Frame {
    /// Finds the frame in `bytes`; what precedes it (a login shell's greeting) is ignored. `version` is the helper's
    /// that is expected: another's parts may differ, so nothing but its number is taken from it.
    ///
    /// # Errors
    /// See [`FrameError`].
    pub fn parse(bytes: &[u8], version: u32) -> Result<Self, FrameError> {
        let start = bytes.windows(MAGIC.len()).position(|w| w == MAGIC).ok_or(FrameError::Absent)?;
        let frame = bytes.get(start..).unwrap_or_default();
        let cut = FrameError::Truncated { have: frame.len(), want: 0 };
        let head_len = frame.windows(2).position(|w| w == b"\n\n").map(|at| at + 2);
        // A header of another version is recognised by its first line alone.
        let first = frame.split(|b| *b == b'\n').next().unwrap_or_default();
        if head_len.is_none() && first.len() == frame.len() {
            return Err(cut);
        }
        let found = first_line_version(first)?;
        if found != version {
            return Err(FrameError::Version(found));
        }
        let head_len = head_len.ok_or(cut)?;
        let head = std::str::from_utf8(frame.get(..head_len).unwrap_or_default())
            .map_err(|_| FrameError::Damaged("its header is not text".to_owned()))?;
        let entries: Vec<Entry> = head.trim_end().lines().skip(1).map(Entry::parse).collect::<Result<_, _>>()?;
        if entries.is_empty() || entries.len() > MOST_PARTS {
            return Err(FrameError::Damaged(format!("it announces {} parts", entries.len())));
        }
        cut_up(found, frame, head_len, entries)
    }
}

impl Frame {
    /// The frame as text that [`Frame::parse`] takes: what is no UTF-8 reads U+FFFD, passwords in FRR's configuration
    /// are masked.
    #[must_use]
    pub fn to_text(&self) -> String {
        let shown = |name: &str, part: &Part| {
            let text = String::from_utf8_lossy(&part.out).into_owned();
            if name.starts_with("frr-") { super::parse::frr::config(&text).text } else { text }
        };
        let parts: Vec<(&String, &Part, String)> = self.parts.iter().map(|(n, p)| (n, p, shown(n, p))).collect();
        let mut out = format!("{}1 {}\n", String::from_utf8_lossy(MAGIC), self.version);
        for (name, part, text) in &parts {
            let code = match part.code {
                Code::Exit(code) => code.to_string(),
                Code::Denied => "denied".to_owned(),
                Code::Missing => "missing".to_owned(),
            };
            out.push_str(&format!("{name} {code} {} {}\n", text.len(), part.err.len()));
        }
        out.push('\n');
        for (_, part, text) in &parts {
            out.push_str(text);
            out.push_str(&part.err);
        }
        out.push_str(&String::from_utf8_lossy(END));
        out
    }
}

fn cut_up(version: u32, frame: &[u8], head_len: usize, entries: Vec<Entry>) -> Result<Frame, FrameError> {
    let want = entries
        .iter()
        .try_fold(head_len + END.len(), |sum, e| sum.checked_add(e.out)?.checked_add(e.err))
        .ok_or_else(|| FrameError::Damaged("its lengths overflow".to_owned()))?;
    let truncated = FrameError::Truncated { have: frame.len(), want };
    let mut rest = frame.get(head_len..).unwrap_or_default();
    let mut take = |len: usize| -> Result<&[u8], FrameError> {
        let (head, tail) = rest.split_at_checked(len).ok_or_else(|| truncated.clone())?;
        rest = tail;
        Ok(head)
    };
    let mut parts = BTreeMap::new();
    for entry in entries {
        let out = take(entry.out)?.to_vec();
        let err = String::from_utf8_lossy(take(entry.err)?).into_owned();
        parts.insert(entry.name, Part { code: entry.code, out, err });
    }
    match take(END.len())? {
        END => Ok(Frame { version, parts }),
        _ => Err(FrameError::Damaged("its end is not where its lengths put it".to_owned())),
    }
}

/// `%deevnet-exit-node FORM VERSION`.
fn first_line_version(line: &[u8]) -> Result<u32, FrameError> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split_ascii_whitespace().skip(1);
    match (words.next(), words.next().map(str::parse), words.next()) {
        (Some("1"), Some(Ok(version)), None) => Ok(version),
        _ => Err(FrameError::Damaged("its first line is not understood".to_owned())),
    }
}

struct Entry {
    name: String,
    code: Code,
    out: usize,
    err: usize,
}

impl Entry {
    fn parse(line: &str) -> Result<Self, FrameError> {
        let words: Vec<&str> = line.split(' ').collect();
        let parsed = match words.as_slice() {
            [name, code, out, err] => {
                let code = match *code {
                    "denied" => Some(Code::Denied),
                    "missing" => Some(Code::Missing),
                    number => number.parse().ok().map(Code::Exit),
                };
                code.zip(out.parse().ok()).zip(err.parse().ok()).map(|((code, out), err)| Self {
                    name: (*name).to_owned(),
                    code,
                    out,
                    err,
                })
            }
            _ => None,
        };
        parsed.ok_or_else(|| FrameError::Damaged("a line of its header is not understood".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: &[u8] = b"%deevnet-exit-node 1 1\na 0 3 2\nb denied 0 4\n\nxy\xffE\nwhy\n%end\n";

    fn parse(bytes: &[u8]) -> Result<Frame, FrameError> {
        Frame::parse(bytes, 1)
    }

    #[test]
    fn a_frame_as_text_is_the_same_frame() {
        let frame = Frame::parse(FRAME, 1).unwrap();
        let again = Frame::parse(frame.to_text().as_bytes(), 1).unwrap();
        assert_eq!(again.parts["b"], frame.parts["b"]);
        assert_eq!(again.parts["a"].err, frame.parts["a"].err);
        assert_eq!(again.parts["a"].out, "xy\u{fffd}".as_bytes(), "what is no text is marked");
        assert_eq!(again.to_text(), frame.to_text());
    }

    #[test]
    fn no_password_of_frr_is_in_the_text() {
        let config = "router bgp 65000\n neighbor 192.0.2.1 password CANARY\n";
        let part = Part { code: Code::Exit(0), out: config.as_bytes().to_vec(), err: String::new() };
        let frame = Frame { version: 1, parts: BTreeMap::from([("frr-conf".to_owned(), part)]) };
        assert!(!frame.to_text().contains("CANARY"), "{}", frame.to_text());
        assert_eq!(Frame::parse(frame.to_text().as_bytes(), 1).unwrap().parts.len(), 1);
    }

    #[test]
    fn parts_are_cut_by_length_and_may_be_binary() {
        let frame = parse(FRAME).unwrap();
        assert_eq!(frame.parts["a"], Part { code: Code::Exit(0), out: b"xy\xff".to_vec(), err: "E\n".to_owned() });
        assert_eq!(frame.parts["b"], Part { code: Code::Denied, out: vec![], err: "why\n".to_owned() });
    }

    #[test]
    fn a_greeting_before_it_is_skipped() {
        let noisy = [b"Welcome!\r\n\n\n\x1b[1m% no frame %deevnet\nLast login: today".as_slice(), FRAME].concat();
        assert_eq!(parse(&noisy), parse(FRAME));
        assert_eq!(parse(b"Welcome!\n"), Err(FrameError::Absent));
        assert_eq!(parse(b""), Err(FrameError::Absent));
    }

    #[test]
    fn every_cut_is_told_from_the_whole() {
        for len in MAGIC.len()..FRAME.len() {
            let told = parse(&FRAME[..len]);
            assert!(matches!(told, Err(FrameError::Truncated { have, .. }) if have == len), "{len}: {told:?}");
        }
    }

    #[test]
    fn another_version_and_damage_are_told() {
        assert_eq!(parse(b"%deevnet-exit-node 1 7\nwhatever it says\n"), Err(FrameError::Version(7)));
        for bad in [
            "%deevnet-exit-node 2 1\na 0 0 0\n\n%end\n",
            "%deevnet-exit-node 1 x\na 0 0 0\n\n%end\n",
            "%deevnet-exit-node 1 1\na 0 0\n\n%end\n",
            "%deevnet-exit-node 1 1\na 0 0 -1\n\n%end\n",
            "%deevnet-exit-node 1 1\na 0 1 0\n\n%end\n\n",
            "%deevnet-exit-node 1 1\na 0 18446744073709551615 2\n\n%end\n",
        ] {
            assert!(matches!(parse(bad.as_bytes()), Err(FrameError::Damaged(_))), "{bad:?}");
        }
    }
}
