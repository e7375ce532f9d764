//! The parameters of a change, checked as the API's schemas do before anything else happens (§1).

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::{Answer, Call};

/// What a parameter must look like.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// `0` or `1`.
    Bool,
    /// A whole number in a range.
    Int(i64, i64),
    /// Text of at most so many characters.
    Text(usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A form of its own; the error is said as it stands.
    Own(fn(&str) -> Result<(), String>),
    /// The same where the error tells the parameter's name, which comes first.
    Named(fn(&str, &str) -> Result<(), String>),
}

/// A parameter: name, form, whether it must be there.
pub(super) type Parameter = (&'static str, Rule, bool);

/// Any number.
pub(super) const NUMBER: Rule = Rule::Int(i64::MIN, i64::MAX);
/// Any text.
pub(super) const TEXT: Rule = Rule::Text(usize::MAX);
/// Options to be removed.
pub(super) const DELETE: Parameter = ("delete", Rule::Text(4096), false);
/// Digest of what is to be changed.
pub(super) const DIGEST: Parameter = ("digest", Rule::Text(64), false);
/// Token of the SDN lock.
pub(super) const TOKEN: Parameter = ("lock-token", TEXT, false);

/// What the schema says of a parameter it does not have.
pub(super) const UNKNOWN: &str =
    "property is not defined in schema and the schema does not allow additional properties";
/// What the schema says of a parameter that must be there.
pub(super) const MISSING: &str = "property is missing and it is not optional";
/// What the schema says of text of another form.
pub(super) const PATTERN: &str = "value does not match the regex pattern";

impl Rule {
    /// Checks a value.
    pub(super) fn check(self, name: &str, value: &str) -> Result<(), String> {
        match self {
            Self::Bool if !matches!(value, "0" | "1") => Err(format!("type check ('boolean') failed - got '{value}'")),
            Self::Int(low, high) => match value.parse::<i64>() {
                Err(_) => Err(format!("type check ('integer') failed - got '{value}'")),
                Ok(number) if number < low => Err(format!("value must have a minimum value of {low}")),
                Ok(number) if number > high => Err(format!("value must have a maximum value of {high}")),
                Ok(_) => Ok(()),
            },
            Self::Text(most) if value.chars().count() > most => {
                Err(format!("value may only be {most} characters long"))
            }
            Self::Word(words) if !words.contains(&value) => {
                Err(format!("value '{value}' does not have a value in the enumeration '{}'", words.join(", ")))
            }
            Self::Own(check) => check(value),
            Self::Named(check) => check(name, value),
            _ => Ok(()),
        }
    }

    /// A value as it is stored: numbers and switches are numbers.
    pub(super) fn stored(self, value: &str) -> Value {
        match self {
            Self::Bool | Self::Int(..) => value.parse::<i64>().map_or_else(|_| value.into(), Value::from),
            _ => value.into(),
        }
    }
}

/// Refuses unknown, missing and malformed parameters, all at once.
pub(super) fn check(call: &Call<'_>, known: &[Parameter]) -> Result<(), Answer> {
    checked(call, known, |_| None)
}

/// The same where names of a pattern are known as well.
pub(super) fn checked(
    call: &Call<'_>,
    known: &[Parameter],
    other: impl Fn(&str) -> Option<Rule>,
) -> Result<(), Answer> {
    let mut errors = Map::new();
    for (name, value) in call.query {
        let rule = known.iter().find(|(key, ..)| key == name).map(|(_, rule, _)| *rule).or_else(|| other(name));
        let problem = rule.map_or_else(|| Err(UNKNOWN.to_owned()), |rule| rule.check(name, value));
        if let Err(problem) = problem {
            errors.insert(name.clone(), problem.into());
        }
    }
    for (name, ..) in known.iter().filter(|(name, _, needed)| *needed && call.param(name).is_none()) {
        errors.insert((*name).to_owned(), MISSING.into());
    }
    if errors.is_empty() { Ok(()) } else { Err(Answer::parameter(Value::Object(errors))) }
}

/// Refuses a parameter that says other than the path.
pub(super) fn agrees(call: &Call<'_>, in_path: &[(&str, &str)]) -> Result<(), Answer> {
    let mut errors = Map::new();
    for (name, value) in in_path {
        if call.param(name).is_some_and(|given| given != *value) {
            let text = "duplicate parameter (already defined in URI) with conflicting values!";
            errors.insert((*name).to_owned(), text.into());
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Answer::parameter(Value::Object(errors))) }
}

/// An id of SDN: letters and digits, a letter first, 2 to `most`.
fn sdn_id(value: &str, most: usize, more: &[u8]) -> Result<(), String> {
    if value.chars().count() > most {
        return Err(format!("value may only be {most} characters long"));
    }
    let bytes = value.as_bytes();
    let ends =
        bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.last().is_some_and(u8::is_ascii_alphanumeric);
    let inner = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || more.contains(byte));
    if bytes.len() >= 2 && ends && inner { Ok(()) } else { Err(PATTERN.to_owned()) }
}

/// Id of a zone or VNet.
pub(super) fn zone_id(value: &str) -> Result<(), String> {
    sdn_id(value, 8, b"")
}

/// Id of a controller.
pub(super) fn controller_id(value: &str) -> Result<(), String> {
    sdn_id(value, 64, b"_-")
}

pub(super) fn format(text: &str) -> String {
    format!("invalid format - {text}\n")
}

/// Names of nodes, separated by commas; whether they exist is nobody's business (§4).
pub(super) fn nodes(value: &str) -> Result<(), String> {
    let name = |name: &str| {
        let inner = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        !name.is_empty() && inner && !name.starts_with('-') && !name.ends_with('-')
    };
    let wrong = value.split(',').find(|entry| !name(entry));
    wrong.map_or(Ok(()), |_| Err(format("value does not look like a valid node name")))
}

/// Addresses, separated by commas.
pub(super) fn addresses(value: &str) -> Result<(), String> {
    let wrong = value.split([',', ' ']).filter(|part| !part.is_empty()).any(|part| part.parse::<IpAddr>().is_err());
    if wrong { Err(format("value does not look like a valid IP address")) } else { Ok(()) }
}

/// One address.
pub(super) fn address(value: &str) -> Result<(), String> {
    value.parse::<IpAddr>().map(|_| ()).map_err(|_| format("value does not look like a valid IP address"))
}

/// A hardware address of one card.
pub(super) fn mac(value: &str) -> Result<(), String> {
    let pairs: Vec<&str> = value.split(':').collect();
    let pair = |pair: &&str| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unicast = pairs.first().and_then(|pair| u8::from_str_radix(pair, 16).ok()).is_some_and(|byte| byte & 1 == 0);
    if pairs.len() == 6 && pairs.iter().all(pair) && unicast {
        Ok(())
    } else {
        Err(format("value does not look like a valid unicast MAC address"))
    }
}

/// A network `ADDRESS/BITS`; bits of a host may be set (§4).
pub(super) fn network(value: &str) -> Result<(), String> {
    value.parse::<ipnet::IpNet>().map(|_| ()).map_err(|_| format("value does not look like a valid CIDR network"))
}

/// A DNS name.
pub(super) fn dns_name(value: &str) -> Result<(), String> {
    let label = |label: &str| {
        let inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (1..=63).contains(&label.len()) && inner && !label.starts_with('-') && !label.ends_with('-')
    };
    if value.split('.').all(label) { Ok(()) } else { Err(format("value does not look like a valid DNS name")) }
}
