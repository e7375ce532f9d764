//! The key that updates are signed with, and what their errors mean for a step.

use std::path::Path;
use std::time::Duration;

use crate::backends::dns::{
    Ask, Clock, DnsName, Signature, SignedQuery, Update, UpdateError, UpdateKey, WIDEST_FUDGE, ask_signed,
};
use crate::backends::http::Outcome;
use crate::provision::handover;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::World;
use crate::site::model::SecretSource;
use crate::site::secret::Secret;

use super::dns_name;

/// Longest wait for the question whether clocks differ.
const WAIT: Duration = Duration::from_secs(3);

fn refused(text: impl AsRef<str>, help: &str) -> Trouble {
    Trouble::new(TroubleKind::Refused, text).with_help(help)
}

/// The key: from a file as `nsupdate -k` takes it, else the tenant's that the zone lists, told by PowerDNS' API.
pub(super) async fn key(world: &World, tenant: &str, zone: &str, file: Option<&Path>) -> Result<UpdateKey, Trouble> {
    if let Some(path) = file {
        let text = SecretSource::File(path.to_owned()).read_lines().await;
        let text = text.map_err(|e| refused(e.to_string(), e.help()))?;
        let help = "give a file as tsig-keygen or `tenant handover --key-file` writes it";
        let block = parsed(&text).ok_or_else(|| refused(format!("{} holds no key", path.display()), help))?;
        return usable(&block.name, &block.algorithm, block.secret.expose());
    }
    let help = "name a file of the key: --key-file FILE";
    let keys = handover::read(world, &[zone.to_owned()]).await.map_err(|why| why.with_help(help))?;
    let key = handover::chosen(tenant, &keys)?;
    let (secret, algorithm) = handover::secret(world, &key.name).await?;
    usable(&key.name, &algorithm, &secret)
}

fn usable(name: &str, algorithm: &str, secret: &str) -> Result<UpdateKey, Trouble> {
    let name: DnsName = dns_name(name)?;
    let key = UpdateKey::new(&name, algorithm, secret);
    key.map_err(|e| refused(format!("key {} cannot sign: {e}", name.as_str()), e.help()))
}

/// A key as its file tells it.
struct Block {
    name: String,
    algorithm: String,
    secret: Secret,
}

/// `key "NAME" { algorithm ALGORITHM; secret "SECRET"; };`, on any number of lines, remarks behind `#` or `//`.
fn parsed(text: &Secret) -> Option<Block> {
    let lines = text.expose().lines().map(|line| line.split_once('#').map_or(line, |(front, _)| front));
    let lines = lines.map(|line| if line.trim_start().starts_with("//") { "" } else { line });
    let mut words = lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | ';')));
    let mut next = || words.by_ref().map(|word| word.trim_matches('"')).find(|word| !word.is_empty());
    (next()? == "key").then_some(())?;
    let name = next()?.to_owned();
    let (mut algorithm, mut secret) = (None, None);
    while let Some(word) = next() {
        match word {
            "algorithm" => algorithm = Some(next()?.to_owned()),
            "secret" => secret = Some(Secret::new(next()?.to_owned())),
            _ => return None,
        }
    }
    Some(Block { name, algorithm: algorithm?, secret: secret? })
}

/// What the error of an update means for its step. Why a server does not take a key without saying so is asked for: whether
/// it is the clocks.
pub(super) async fn trouble(error: &UpdateError, update: &Update<'_>, clock: Clock<'_>) -> Trouble {
    let kind = match (error, error.outcome()) {
        (UpdateError::Unmet { .. }, _) => TroubleKind::Moved,
        // Who says no without a signature may be anybody: what became of it shows when it is read again. Nothing is gained by
        // asking the same again.
        (UpdateError::Credential { .. } | UpdateError::NotProven { .. }, _) => TroubleKind::NotSeen,
        (_, Outcome::Unknown) => TroubleKind::Unsettled,
        (UpdateError::NotSent(_), _) => TroubleKind::NotReached,
        _ => TroubleKind::Refused,
    };
    let told = Trouble::new(kind, error.to_string()).with_help(error.help());
    if !matches!(error, UpdateError::Credential { tsig: None, .. }) || !clocks_differ(update, clock).await {
        return told;
    }
    let text = format!("{error}; with more room for clocks it does: they differ by more than {} s", update.fudge);
    Trouble::new(kind, text).with_help("set the clocks of both sides")
}

async fn clocks_differ(update: &Update<'_>, clock: Clock<'_>) -> bool {
    let question = SignedQuery {
        server: update.server,
        zone: update.zone,
        ask: Ask::Soa,
        key: Some(update.key),
        fudge: WIDEST_FUDGE,
        wait: WAIT,
    };
    ask_signed(&question, clock).await.is_ok_and(|answer| matches!(answer.signature, Signature::Good(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_tools_write_them() {
        let many = "# made by hand\nkey \"tdemo-2\" {\n\talgorithm hmac-sha256;\n\tsecret \"c2VjcmV0cw==\";\n};\n";
        for text in [handover::key_file("tdemo-2", "hmac-sha256", "c2VjcmV0cw==").to_string(), many.to_owned()] {
            let block = parsed(&Secret::new(text)).expect("a key");
            assert_eq!((block.name.as_str(), block.algorithm.as_str()), ("tdemo-2", "hmac-sha256"));
            assert_eq!(block.secret.expose(), "c2VjcmV0cw==");
        }
        for text in [
            "",
            "c2VjcmV0cw==",
            "key \"a\" { secret \"c2Vj\"; };",
            "key \"a\" { algorithm hmac-sha256; };",
            "zone \"a\" {};",
        ] {
            assert!(parsed(&Secret::new(text.to_owned())).is_none(), "{text}");
        }
    }
}
