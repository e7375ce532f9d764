//! What a server repeats of the credential that it was sent: its words are shown and logged.

use base64::Engine as _;
use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

/// Shorter words are no secrets.
const SHORTEST: usize = 8;

/// Puts stars in place of what is secret in a credential, wherever `text` says it.
pub(super) fn blank(credential: &HeaderValue, text: &mut [u8]) {
    let value = credential.as_bytes();
    let sent = value.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    blank_word(sent, text);
    // `PVEAPIToken=USER@REALM!NAME=SECRET`.
    blank_word(sent.rsplit(|byte| *byte == b'=').next().unwrap_or_default(), text);
    // `Basic`, of key and secret.
    let plain = Zeroizing::new(base64::engine::general_purpose::STANDARD.decode(sent).unwrap_or_default());
    plain.split(|byte| *byte == b':').for_each(|part| blank_word(part, text));
}

fn blank_word(word: &[u8], text: &mut [u8]) {
    if word.len() < SHORTEST {
        return;
    }
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.windows(word.len()).position(|part| part == word)) {
        let (start, end) = (from + at, from + at + word.len());
        if let Some(part) = text.get_mut(start..end) {
            part.fill(b'*');
        }
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(credential: &'static str, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        blank(&HeaderValue::from_static(credential), &mut bytes);
        String::from_utf8(bytes).expect("stars are text")
    }

    #[test]
    fn what_a_server_repeats_of_a_credential_is_not_seen() {
        let token = "PVEAPIToken=ops@pve!console=0badf00d-1111-4222-8333";
        let stars = "*".repeat(23);
        assert_eq!(blanked(token, "no 0badf00d-1111-4222-8333, and"), format!("no {stars}, and"));
        assert_eq!(blanked(token, "token ops@pve!console is not known"), "token ops@pve!console is not known");
        // key-of-the-api:secret-of-the-api
        let basic = "Basic a2V5LW9mLXRoZS1hcGk6c2VjcmV0LW9mLXRoZS1hcGk=";
        for said in ["secret-of-the-api", "key-of-the-api", "a2V5LW9mLXRoZS1hcGk6c2VjcmV0LW9mLXRoZS1hcGk="] {
            let told = blanked(basic, &format!("{said} {said}"));
            assert!(told.bytes().all(|byte| b"* ".contains(&byte)), "{told}");
        }
        assert_eq!(blanked("Bearer 0123456789abcdef", "0123456789abcdef"), "****************");
        assert_eq!(blanked("0123456789abcdef", "x0123456789abcdefx"), "x****************x");
        assert_eq!(blanked("Bearer short", "short words stay"), "short words stay");
    }
}
