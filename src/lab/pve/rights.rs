//! Tokens, roles and privileges.

use serde_json::{Map, Value, json};

use super::{Answer, Call, Outcome, Shape};
use crate::lab::state::{Role, World};

const AUDITOR: &[&str] =
    &["Datastore.Audit", "Mapping.Audit", "Pool.Audit", "SDN.Audit", "Sys.Audit", "VM.Audit", "VM.GuestAgent.Audit"];

const NO_SDN: &[&str] = &["Datastore.Audit", "Pool.Audit", "Sys.Audit", "VM.Audit", "VM.GuestAgent.Audit"];

const OPERATOR: &[&str] = &[
    "Datastore.AllocateSpace",
    "Datastore.AllocateTemplate",
    "Datastore.Audit",
    "Mapping.Audit",
    "Pool.Audit",
    "SDN.Allocate",
    "SDN.Audit",
    "SDN.Use",
    "Sys.Audit",
    "VM.Allocate",
    "VM.Audit",
    "VM.Clone",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.Disk",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.Options",
    "VM.GuestAgent.Audit",
    "VM.Migrate",
    "VM.PowerMgmt",
];

const ADMINISTRATOR: &[&str] = &[
    "Datastore.Allocate",
    "Datastore.AllocateSpace",
    "Datastore.AllocateTemplate",
    "Datastore.Audit",
    "Group.Allocate",
    "Mapping.Audit",
    "Mapping.Modify",
    "Mapping.Use",
    "Permissions.Modify",
    "Pool.Allocate",
    "Pool.Audit",
    "Realm.Allocate",
    "Realm.AllocateUser",
    "SDN.Allocate",
    "SDN.Audit",
    "SDN.Use",
    "Sys.AccessNetwork",
    "Sys.Audit",
    "Sys.Console",
    "Sys.Incoming",
    "Sys.Modify",
    "Sys.PowerMgmt",
    "Sys.Syslog",
    "User.Modify",
    "VM.Allocate",
    "VM.Audit",
    "VM.Backup",
    "VM.Clone",
    "VM.Config.CDROM",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.Disk",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.Options",
    "VM.Console",
    "VM.GuestAgent.Audit",
    "VM.GuestAgent.FileRead",
    "VM.GuestAgent.FileSystemMgmt",
    "VM.GuestAgent.FileWrite",
    "VM.GuestAgent.Unrestricted",
    "VM.Migrate",
    "VM.PowerMgmt",
    "VM.Replicate",
    "VM.Snapshot",
    "VM.Snapshot.Rollback",
];

/// Paths `GET /access/permissions` always lists for a caller whose rights start at `/`.
const PATHS: &[&str] = &["/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"];

fn privileges(role: Role) -> &'static [&'static str] {
    match role {
        Role::Administrator => ADMINISTRATOR,
        Role::Auditor => AUDITOR,
        Role::Operator => OPERATOR,
        Role::NoSdn => NO_SDN,
        Role::Empty => &[],
    }
}

/// Whether a role holds a privilege, everywhere.
pub(super) fn holds(role: Role, privilege: &str) -> bool {
    privileges(role).contains(&privilege)
}

/// The token and its role behind an `Authorization` header, else the reason phrase of the 401.
pub(super) fn authenticate<'a>(world: &World, header: Option<&'a str>) -> Result<(&'a str, Role), String> {
    let header = header.filter(|_| !world.api.credentials_lost);
    let Some(value) = header.and_then(|header| header.strip_prefix("PVEAPIToken=")) else {
        return Err("No ticket".to_owned());
    };
    let Some((id, secret)) = value.rsplit_once('=') else {
        return Err("Authentication failed!".to_owned());
    };
    if let Some(words) = &world.tokens_refused {
        return Err(words.clone());
    }
    match world.tokens.get(id) {
        Some(token) if world.api.tokens_known && token.secret == secret => Ok((id, token.role)),
        _ => Err("Authentication failed!".to_owned()),
    }
}

/// `GET /access/permissions`.
pub(super) fn permissions(call: &Call<'_>) -> Outcome {
    call.accept(&[("path", Shape::Text), ("userid", Shape::Text)])?;
    if call.param("userid").is_some() {
        return Err(Answer::forbidden("/access", "Sys.Audit"));
    }
    let held: Map<String, Value> =
        privileges(call.role).iter().map(|privilege| ((*privilege).to_owned(), json!(1))).collect();
    if held.is_empty() {
        return Ok(json!({}).into());
    }
    let paths: Vec<&str> = call.param("path").map_or_else(|| PATHS.to_vec(), |path| vec![path]);
    let data: Map<String, Value> =
        paths.into_iter().map(|path| (path.to_owned(), Value::Object(held.clone()))).collect();
    Ok(Value::Object(data).into())
}
