//! What a tenant's people are handed over: who may write their zones, the sheet in a file, and the secret of their key, which is
//! wiped as soon as it is where it was to go.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Shop;
use crate::console::change::{Told, Whispered};
use crate::provision::handover::{self, NewFileError};
use crate::site::secret::Secret;

impl Shop {
    /// Reads who may write the zones.
    pub(super) async fn keys(&self, id: u64, zones: Vec<String>) {
        let world = self.connected(true).await;
        let keys = handover::read(&world, &zones).await;
        self.heard.tell(id, Told::Keys(keys));
    }

    /// Keeps a text in a new file.
    pub(super) fn keep(&self, id: u64, path: &Path, text: &str) {
        let kept = written(path, text.as_bytes()).map(|path| format!("the sheet is in {path}; no secret is in it"));
        self.heard.tell(id, Told::Kept(kept));
    }

    /// Fetches the secret of a key, into a new file, else for the clipboard.
    pub(super) async fn secret(&self, id: u64, key: String, to: Option<PathBuf>) {
        let world = self.connected(false).await;
        let (secret, algorithm) = match handover::secret(&world, &key).await {
            Ok(told) => told,
            Err(trouble) => {
                let help = trouble.help().map_or_else(String::new, |help| format!("; {help}"));
                return self.heard.tell(id, Told::Kept(Err(format!("{}{help}", trouble.text))));
            }
        };
        let Some(path) = to else {
            let secret = Whispered(Arc::new(Secret::new(secret.as_str().to_owned())));
            return self.heard.tell(id, Told::Secret(secret));
        };
        let text = handover::key_file(&key, &algorithm, &secret);
        let kept = written(&path, text.as_bytes())
            .map(|path| format!("key {key} is in {path}, only yours to read; nsupdate -k takes it"));
        self.heard.tell(id, Told::Kept(kept));
    }
}

/// Where it was written, from the root on.
fn written(path: &Path, text: &[u8]) -> Result<String, String> {
    let failed = |error: NewFileError| crate::text::clean(&format!("{error}; {}", error.help())).into_owned();
    handover::write_new(path, text).map_err(failed)?;
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(crate::text::clean(&whole.display().to_string()).into_owned())
}
