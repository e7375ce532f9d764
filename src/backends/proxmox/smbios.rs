//! `smbios1` as one property: written whole or not at all, so it is read, changed and put back (facts/proxmox.md §10).

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use zeroize::Zeroizing;

use super::error::Error;
use super::names::Digest;
use super::wire::truth_word;
use crate::site::smbios::MAX_CHARS;

/// Keys of text fields; the rest are `uuid` and `base64`.
const FIELDS: [&str; 6] = ["serial", "manufacturer", "product", "version", "sku", "family"];

/// What stands in `smbios1`. Its fields may carry the pointer of a workload: they are never printed and are wiped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Smbios {
    uuid: Option<String>,
    fields: BTreeMap<&'static str, Zeroizing<Vec<u8>>>,
}

/// `smbios1` as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmbiosRead {
    /// Its fields; empty where the VM has none.
    pub smbios: Smbios,
    /// State of the configuration it was read from.
    pub digest: Digest,
}

impl Smbios {
    /// From the text of the property.
    ///
    /// # Errors
    /// [`Error::BadValue`] naming the key that is not understood, never its value.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = |why: String| Error::BadValue { what: "smbios1", why };
        let mut found: BTreeMap<&str, &str> = BTreeMap::new();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| bad("a part without = in it".to_owned()))?;
            if found.insert(key, value).is_some() {
                return Err(bad("a key that comes twice".to_owned()));
            }
        }
        let encoded = match found.remove("base64") {
            Some(word) => truth_word(word).ok_or_else(|| bad("base64 is no truth value".to_owned()))?,
            None => false,
        };
        let uuid = found.remove("uuid").map(str::to_owned);
        let mut fields = BTreeMap::new();
        for key in FIELDS {
            let Some(value) = found.remove(key) else { continue };
            let bytes = if encoded { decoded(value) } else { Some(value.as_bytes().to_vec()) };
            let bytes = bytes.ok_or_else(|| bad(format!("{key} is not base64")))?;
            if !bytes.is_empty() {
                fields.insert(key, Zeroizing::new(bytes));
            }
        }
        match found.is_empty() {
            true => Ok(Self { uuid, fields }),
            false => Err(bad("it has a key that is not known here".to_owned())),
        }
    }

    /// The guest's UUID.
    #[must_use]
    pub fn uuid(&self) -> Option<&str> {
        self.uuid.as_deref()
    }

    /// The serial number, which may be a pointer.
    #[must_use]
    pub fn serial(&self) -> Option<&[u8]> {
        self.fields.get("serial").map(|bytes| bytes.as_slice())
    }

    /// Puts `serial` in; an empty one takes it out.
    pub fn set_serial(&mut self, serial: &[u8]) {
        if serial.is_empty() {
            self.fields.remove("serial");
        } else {
            self.fields.insert("serial", Zeroizing::new(serial.to_vec()));
        }
    }

    /// The text of the property.
    ///
    /// # Errors
    /// [`Error::BadValue`] without a UUID, which the guest would lose, and for more than Proxmox takes.
    pub fn text(&self) -> Result<Zeroizing<String>, Error> {
        let bad = |why: &str| Error::BadValue { what: "smbios1", why: why.to_owned() };
        let uuid = self.uuid.as_deref().filter(|uuid| is_uuid(uuid));
        let uuid =
            uuid.ok_or_else(|| bad("the VM has no UUID there, and writing it would leave the guest without one"))?;
        // Room for all of it: no copy is left behind by growing.
        let room = 64 + self.fields.values().map(|bytes| 16 + bytes.len() * 2).sum::<usize>();
        let mut text = Zeroizing::new(String::with_capacity(room));
        text.push_str("uuid=");
        text.push_str(uuid);
        for (key, bytes) in &self.fields {
            let value = Zeroizing::new(STANDARD.encode(bytes.as_slice()));
            for part in [",", *key, "=", value.as_str()] {
                text.push_str(part);
            }
        }
        if !self.fields.is_empty() {
            text.push_str(",base64=1");
        }
        if text.len() > MAX_CHARS {
            return Err(bad("it would be longer than the 512 characters that Proxmox takes"));
        }
        Ok(text)
    }
}

impl fmt::Debug for Smbios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<&str> = self.fields.keys().copied().collect();
        f.debug_struct("Smbios").field("uuid", &self.uuid).field("fields", &fields).finish()
    }
}

/// Padded or not: Proxmox takes both.
fn decoded(value: &str) -> Option<Vec<u8>> {
    STANDARD_NO_PAD.decode(value.trim_end_matches('=')).ok()
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "7d9f3c1e-2b4a-4c5d-8e6f-204020402040";

    #[test]
    fn what_else_stands_there_stays() {
        let mut smbios = Smbios::parse(&format!("base64=1,uuid={UUID},product=UGhvZW5peA==,serial=Zm9v")).unwrap();
        assert_eq!((smbios.uuid(), smbios.serial()), (Some(UUID), Some(&b"foo"[..])));
        smbios.set_serial(b"dvb1;u=https://x;t=C4N4RY");
        let text = smbios.text().unwrap();
        assert!(text.starts_with(&format!("uuid={UUID},product=UGhvZW5peA==,serial=")) && text.ends_with(",base64=1"));
        assert_eq!(Smbios::parse(&text).unwrap(), smbios);
        let shown = format!("{smbios:?}");
        assert!(shown.contains(UUID) && !shown.contains("C4N4RY") && !shown.contains("dvb1"), "{shown}");
        smbios.set_serial(b"");
        assert_eq!(smbios.text().unwrap().as_str(), format!("uuid={UUID},product=UGhvZW5peA==,base64=1"));
    }

    #[test]
    fn plain_fields_become_encoded_ones() {
        let smbios = Smbios::parse(&format!("uuid={UUID},family=abc")).unwrap();
        assert_eq!(smbios.text().unwrap().as_str(), format!("uuid={UUID},family=YWJj,base64=1"));
        assert_eq!(Smbios::parse(&format!("uuid={UUID}")).unwrap().text().unwrap().as_str(), format!("uuid={UUID}"));
    }

    #[test]
    fn nothing_is_written_that_would_harm() {
        let lost = Smbios::parse("serial=Zm9v,base64=1").unwrap().text().unwrap_err();
        assert!(matches!(&lost, Error::BadValue { what: "smbios1", why } if why.contains("UUID")), "{lost:?}");
        let mut long = Smbios::parse(&format!("uuid={UUID}")).unwrap();
        long.set_serial(&[b'C'; 339]);
        assert_eq!(long.text().unwrap().len(), 510);
        long.set_serial(&[b'C'; 340]);
        assert!(long.text().unwrap_err().to_string().contains("512"));
        for odd in ["serial=C4N4RY;,base64=1", "uuid", "base64=perhaps", "uuid=a,uuid=b", "asset=C4N4RY"] {
            let error = Smbios::parse(odd).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("C4N4RY"), "{error}");
        }
    }
}
