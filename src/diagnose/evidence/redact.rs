//! Secrets out of recorded text. The second line of defence: clients leave out what they can, this takes what is left.

use serde_json::Value;

/// What stands in place of a secret.
pub const REDACTED: &str = "redacted";

/// Keys whose values are secrets wherever they occur, compared without case, dashes and underscores.
const SECRET_KEYS: [&str; 13] = [
    "password",
    "passwd",
    "cipassword",
    "secret",
    "secretkey",
    "apikey",
    "apisecret",
    "privkey",
    "privatekey",
    "psk",
    "ticket",
    "csrfpreventiontoken",
    "tsigkey",
];

/// Beginnings of tokens whose first part names them and whose rest is secret.
const TOKENS: [&str; 3] = ["dbt1.", "dvt1.", "PVEAPIToken="];

/// A recorded body without its secrets. JSON stays JSON; other text keeps its lines.
#[must_use]
pub fn redact(body: &str) -> String {
    let trimmed = body.trim_start();
    if trimmed.starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str::<Value>(body)
    {
        let changed = json(&mut value, false);
        return if changed { value.to_string() } else { body.to_owned() };
    }
    text(body)
}

/// Takes secrets out of `value`; whether there were any. `key_is_secret` of an object that is a TSIG key.
fn json(value: &mut Value, key_is_secret: bool) -> bool {
    match value {
        Value::Object(map) => {
            let tsig = map.contains_key("algorithm") && map.contains_key("key");
            let mut changed = false;
            for (key, value) in map.iter_mut() {
                changed |= if is_secret(key) || (tsig && key == "key") || (key_is_secret && key == "key") {
                    blank(value)
                } else if key == "smbios1" {
                    smbios(value)
                } else {
                    json(value, tsig)
                };
            }
            changed
        }
        Value::Array(all) => all.iter_mut().fold(false, |changed, one| json(one, key_is_secret) | changed),
        Value::String(s) => {
            let clean = text(s);
            let changed = clean != *s;
            *s = clean;
            changed
        }
        _ => false,
    }
}

fn is_secret(key: &str) -> bool {
    let plain: String = key.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
    SECRET_KEYS.contains(&plain.as_str())
}

/// Empty values say that nothing is set, which is no secret.
fn blank(value: &mut Value) -> bool {
    match value {
        Value::String(s) if s.is_empty() || s == REDACTED => false,
        Value::Null | Value::Bool(_) => false,
        other => {
            *other = Value::String(REDACTED.to_owned());
            true
        }
    }
}

/// Of `smbios1` the UUID stays: any other field may carry a pointer.
fn smbios(value: &mut Value) -> bool {
    let Value::String(text) = value else { return blank(value) };
    let kept: Vec<String> = text
        .split(',')
        .map(|part| match part.split_once('=') {
            Some(("uuid" | "base64", _)) | None => part.to_owned(),
            Some((key, _)) => format!("{key}={REDACTED}"),
        })
        .collect();
    let clean = kept.join(",");
    let changed = clean != *text;
    *text = clean;
    changed
}

/// Text without tokens and private keys. Every secret becomes as many asterisks, so that a frame with lengths in it
/// stays one.
fn text(input: &str) -> String {
    let mut out = String::with_capacity(input.len());
    let mut inside_key = false;
    for line in input.split_inclusive('\n') {
        let border = line.contains("PRIVATE KEY-----");
        let begins = border && line.contains("-----BEGIN");
        let ends = border && line.contains("-----END");
        if inside_key && !ends {
            out.extend(line.bytes().map(|b| if b == b'\n' { '\n' } else { '*' }));
        } else {
            out.push_str(&tokens(line));
        }
        inside_key = (inside_key || begins) && !ends;
    }
    out
}

fn tokens(line: &str) -> String {
    let mut out = line.to_owned();
    for start in TOKENS {
        let mut from = 0;
        while let Some(at) = out.get(from..).and_then(|rest| rest.find(start)).map(|at| from + at + start.len()) {
            let rest = out.get(at..).unwrap_or_default();
            let end = at + rest.find(|c: char| c.is_whitespace() || "\"',;&".contains(c)).unwrap_or(rest.len());
            // The part up to the next dot or equals sign names the token; what follows proves it.
            let token = out.get(at..end).unwrap_or_default();
            let named = token.find(['.', '=']).map_or(0, |n| n + 1);
            let secret = at + named..end;
            out.replace_range(secret.clone(), &"*".repeat(secret.len()));
            from = at + named;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_leave_and_everything_else_stays() {
        for (body, want) in [
            (
                r#"{"name":"t","algorithm":"hmac-sha256","key":"Q0FOQVJZ"}"#,
                r#"{"name":"t","algorithm":"hmac-sha256","key":"redacted"}"#,
            ),
            (r#"{"cipassword":"CANARY","cores":2}"#, r#"{"cipassword":"redacted","cores":2}"#),
            (r#"{"data":[{"API_Key":"CANARY"}]}"#, r#"{"data":[{"API_Key":"redacted"}]}"#),
            (
                r#"{"smbios1":"uuid=1-2,serial=Q0FOQVJZ,base64=1"}"#,
                r#"{"smbios1":"uuid=1-2,serial=redacted,base64=1"}"#,
            ),
            (r#"{"note":"x dbt1.KEYID.CANARY y"}"#, r#"{"note":"x dbt1.KEYID.****** y"}"#),
            ("token dbt1.KEYID.CANARY\nnext", "token dbt1.KEYID.******\nnext"),
            ("h: PVEAPIToken=a@b!c=CANARY", "h: PVEAPIToken=a@b!c=******"),
            (
                "-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----\nafter",
                "-----BEGIN PRIVATE KEY-----\n******\n-----END PRIVATE KEY-----\nafter",
            ),
        ] {
            let got = redact(body);
            assert_eq!(got, want);
            assert_eq!(redact(&got), got, "twice is once");
        }
    }

    #[test]
    fn what_holds_no_secret_is_not_touched() {
        for body in
            [r#"{ "key" : "value" }"#, "[1, 2]", "10.20.50.0/24 dev tdemo0\n", "", "{ broken", r#"{"secret":""}"#]
        {
            assert_eq!(redact(body), body);
        }
    }
}
