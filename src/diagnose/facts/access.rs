//! Who asks: permissions of the identity in use, its tokens, roles, version; whether a login was renewed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::rows::{self, data, number, read, truth};
use super::sdn::text;
use super::{Facts, Reader, Sourced, Taken};
use crate::backends::proxmox::model::Permissions;
use crate::diagnose::evidence::{Api, Item};

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[permissions, tokens, roles, version, renewed];

/// A token of a Proxmox user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// User and token: `user@realm!name`.
    pub id: String,
    /// Has rights of its own only; `None` = not told.
    pub privsep: Option<bool>,
    /// When it ends, Unix seconds; 0 = never.
    pub expire: Option<u64>,
}

/// What was read of it.
#[derive(Debug, Default)]
pub struct Access {
    /// ACL path → privileges of the identity in use.
    pub permissions: Option<Sourced<BTreeMap<String, BTreeSet<String>>>>,
    /// The same with what is inherited, to ask whether a list can be whole.
    pub held: Option<Permissions>,
    /// Tokens by user.
    pub tokens: Vec<Sourced<Token>>,
    /// Role → privileges.
    pub roles: BTreeMap<String, Sourced<BTreeSet<String>>>,
    /// Version of Proxmox VE.
    pub version: Option<Sourced<String>>,
    /// A login ticket was issued in the course of this.
    pub renewed: Option<Sourced<()>>,
}

fn privileges(value: &Value) -> BTreeSet<String> {
    let on = |v: &Value| !matches!(v, Value::Null | Value::Bool(false)) && v.as_u64() != Some(0);
    value.as_object().into_iter().flatten().filter(|(_, v)| on(v)).map(|(key, _)| key.clone()).collect()
}

fn permissions(item: &Item, facts: &mut Facts) -> Taken {
    let map = data(item, "access/permissions").and_then(|value| rows::object(value, "permissions"));
    // What is listed is held; 0 says only that objects below do not inherit it (facts/proxmox.md §3).
    let held = |on: &Value, inherited: bool| -> BTreeSet<String> {
        let all = on.as_object().into_iter().flatten();
        all.filter(|(_, on)| !inherited || on.as_u64() != Some(0)).map(|(privilege, _)| privilege.clone()).collect()
    };
    let of = |map: &rows::Row, inherited| map.iter().map(|(path, on)| (path.clone(), held(on, inherited))).collect();
    read(map, |map| {
        let by_path: BTreeMap<String, BTreeSet<String>> = of(&map, false);
        facts.access.held = Some(Permissions { by_path: by_path.clone(), propagating: of(&map, true) });
        facts.access.permissions = Some(Sourced::new(by_path, item));
    })
}

fn tokens(item: &Item, facts: &mut Facts) -> Taken {
    let Some(user) = item.http().map(|http| http.segment(2).to_owned()) else { return Taken::NotMine };
    let token = |row: rows::Row| -> Result<Token, Taken> {
        Ok(Token {
            id: format!("{user}!{}", rows::need(&row, "tokenid", "a token")?),
            privsep: truth(&row, "privsep"),
            expire: number(&row, "expire"),
        })
    };
    let all = data(item, "access/users/*/token")
        .and_then(|value| rows::objects(value, "tokens"))
        .and_then(|rows| rows.into_iter().map(token).collect::<Result<Vec<_>, _>>());
    read(all, |all| facts.access.tokens.extend(all.into_iter().map(|token| Sourced::new(token, item))))
}

fn roles(item: &Item, facts: &mut Facts) -> Taken {
    let Some(role) = item.http().map(|http| http.segment(2).to_owned()) else { return Taken::NotMine };
    let one = data(item, "access/roles/*").map(|value| privileges(&value));
    read(one, |one| drop(facts.access.roles.insert(role, Sourced::new(one, item))))
}

fn version(item: &Item, facts: &mut Facts) -> Taken {
    let version = data(item, "version")
        .and_then(|value| rows::object(value, "version"))
        .and_then(|row| rows::need(&row, "version", "the version"));
    read(version, |version| facts.access.version = Some(Sourced::new(version, item)))
}

fn renewed(item: &Item, facts: &mut Facts) -> Taken {
    match rows::answered(item, Api::Proxmox, "access/ticket") {
        Ok(http) if http.method == "POST" => {
            let value = serde_json::from_str::<Value>(&item.body).unwrap_or_default();
            let ticket = value.get("data").and_then(Value::as_object).is_some_and(|d| text(d, "ticket").is_some());
            if ticket {
                facts.access.renewed = Some(Sourced::new((), item));
            }
            Taken::Read
        }
        _ => Taken::NotMine,
    }
}
