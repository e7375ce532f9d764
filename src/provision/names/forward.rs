//! A forward of the perimeter's resolver, known by its domain.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{UNTOLD, dns_name, is_lost};
use crate::backends::opnsense::model::{Forward as Row, ForwardKind};
use crate::backends::opnsense::{Client, Error, NewForward};
use crate::backends::permit::Permit;
use crate::provision::fields::{Difference, Fields, PASSING, Seen, Wanted, fields};
use crate::provision::journal::Notes;
use crate::provision::object::{Danger, Doing, Ensure, Looking, Object, Place, Undo};
use crate::provision::plan::Step;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;

/// A plain forward of a domain, as it is saved. It is in force when the resolver was told: `ResolverReload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    /// The domain, without final dot.
    pub domain: String,
}

/// A server with its port, where that is not 53.
pub(in crate::provision) fn server_text(server: IpAddr, port: u16) -> String {
    if port == 53 { server.to_string() } else { format!("{server} port {port}") }
}

fn server_of(text: &str) -> Option<(IpAddr, Option<u16>)> {
    match text.split_once(" port ") {
        None => Some((text.parse().ok()?, None)),
        Some((server, port)) => Some((server.parse().ok()?, Some(port.parse().ok()?))),
    }
}

fn shown(row: &Row) -> String {
    let server = row.server.parse().map_or_else(|_| row.server.clone(), |ip| server_text(ip, row.port.unwrap_or(53)));
    let kind = if row.kind == ForwardKind::Dot { " over TLS" } else { "" };
    format!("{server}{kind}{}", if row.enabled { "" } else { ", switched off" })
}

/// Field: which row it is.
fn uuid() -> String {
    format!("{PASSING}uuid")
}

fn word(kind: ForwardKind) -> &'static str {
    match kind {
        ForwardKind::Forward => "forward",
        ForwardKind::Dot => "dot",
    }
}

fn row_fields(row: &Row) -> Fields {
    let server = row.server.parse().map_or_else(|_| row.server.clone(), |ip| server_text(ip, row.port.unwrap_or(53)));
    let mut all = fields([
        ("type", word(row.kind).to_owned()),
        ("server", server),
        ("enabled", u8::from(row.enabled).to_string()),
        ("description", row.description.clone()),
    ]);
    if row.final_dot {
        all.insert("domain".to_owned(), format!("{}. with a final dot", row.domain));
    }
    all
}

impl Forward {
    /// Note: the uuid of the row that the router gave this change.
    fn own(&self) -> String {
        format!("forward-{}-own", self.domain)
    }

    /// Rows of the domain: the one that is kept first, which is a plain one where there is one, of the lowest uuid.
    async fn rows(&self, client: &Client) -> Result<Vec<Row>, Trouble> {
        let all = client.forwards().await.map_err(|e| Trouble::from(&e))?;
        let mut own: Vec<Row> = all.into_iter().filter(|row| row.domain == self.domain).collect();
        own.sort_by(|a, b| {
            let key = |row: &Row| (row.kind == ForwardKind::Dot, !row.enabled, row.uuid.clone());
            key(a).cmp(&key(b))
        });
        Ok(own)
    }

    /// The row as it is to be: what the difference says, and else what is there.
    fn row(&self, todo: &Difference, held: Option<&Row>) -> Result<NewForward, Trouble> {
        let bad = |what: &str| Trouble::new(TroubleKind::Refused, format!("{}: {what}", self.name()));
        let now = held.map(row_fields).unwrap_or_default();
        let value = |name: &str| todo.value(name).or_else(|| now.get(name).map(String::as_str));
        let server = value("server").ok_or_else(|| bad("it has no server"))?;
        let (server, port) = server_of(server).ok_or_else(|| bad(&format!("{server} is no address of a server")))?;
        Ok(NewForward {
            domain: dns_name(&self.domain)?,
            server,
            port,
            enabled: value("enabled").unwrap_or("1") == "1",
            description: value("description").unwrap_or_default().to_owned(),
        })
    }
}

impl Ensure for Forward {
    fn place(&self) -> Place {
        Place::Fw
    }

    fn name(&self) -> String {
        format!("forward {}", self.domain)
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::Tenant
    }

    fn undo(&self, todo: &Difference) -> Undo {
        let fixed = |c: &crate::provision::fields::Change| matches!(c.field.as_str(), "more" | "type" | "domain");
        match todo {
            Difference::Update(changes) if changes.iter().any(fixed) => {
                Undo::None("more than one row of its domain, or one that was no plain forward, was put right")
            }
            _ => Undo::Inverse,
        }
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let rows = self.rows(context.world.opnsense()?).await?;
            let Some((first, others)) = rows.split_first() else { return Ok(Seen::Absent) };
            let mut all = row_fields(first);
            all.insert(uuid(), first.uuid.clone());
            if !others.is_empty() {
                all.insert("more".to_owned(), others.iter().map(shown).collect::<Vec<_>>().join("; "));
            }
            Ok(Seen::Present(all))
        })
    }

    /// Whoever described it: that is no difference. More rows than one of a domain are, and so is a final dot.
    fn difference(&self, seen: &Seen, wanted: &Wanted) -> Difference {
        let (mut seen, mut wanted) = (seen.clone(), wanted.clone());
        // Which row it is: a new one never has the same.
        if let Seen::Present(fields) = &mut seen {
            fields.remove(&uuid());
        }
        if let Wanted::Present(fields) = &mut wanted {
            fields.remove(&uuid());
        }
        let (Seen::Present(now), Wanted::Present(fields)) = (&seen, &mut wanted) else {
            return Difference::between(&seen, &wanted);
        };
        fields.remove("description");
        for name in ["more", "domain"].into_iter().filter(|name| now.contains_key(*name)) {
            fields.insert(name.to_owned(), String::new());
        }
        Difference::between(&seen, &wanted)
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            if todo.is_nothing() {
                return Ok(());
            }
            let client = context.world.opnsense()?;
            // Before it is sent: what was saved and not told of has to be known to whoever takes this up.
            context.notes.set(UNTOLD, "yes", context.now())?;
            let rows = self.rows(client).await?;
            let kept = rows.first().filter(|row| row.kind == ForwardKind::Forward);
            if matches!(todo, Difference::Delete(_)) {
                return delete(client, permit, rows.iter()).await;
            }
            let wanted = self.row(todo, rows.first())?;
            match kept {
                None => {
                    let uuid = client.add_forward(permit, &wanted).await.map_err(|e| Trouble::from(&e))?;
                    context.notes.set(&self.own(), &uuid, context.now())?;
                }
                Some(row) if wanted.is_made(row) => {}
                Some(row) => client.set_forward(permit, &row.uuid, &wanted).await.map_err(|e| Trouble::from(&e))?,
            }
            delete(client, permit, rows.iter().filter(|row| kept.is_none_or(|kept| kept.uuid != row.uuid))).await
        })
    }

    /// The row that the router told this change of. Others write the same server and description beside the same domain.
    fn proof(&self, _wanted: &Fields, notes: &Notes) -> Option<Fields> {
        Some(fields([(uuid(), notes.get(&self.own())?)]))
    }

    /// No name is led to a zone that is gone.
    fn without(&self, wanted: Wanted, lost: &[Object]) -> Option<Wanted> {
        Some(wanted).filter(|wanted| *wanted == Wanted::Absent || !is_lost(&self.domain, lost))
    }

    fn riders(&self, seen: &Seen, _own: &[Step]) -> Vec<String> {
        let more = seen.field("more").map(|more| format!("other rows of {}, which are deleted: {more}", self.domain));
        let kind = seen.field("type").filter(|kind| *kind != "forward");
        let dot = kind.map(|_| format!("a row of {} over TLS, which is deleted", self.domain));
        more.into_iter().chain(dot).collect()
    }
}

/// Deletes rows; one that is gone already is as wanted.
async fn delete(client: &Client, permit: &Permit, rows: impl Iterator<Item = &Row>) -> Result<(), Trouble> {
    for row in rows {
        match client.delete_forward(permit, &row.uuid).await {
            Ok(()) | Err(Error::Absent { .. }) => {}
            Err(error) => return Err(Trouble::from(&error)),
        }
    }
    Ok(())
}
