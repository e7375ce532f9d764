//! Services of which the console reads one list, and the file that stands for one of them.

use std::future::Future;
use std::path::{Path, PathBuf};

use tokio::time::Instant;
use zeroize::Zeroizing;

use super::super::facts::{Fault, FaultKind, ListFacts, ServiceFacts, Tried};
use super::{Options, closed, secret};
use crate::backends::bootstrap::{self, Listing};
use crate::backends::registry;
use crate::site::Site;
use crate::site::model::{BootstrapSite, RegistrySite, SecretSource, Trust};

/// The file of bootstrap records, where there is one.
pub(super) fn file(site: &Site) -> Option<&Path> {
    match site.bootstrap.as_ref()? {
        BootstrapSite::File(path) => Some(path),
        BootstrapSite::Api { .. } => None,
    }
}

/// The file, read as the console reads it.
pub(super) async fn records(path: &Path, options: &Options<'_>) -> (PathBuf, Tried<usize>) {
    let read = check_ins(bootstrap::Client::file(path), options).await;
    (path.to_owned(), read)
}

/// The bootstrap service.
pub(super) async fn bootstrap(site: &Site, options: &Options<'_>) -> Option<ListFacts> {
    let Some(BootstrapSite::Api { url, trust, credential }) = &site.bootstrap else { return None };
    let read = async |word| match bootstrap::Client::api(url, trust, word, options.limits()) {
        Ok(client) => check_ins(client, options).await,
        Err(error) => Tried::Failed(Fault::from(&error)),
    };
    Some(service(("bootstrap", "credential"), (url, trust, credential), options, read).await)
}

/// The registry.
pub(super) async fn registry(site: &RegistrySite, options: &Options<'_>) -> ListFacts {
    let read = async |word| match registry::Client::new(site, word, options.limits()) {
        Ok(client) => Tried::of(client.tenants().await.map(|all| all.len())),
        Err(error) => Tried::Failed(Fault::from(&error)),
    };
    service(("registry", "token"), (&site.url, &site.trust, &site.token), options, read).await
}

async fn check_ins(client: bootstrap::Client, options: &Options<'_>) -> Tried<usize> {
    let fault = |kind, why: String, help: &str| Tried::Failed(Fault { kind, why, help: help.to_owned() });
    match tokio::time::timeout(options.wait, client.read()).await {
        Err(_) => fault(FaultKind::NoAnswer, format!("not read within {:?}", options.wait), "look at what holds it up"),
        Ok(Ok(Listing::NotOffered)) => {
            fault(FaultKind::NotOffered, "it offers no check-ins".to_owned(), "leave [bootstrap] out")
        }
        Ok(Ok(Listing::Records(records))) => match records.broken.first() {
            Some(one) => {
                let why = format!("record {} makes no sense: {}", one.number, one.why);
                fault(FaultKind::Failed, why, "look at what writes the records")
            }
            None => Tried::Got(records.items.len()),
        },
        Ok(Err(error)) => Tried::Failed(Fault::from(&error)),
    }
}

/// A look at the service; then its list, where a secret may be sent.
async fn service<R: Future<Output = Tried<usize>>>(
    (section, key): (&'static str, &'static str),
    (origin, trust, source): (&str, &Trust, &SecretSource),
    options: &Options<'_>,
    read: impl FnOnce(Zeroizing<String>) -> R,
) -> ListFacts {
    let began = Instant::now();
    let (look, (secret, word)) = tokio::join!(options.look(origin, trust), secret(key, source));
    let read = match (closed(&look), word) {
        (Some(why), _) => Tried::NotRun(why),
        (None, None) => Tried::NotRun(format!("there is no {key}")),
        (None, Some(word)) => read(word).await,
    };
    let service = ServiceFacts {
        section,
        origin: origin.to_owned(),
        trust: trust.clone(),
        secrets: vec![secret],
        look: Tried::Got(look),
        took: began.elapsed(),
    };
    ListFacts { service, read }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn what_is_no_file_of_records_is_no_good_file() {
        let clock = || jiff::Timestamp::UNIX_EPOCH;
        let options = Options { wait: Duration::from_secs(5), clock: &clock, resolv_conf: None };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.jsonl");
        assert!(matches!(records(dir.path(), &options).await.1, Tried::Failed(_)), "a directory");
        assert!(matches!(records(&path, &options).await.1, Tried::Failed(_)), "nothing");
        std::fs::write(&path, "x\n").unwrap();
        assert!(matches!(records(&path, &options).await.1, Tried::Failed(f) if f.kind == FaultKind::Failed));
        std::fs::write(&path, "{\"tenant\":\"eds\",\"workload\":\"jobs\"}\n").unwrap();
        assert_eq!(records(&path, &options).await.1, Tried::Got(1));
    }
}
