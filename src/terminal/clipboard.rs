//! The clipboard of the operator's own machine (OSC 52).
//!
//! The control string travels through ssh and through multiplexers to the terminal that the operator sees; nothing
//! says whether it arrived.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use super::caps::Multiplexer;
use crate::text;

/// The most text that is copied, in bytes: its base64 form stays below the 100,000 bytes that terminals commonly take.
pub const MAX_COPY: usize = 74_000;

/// GNU screen takes device control strings up to 768 bytes; longer ones are sent in pieces of this many.
const SCREEN_PIECE: usize = 512;

/// The text does not fit into a clipboard string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{len} bytes are too many for the clipboard over this connection; it takes {MAX_COPY}")]
pub struct TooLarge {
    /// Size of the text in bytes.
    pub len: usize,
}

impl TooLarge {
    /// What the operator can do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "copy a part of it, or save it to a file"
    }
}

/// The bytes that put `text` on the clipboard. Control and bidi characters are made harmless; lines and tabs stay.
///
/// # Errors
/// [`TooLarge`] beyond [`MAX_COPY`] bytes.
pub fn copy(text: &str, multiplexer: Multiplexer) -> Result<Vec<u8>, TooLarge> {
    // A secret may be copied: what is made on the way is wiped.
    let text = Zeroizing::new(text::clean_lines(text));
    if text.len() > MAX_COPY {
        return Err(TooLarge { len: text.len() });
    }
    let encoded = Zeroizing::new(STANDARD.encode(text.as_bytes()));
    let plain = Zeroizing::new([b"\x1b]52;c;", encoded.as_bytes(), b"\x07"].concat());
    Ok(match multiplexer {
        Multiplexer::None => plain.to_vec(),
        // `set-clipboard on` takes the plain form, `allow-passthrough on` the wrapped one; which is set is not known.
        Multiplexer::Tmux => {
            let wrapped = Zeroizing::new(tmux(&plain));
            [plain.as_slice(), &wrapped].concat()
        }
        Multiplexer::Screen => screen(&plain),
    })
}

/// tmux passes on what is in its own control string, with each escape doubled.
fn tmux(inner: &[u8]) -> Vec<u8> {
    let mut out = b"\x1bPtmux;".to_vec();
    for byte in inner {
        if *byte == 0x1b {
            out.push(0x1b);
        }
        out.push(*byte);
    }
    out.extend_from_slice(b"\x1b\\");
    out
}

/// GNU screen passes on the contents of any device control string.
fn screen(inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len() + inner.len() / 64 + 8);
    for piece in inner.chunks(SCREEN_PIECE) {
        out.extend_from_slice(b"\x1bP");
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\x1b\\");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_copied_in_base64() {
        assert_eq!(copy("10.20.128.2\n", Multiplexer::None).unwrap(), b"\x1b]52;c;MTAuMjAuMTI4LjIK\x07");
        assert_eq!(copy("a\x1b", Multiplexer::None), copy("a␛", Multiplexer::None));
    }

    #[test]
    fn multiplexers_get_it_wrapped() {
        let tmux = String::from_utf8(copy("a", Multiplexer::Tmux).unwrap()).unwrap();
        assert_eq!(tmux, "\x1b]52;c;YQ==\x07\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\");
        let long = "x".repeat(3000);
        let wrapped = String::from_utf8(copy(&long, Multiplexer::Screen).unwrap()).unwrap();
        let pieces: Vec<&str> = wrapped.split("\x1b\\").filter(|p| !p.is_empty()).collect();
        assert!(pieces.len() > 5 && pieces.iter().all(|p| p.starts_with("\x1bP") && p.len() <= 768));
        let joined: String = pieces.iter().map(|p| p.trim_start_matches("\x1bP")).collect();
        assert_eq!(joined.into_bytes(), copy(&long, Multiplexer::None).unwrap());
    }

    #[test]
    fn too_much_is_refused() {
        let error = copy(&"x".repeat(MAX_COPY + 1), Multiplexer::None).unwrap_err();
        assert_eq!(error, TooLarge { len: MAX_COPY + 1 });
        assert!(copy(&"x".repeat(MAX_COPY), Multiplexer::None).unwrap().len() < 100_000);
    }
}
