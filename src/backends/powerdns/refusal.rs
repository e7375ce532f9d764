//! What a refusal of PowerDNS says, where its words have a meaning of their own (facts/dns.md §1). The words are the
//! server's and stable; whoever sent the request is told what to send instead.

/// A refusal, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A name without its final dot: it is never completed by the server.
    NotCanonical {
        /// The name as sent.
        name: String,
    },
    /// A CNAME beside other records, or others beside a CNAME.
    Conflict {
        /// Owner.
        name: String,
        /// Type that was to be written.
        kind: String,
    },
    /// A record's content that cannot be one of its type.
    Content {
        /// Owner.
        name: String,
        /// Type.
        kind: String,
        /// The content as sent.
        content: String,
    },
}

impl Refusal {
    /// Reads the text of an answer; `None` for words that are not known here.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("DNS Name '") {
            let name = rest.strip_suffix("' is not canonical")?;
            return Some(Self::NotCanonical { name: name.to_owned() });
        }
        if let Some(rest) = text.strip_prefix("RRset ") {
            let (place, why) = rest.split_once(": ")?;
            let (name, kind) = place.split_once(" IN ")?;
            let clash = why.starts_with("Conflicts with ");
            return clash.then(|| Self::Conflict { name: name.to_owned(), kind: kind.to_owned() });
        }
        let (place, rest) = text.strip_prefix("Record ")?.split_once(" '")?;
        let (name, kind) = place.rsplit_once('/')?;
        let (content, _) = rest.split_once("': ")?;
        Some(Self::Content { name: name.to_owned(), kind: kind.to_owned(), content: content.to_owned() })
    }

    /// What to do instead.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotCanonical { name } => format!("Send the whole name with its final dot: {name}."),
            Self::Conflict { name, kind } => {
                format!("Look at what {name} holds; choose another name for the {kind}, or replace it after review.")
            }
            Self::Content { name, kind, content } => format!("Correct {content:?}: it is no {kind} of {name}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_server_are_told_apart() {
        let of = |text: &str| Refusal::of(text);
        assert_eq!(of("DNS Name 'a.b' is not canonical"), Some(Refusal::NotCanonical { name: "a.b".into() }));
        for why in ["Conflicts with pre-existing RRset", "Conflicts with existing A RRset of the same name"] {
            let clash = Refusal::Conflict { name: "x.y.".into(), kind: "CNAME".into() };
            assert_eq!(of(&format!("RRset x.y. IN CNAME: {why}")), Some(clash));
        }
        let content =
            of("Record w.x./A '10.0.0.l': Parsing record content (try 'pdnsutil check-zone'): strange character");
        let wanted = Refusal::Content { name: "w.x.".into(), kind: "A".into(), content: "10.0.0.l".into() };
        assert_eq!(content, Some(wanted));
        for other in ["Conflict", "RRset x. IN A: something else", "Record without a quote"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
