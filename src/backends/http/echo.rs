//! What a server repeats of the credential that it was sent: its words are shown, logged and recorded.

use base64::Engine as _;
use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

/// What the words are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// A refusal or a redirect: nothing is read from it but what it says. A credential that is cut counts, too.
    Refusal,
    /// An answer of success, which is read: only what cannot be there by chance is a credential.
    Data,
}

/// Shortest word that is a secret in a refusal.
const SHORTEST: usize = 4;
/// Shortest beginning of a longer one.
const CUT: usize = 8;
/// Shortest word that is not in data by chance.
const LONG: usize = 16;

/// Puts stars in place of what is secret in a credential, wherever `text` says it: as it is, or as JSON and URLs write it.
pub(super) fn blank(credential: &HeaderValue, text: &mut [u8], said: Said) {
    words(credential.as_bytes()).iter().for_each(|word| blank_word(word, text, said));
}

/// What is secret in a header's value.
fn words(value: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let word = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
    // `PVEAPIToken=USER@REALM!NAME=SECRET`.
    if let Some(token) = value.strip_prefix(b"PVEAPIToken=") {
        return token.rsplit(|byte| *byte == b'=').take(1).map(word).collect();
    }
    if let Some(token) = value.strip_prefix(b"Bearer ") {
        return vec![word(token)];
    }
    let Some(sent) = value.strip_prefix(b"Basic ") else { return vec![word(value)] };
    let plain = Zeroizing::new(base64::engine::general_purpose::STANDARD.decode(sent).unwrap_or_default());
    std::iter::once(sent).chain(plain.splitn(2, |byte| *byte == b':')).map(word).collect()
}

/// Puts stars in place of `word`.
pub(super) fn blank_word(word: &[u8], text: &mut [u8], said: Said) {
    let (whole, cut) = match said {
        Said::Refusal => (SHORTEST, CUT),
        Said::Data => (LONG, usize::MAX),
    };
    if word.len() < whole {
        return;
    }
    let mut from = 0;
    while let Some(rest) = text.get_mut(from..).filter(|rest| !rest.is_empty()) {
        let (said, taken) = beginning(word, rest);
        let hidden = if said >= word.len().min(cut) { taken } else { 0 };
        rest.iter_mut().take(hidden).for_each(|byte| *byte = b'*');
        from += hidden.max(1);
    }
}

/// How many bytes of `word` the text begins with, and how many of its own it takes for that.
fn beginning(word: &[u8], text: &[u8]) -> (usize, usize) {
    let (mut said, mut taken) = (0, 0);
    for byte in word {
        let Some(more) = text.get(taken..).and_then(|rest| says(rest, *byte)) else { break };
        said += 1;
        taken += more;
    }
    (said, taken)
}

/// How many bytes of the text say `byte`, where it begins with it.
fn says(text: &[u8], byte: u8) -> Option<usize> {
    match text {
        [b'\\', b'u', b'0', b'0', high, low, ..] if of_hex(*high, *low) == Some(byte) => Some(6),
        [b'\\', next @ (b'/' | b'"' | b'\\'), ..] if *next == byte => Some(2),
        [b'%', high, low, ..] if of_hex(*high, *low) == Some(byte) => Some(3),
        [b'+', ..] if byte == b' ' => Some(1),
        [first, ..] if *first == byte => Some(1),
        _ => None,
    }
}

fn of_hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(credential: &'static str, text: &str, said: Said) -> String {
        let mut bytes = text.as_bytes().to_vec();
        blank(&HeaderValue::from_static(credential), &mut bytes, said);
        String::from_utf8(bytes).expect("stars are text")
    }

    fn blanked(credential: &'static str, text: &str) -> String {
        said(credential, text, Said::Refusal)
    }

    fn is_hidden(text: &str) -> bool {
        text.bytes().all(|byte| b"* ".contains(&byte))
    }

    #[test]
    fn what_a_server_repeats_of_a_credential_is_not_seen() {
        let token = "PVEAPIToken=ops@pve!console=0badf00d-1111-4222-8333";
        let stars = "*".repeat(23);
        assert_eq!(blanked(token, "no 0badf00d-1111-4222-8333, and"), format!("no {stars}, and"));
        assert_eq!(blanked(token, "token ops@pve!console is not known"), "token ops@pve!console is not known");
        // key-of-the-api:secret-of-the-api
        let basic = "Basic a2V5LW9mLXRoZS1hcGk6c2VjcmV0LW9mLXRoZS1hcGk=";
        for word in ["secret-of-the-api", "key-of-the-api", "a2V5LW9mLXRoZS1hcGk6c2VjcmV0LW9mLXRoZS1hcGk="] {
            let told = blanked(basic, &format!("{word} {word}"));
            assert!(is_hidden(&told), "{told}");
        }
        assert_eq!(blanked("Bearer 0123456789abcdef", "0123456789abcdef"), "****************");
        assert_eq!(blanked("0123456789abcdef", "x0123456789abcdefx"), "x****************x");
    }

    #[test]
    fn every_way_of_writing_it_is_known() {
        for word in [
            "ab/cd+ef/gh=",
            r"ab\/cd+ef\/gh=",
            r"ab\u002fcd\u002Bef\u002Fgh\u003d",
            "ab%2Fcd%2bef%2Fgh%3D",
            r"ab%2Fcd+ef\/gh=",
        ] {
            for credential in ["Bearer ab/cd+ef/gh=", "ab/cd+ef/gh="] {
                let told = blanked(credential, word);
                assert!(is_hidden(&told), "{told}");
            }
        }
        // ab/cd+ef/gh=:ij/kl+mn/op=
        let basic = "Basic YWIvY2QrZWYvZ2g9OmlqL2tsK21uL29wPQ==";
        assert!(is_hidden(&blanked(basic, r"ab\/cd+ef\/gh= ij%2Fkl%2Bmn%2Fop%3D")));
        let (blank, json) = ("two words of it", r#"{"error":"key two+words%20of it, \"/\""}"#);
        assert_eq!(blanked(blank, json), r#"{"error":"key *****************, \"/\""}"#);
    }

    #[test]
    fn one_that_is_cut_and_one_that_is_short_are_hidden_and_what_is_no_part_of_it_stays() {
        let token = "PVEAPIToken=ops@pve!console=0badf00d-1111-4222-8333";
        assert_eq!(blanked(token, "invalid token value 0badf00d-1111…"), "invalid token value *************…");
        assert_eq!(blanked(token, "0badf00 is seven of them"), "0badf00 is seven of them");
        // What is cut ends between two bytes, however they are written.
        assert_eq!(blanked("Bearer 12345678/abc", r#""12345678\/" "12345678\"""#), r#""**********" "********\"""#);
        assert_eq!(blanked("two words of it", "words of other things"), "words of other things");
        assert_eq!(blanked("Bearer short", "a short key"), "a ***** key");
        assert_eq!(blanked("abc", "abc"), "abc");
    }

    #[test]
    fn data_is_read_as_it_was_sent_but_for_a_credential() {
        let long = "deevnet-console/0123456789";
        assert_eq!(said(long, r#"{"note":"deevnet-console\/0123456789"}"#, Said::Data).matches('*').count(), 27);
        assert_eq!(said(long, "by deevnet-console/01", Said::Data), "by deevnet-console/01");
        assert_eq!(said("powerdns", "powerdns.mgmt.deevnet.net", Said::Data), "powerdns.mgmt.deevnet.net");
    }
}
