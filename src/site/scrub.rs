//! The secrets of a site, known by their values, out of text that is kept: wherever a server or a proxy repeats one, as it
//! is, escaped in JSON, percent-encoded, or inside a longer text in Base64, as Basic authentication carries it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

/// What stands in place of each byte of a secret: a text with lengths in it stays one.
const MASK: u8 = b'*';
/// Shorter secrets are taken out where they stand alone: as part of a word they are no secret.
const LONG: usize = 8;
/// Fewer characters of Base64 would be found in any text.
const CORE: usize = 8;

/// Secrets, to be taken out of texts. Cheap to clone; wiped with the last clone.
#[derive(Clone, Default)]
pub struct Known(Arc<Patterns>);

#[derive(Default)]
struct Patterns {
    all: Vec<Pattern>,
    /// Bytes with which a match can begin.
    starts: Vec<u8>,
}

struct Pattern {
    bytes: Zeroizing<Vec<u8>>,
    /// Of Base64: the characters beside it hold bits of the secret as well.
    encoded: bool,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known(…)")
    }
}

impl Known {
    /// Knows `secrets`; empty ones are none.
    pub fn of<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let mut all = Vec::new();
        for secret in secrets.into_iter().map(str::trim).filter(|secret| !secret.is_empty()) {
            all.push(Pattern { bytes: Zeroizing::new(secret.as_bytes().to_vec()), encoded: false });
            all.extend(cores(secret.as_bytes()));
        }
        // The longest first: what holds another is taken out as a whole.
        all.sort_by_key(|pattern| std::cmp::Reverse(pattern.bytes.len()));
        let mut starts: Vec<u8> = all.iter().filter_map(|pattern| pattern.bytes.first().copied()).collect();
        starts.extend(*b"%\\");
        if all.iter().any(|pattern| pattern.bytes.first() == Some(&b' ')) {
            starts.push(b'+');
        }
        Self(Arc::new(Patterns { all, starts }))
    }

    /// `text` with every secret masked, in every form in which it is recognised.
    #[must_use]
    pub fn scrub(&self, text: String) -> String {
        if self.0.all.is_empty() {
            return text;
        }
        let mut bytes = text.into_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let found = self.0.starts.contains(byte).then(|| self.at(&bytes, at)).flatten();
            let Some((from, to)) = found else {
                at += 1;
                continue;
            };
            for byte in bytes.iter_mut().take(to).skip(from) {
                *byte = MASK;
            }
            at = to;
        }
        // Whole characters were replaced by whole characters.
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Where the secret that begins at `at` stands.
    fn at(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        self.0.all.iter().find_map(|pattern| {
            let end = ends(text, at, &pattern.bytes)?;
            let word = |place: Option<&u8>| place.is_some_and(u8::is_ascii_alphanumeric);
            let (before, after) = (at.checked_sub(1).and_then(|n| text.get(n)), text.get(end));
            if !pattern.encoded {
                let alone = pattern.bytes.len() >= LONG || !(word(before) || word(after));
                return alone.then_some((at, end));
            }
            Some((at - usize::from(before.is_some_and(digit)), end + usize::from(after.is_some_and(digit))))
        })
    }
}

/// A character of Base64.
fn digit(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(byte)
}

/// What of the Base64 of a longer text depends on `secret` alone, at each of the three ways in which it can lie in it.
fn cores(secret: &[u8]) -> Vec<Pattern> {
    let mut found = Vec::new();
    for before in 0..3_usize {
        let mut padded = Zeroizing::new(vec![0; before]);
        padded.extend_from_slice(secret);
        let (first, last) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = Zeroizing::new(engine.encode(&*padded).into_bytes());
            let core = text.get(first..last).unwrap_or_default();
            if core.len() >= CORE {
                found.push(Pattern { bytes: Zeroizing::new(core.to_vec()), encoded: true });
            }
        }
    }
    found
}

/// The end of `secret` in `text` from `at` on, each of its bytes as it is, percent-encoded or escaped as in JSON.
fn ends(text: &[u8], at: usize, secret: &[u8]) -> Option<usize> {
    let mut places = vec![at];
    for byte in secret {
        let mut next: Vec<usize> = places.iter().flat_map(|place| steps(text, *place, *byte)).flatten().collect();
        next.dedup();
        if next.is_empty() {
            return None;
        }
        places = next;
    }
    places.into_iter().max()
}

/// Where `byte` ends that may begin at `at`.
fn steps(text: &[u8], at: usize, byte: u8) -> [Option<usize>; 3] {
    let hex = |from: usize, to: usize| {
        let digits =
            std::str::from_utf8(text.get(from..to)?).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let is = |place: usize, wanted: u8| text.get(place) == Some(&wanted);
    let plain = is(at, byte) || (byte == b' ' && is(at, b'+'));
    let percent = is(at, b'%') && hex(at + 1, at + 3) == Some(u32::from(byte));
    let short = is(at, b'\\') && is(at + 1, byte);
    let long = is(at, b'\\') && is(at + 1, b'u') && byte.is_ascii() && hex(at + 2, at + 6) == Some(u32::from(byte));
    let escaped = match (short, long) {
        (true, _) => Some(at + 2),
        (false, true) => Some(at + 6),
        _ => None,
    };
    [plain.then_some(at + 1), percent.then_some(at + 3), escaped]
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    fn percent(text: &str, all: bool, upper: bool) -> String {
        text.bytes().fold(String::new(), |mut out, byte| {
            match byte.is_ascii_alphanumeric() && !all {
                true => out.push(char::from(byte)),
                false if upper => drop(write!(out, "%{byte:02X}")),
                false => drop(write!(out, "%{byte:02x}")),
            }
            out
        })
    }

    #[test]
    fn each_form_is_masked_and_the_rest_stays() {
        let known = Known::of(["p/q+r=s\"t\\u", "console:p/q+r=s\"t\\u", "short", ""]);
        let basic = format!("Authorization: Basic {}", STANDARD.encode("console:p/q+r=s\"t\\u"));
        for (text, want) in [
            ("a p/q+r=s\"t\\u b".to_owned(), "a *********** b"),
            (r#"{"x":"p\/q+r=s\"t\\u"}"#.to_owned(), r#"{"x":"**************"}"#),
            ("?k=p%2Fq%2br=s%22t%5Cu&l=1".to_owned(), "?k=*******************&l=1"),
            ("is short, shorter is not".to_owned(), "is *****, shorter is not"),
            ("nothing of it".to_owned(), "nothing of it"),
        ] {
            assert_eq!(known.scrub(text.clone()), want, "{text}");
        }
        let scrubbed = known.scrub(basic.clone());
        assert_eq!(scrubbed.len(), basic.len());
        assert!(scrubbed.starts_with("Authorization: Basic **") && !scrubbed.contains("Y29uc29sZTp"), "{scrubbed}");
        assert!(format!("{known:?}").len() < 12, "it tells nothing");
        assert_eq!(Known::default().scrub("x".to_owned()), "x");
    }

    proptest! {
        #[test]
        fn no_form_of_a_secret_gets_through(
            secret in "[!-~]{8,40}", before in "[ -~]{0,9}", after in "[ -~]{0,9}",
            all in any::<bool>(), upper in any::<bool>(),
        ) {
            let known = Known::of([secret.as_str()]);
            let whole = format!("{before}{secret}{after}");
            prop_assert!(!known.scrub(whole.clone()).contains(&secret));
            let quoted = serde_json::to_string(&whole).unwrap();
            let back: Result<String, _> = serde_json::from_str(&known.scrub(quoted));
            prop_assert!(back.is_err() || !back.unwrap().contains(&secret));
            let encoded = known.scrub(format!("x={}&y=", percent(&secret, all, upper)));
            prop_assert!(!encoded.contains(&percent(&secret, all, upper)), "{}", encoded);
            for text in [STANDARD.encode(&whole), URL_SAFE_NO_PAD.encode(&whole)] {
                let scrubbed = known.scrub(format!("Basic {text} end"));
                prop_assert_eq!(scrubbed.len(), text.len() + 10);
                // Not two characters in a row of those that hold the secret are left.
                let (from, to) = (before.len() * 8 / 6, (before.len() + secret.len()) * 8 / 6);
                let left = scrubbed.get(6 + from..6 + to).unwrap();
                prop_assert!(left.bytes().all(|b| b == MASK), "{} of {}", left, text);
            }
        }

        #[test]
        fn what_holds_no_secret_is_not_touched(text in "[a-m0-4 {}\"\\\\%,:+/=]{0,200}", secret in "[n-z5-9]{8,30}") {
            prop_assert_eq!(Known::of([secret.as_str()]).scrub(text.clone()), text);
        }
    }
}
