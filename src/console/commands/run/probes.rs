//! What is asked of the site beside reading it.

use std::sync::Arc;

use super::places::find_tenant;
use crate::backends::dns::RecordType;
use crate::console::commands::Call;
use crate::console::model::Model;
use crate::console::msg::{Effect, Notice};
use crate::console::{findings, isolation, resolve};
use crate::site::names::TenantName;

pub(in super::super) fn resolve(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(name) = call.args.first() else { return Vec::new() };
    match call.args.get(1).map(|kind| kind.parse::<RecordType>()).transpose() {
        Ok(kind) => resolve::typed(model, name, kind),
        Err(e) => {
            model.say(Notice::warning(format!("{e}; {}", e.help())));
            Vec::new()
        }
    }
}

pub(in super::super) fn check(model: &mut Model, call: &Call<'_>) -> Vec<Effect> {
    let Some(inv) = model.picture().cloned() else { return Vec::new() };
    let check = call.args.first().map(|word| findings::called(word).map_err(|all| format!("check what? {all}")));
    // Where nobody can tell whether there is a tenant of that name, the check itself says what it finds of it.
    let unsure = |why: String, word: &str| match word.parse::<TenantName>() {
        Ok(_) if inv.tenants_gap.is_some() => Ok(Arc::from(word)),
        _ => Err(why),
    };
    let tenant = call.args.get(1).map(|word| find_tenant(&inv, word).or_else(|why| unsure(why, word))).transpose();
    match (check, tenant) {
        (Some(Ok(check)), Ok(tenant)) => findings::ask(model, check, tenant),
        (Some(Err(why)), _) | (_, Err(why)) => {
            model.say(Notice::warning(why));
            Vec::new()
        }
        (None, _) => Vec::new(),
    }
}

/// Shows the isolation table.
pub(in super::super) fn matrix(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    isolation::show(model)
}

/// Opens the field for a pasted result.
pub(in super::super) fn paste(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    isolation::open(model)
}

/// Takes away what was pasted for the cell.
pub(in super::super) fn unpaste(model: &mut Model, _: &Call<'_>) -> Vec<Effect> {
    isolation::unpaste(model)
}
