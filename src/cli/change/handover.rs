//! `tenant handover`: the sheet for a tenant's people on stdout; the secret of their key in a file, where one is named.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{Office, failure};
use crate::cli::args::{Format, Kind};
use crate::cli::get::{Wanted, demand, known_tenant, picture};
use crate::cli::{Code, Failure, open, print, verdict};
use crate::inventory::feed::Feed;
use crate::provision::handover::{self, Part, Sheet};
use crate::runtime::clock;
use crate::site::Site;
use crate::site::names::TenantName;

/// How long the site is read at most; what has not come by then is unknown.
const LIMIT: Duration = Duration::from_secs(30);

/// Prints the sheet. 3 where something on it is unknown.
pub(super) fn run(site: &Arc<Site>, tenant: &TenantName, key_file: Option<&Path>, json: bool) -> Result<Code, Failure> {
    open::runtime()?.block_on(async {
        let office = Office::open(site).await?;
        let clock = clock::system();
        let mut feed = Feed::start(site, open::clients(site).await?, &clock);
        feed.demand(demand(false));
        let wanted = Wanted { kinds: &[Kind::Tenants, Kind::Rules], tenant: Some(tenant.as_str()) };
        let inv = picture(&mut feed, wanted, LIMIT).await;
        known_tenant(&inv, tenant.as_str())?;
        let row = inv.tenants.iter().find(|row| *row.name == *tenant.as_str());
        let zones = row.map(|row| vec![row.forward_zone.clone(), row.reverse_zone.clone()]).unwrap_or_default();
        let keys = handover::read(&office.desk.world, &zones).await;
        let sheet = Sheet::of(&inv, tenant.as_str(), Some(&keys), clock());
        let sheet = sheet.ok_or_else(|| Failure {
            code: Code::Unknown,
            text: format!("whether there is a tenant {tenant} is not known"),
            help: Some("`deevnet-console get sources` says what did not answer".to_owned()),
        })?;
        if let Some(path) = key_file {
            keep(&office, &sheet, path).await?;
        }
        let out = &mut std::io::stdout();
        let printed = if json {
            let document = json!({ "schema": "deevnet-console/tenant-handover/v1", "sheet": sheet });
            print::document(out, &document, Format::Json)
        } else {
            out.write_all(sheet.markdown().as_bytes()).map_err(Failure::from)
        };
        verdict(printed, if sheet.has_unknown() { Code::Unknown } else { Code::Ok })
    })
}

/// Fetches the secret of the key into a new file.
async fn keep(office: &Office, sheet: &Sheet, path: &Path) -> Result<(), Failure> {
    let key = match &sheet.names.key {
        Part::Known(key) => key,
        Part::Unknown { unknown } => {
            return Err(Failure {
                code: Code::Unknown,
                text: format!("no key was written, it is not known which: {unknown}"),
                help: Some("leave --key-file out for the sheet alone".to_owned()),
            });
        }
    };
    if path.symlink_metadata().is_ok() {
        // Said before the secret is fetched; the writing refuses it all the same.
        let error = handover::NewFileError::Exists(path.to_owned());
        return Err(Failure { code: Code::Refused, text: error.to_string(), help: Some(error.help().to_owned()) });
    }
    let (secret, algorithm) = handover::secret(&office.desk.world, &key.name).await.map_err(|e| failure(&e))?;
    let text = handover::key_file(&key.name, &algorithm, &secret);
    handover::write_new(path, text.as_bytes()).map_err(|error| Failure {
        code: Code::Refused,
        text: error.to_string(),
        help: Some(error.help().to_owned()),
    })?;
    open::note(&format!("key {} is in {}, only yours to read; nsupdate -k takes it", key.name, path.display()));
    Ok(())
}
