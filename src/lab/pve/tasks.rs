//! Task lists, states and logs (facts/proxmox.md §9).

use serde_json::{Value, json};

use super::{Answer, Call, Outcome, Reply, Shape};
use crate::lab::state::Task;
use crate::lab::{insert, object};

/// A UPID taken apart.
struct Upid<'a> {
    node: &'a str,
    pid: i64,
    pstart: i64,
    start: i64,
    kind: &'a str,
    id: &'a str,
    user: &'a str,
    token: Option<&'a str>,
}

impl<'a> Upid<'a> {
    fn parse(upid: &'a str) -> Option<Self> {
        let mut parts = upid.split(':');
        if parts.next()? != "UPID" {
            return None;
        }
        let node = parts.next()?;
        let mut hex = || i64::from_str_radix(parts.next()?, 16).ok();
        let (pid, pstart, start) = (hex()?, hex()?, hex()?);
        let (kind, id, who) = (parts.next()?, parts.next()?, parts.next()?);
        let (user, token) = who.split_once('!').map_or((who, None), |(user, token)| (user, Some(token)));
        Some(Self { node, pid, pstart, start, kind, id, user, token })
    }

    fn describe(&self, upid: &str) -> Value {
        let mut row = object(json!({"upid": upid, "node": self.node, "type": self.kind, "id": self.id,
            "user": self.user, "starttime": self.start}));
        if let Some(token) = self.token {
            insert(&mut row, "tokenid", json!(token));
        }
        Value::Object(row)
    }
}

pub(super) fn route(call: &Call<'_>, node: &str, path: &[&str]) -> Option<Outcome> {
    Some(match path {
        [] => list(call, node),
        [upid, "status"] => status(call, node, upid),
        [upid, "log"] => log(call, node, upid),
        _ => return None,
    })
}

fn ended(task: &Task, now: i64) -> Option<i64> {
    task.ended.filter(|end| *end <= now)
}

/// `GET /cluster/tasks`: at most 25 finished per node; archived ones are marked, with either scalar type.
pub(super) fn cluster(call: &Call<'_>) -> Outcome {
    call.accept(&[])?;
    let mut rows = Vec::new();
    for node in &call.world.nodes {
        let mut finished = 0;
        for task in call.world.tasks.iter().rev() {
            let Some(upid) = Upid::parse(&task.upid).filter(|upid| upid.node == node.name) else { continue };
            let mut row = object(upid.describe(&task.upid));
            if let Some(end) = ended(task, call.now) {
                finished += 1;
                insert(&mut row, "endtime", json!(end));
                insert(&mut row, "status", json!(task.status));
                if task.saved {
                    insert(&mut row, "saved", if finished == 1 { json!(1) } else { json!("1") });
                }
            }
            if finished <= 25 && call.may("Sys.Audit") {
                rows.push(Value::Object(row));
            }
        }
    }
    Ok(json!(rows).into())
}

fn list(call: &Call<'_>, name: &str) -> Outcome {
    call.node(name)?;
    call.accept(&[
        ("typefilter", Shape::Text),
        ("userfilter", Shape::Text),
        ("vmid", Shape::Integer),
        ("since", Shape::Integer),
        ("until", Shape::Integer),
        ("errors", Shape::Bool),
        ("source", Shape::Text),
        ("statusfilter", Shape::Text),
        ("limit", Shape::Integer),
        ("start", Shape::Integer),
    ])?;
    let mut rows = Vec::new();
    for task in call.world.tasks.iter().rev().filter(|_| call.may("Sys.Audit")) {
        let Some(upid) = Upid::parse(&task.upid).filter(|upid| upid.node == name) else { continue };
        if keep(call, task, &upid) {
            let mut row = object(upid.describe(&task.upid));
            insert(&mut row, "pid", json!(upid.pid));
            insert(&mut row, "pstart", json!(upid.pstart));
            if let Some(end) = ended(task, call.now) {
                insert(&mut row, "endtime", json!(end));
                insert(&mut row, "status", json!(task.status));
            }
            rows.push(Value::Object(row));
        }
    }
    let total = rows.len();
    let start = usize::try_from(call.integer("start").unwrap_or(0)).unwrap_or(0);
    let limit = usize::try_from(call.integer("limit").unwrap_or(50)).unwrap_or(50);
    let rows: Vec<Value> = rows.into_iter().skip(start).take(limit).collect();
    Ok(Reply::Counted(json!(rows), total))
}

fn keep(call: &Call<'_>, task: &Task, upid: &Upid<'_>) -> bool {
    let end = ended(task, call.now);
    let source = match call.param("source") {
        Some("active") => end.is_none(),
        Some("all") => true,
        _ => end.is_some(),
    };
    source
        && call.param("typefilter").is_none_or(|kind| upid.kind == kind)
        && call.param("userfilter").is_none_or(|user| upid.user.contains(user))
        && call.param("vmid").is_none_or(|vmid| upid.id == vmid)
        && call.integer("since").is_none_or(|since| upid.start >= since)
        && call.integer("until").is_none_or(|until| upid.start <= until)
        && (!call.flag("errors") || end.is_some() && task.status != "OK" && !task.status.starts_with("WARNINGS"))
}

/// The task of a UPID, which only its own node knows.
fn find<'a>(call: &Call<'a>, name: &str, upid: &'a str) -> Result<(&'a Task, Upid<'a>), Answer> {
    call.node(name)?;
    let Some(parsed) = Upid::parse(upid) else {
        return Err(Answer::parameter(json!({"upid": format!("unable to parse worker upid '{upid}'")})));
    };
    let task = call.world.tasks.iter().find(|task| task.upid == upid && parsed.node == name);
    task.map(|task| (task, parsed)).ok_or_else(|| Answer::parameter(json!({"upid": "no such task"})))
}

fn status(call: &Call<'_>, name: &str, upid: &str) -> Outcome {
    let (task, parsed) = find(call, name, upid)?;
    call.accept(&[])?;
    let mut row = object(parsed.describe(upid));
    insert(&mut row, "pid", json!(parsed.pid));
    insert(&mut row, "pstart", json!(parsed.pstart));
    match ended(task, call.now) {
        None => insert(&mut row, "status", json!("running")),
        Some(_) => {
            insert(&mut row, "status", json!("stopped"));
            insert(&mut row, "exitstatus", json!(task.status));
        }
    }
    Ok(Value::Object(row).into())
}

fn log(call: &Call<'_>, name: &str, upid: &str) -> Outcome {
    let (task, _) = find(call, name, upid)?;
    call.accept(&[("start", Shape::Integer), ("limit", Shape::Integer), ("download", Shape::Bool)])?;
    let mut lines = task.log.clone();
    if ended(task, call.now).is_some() {
        lines.push(match task.status.as_str() {
            "OK" => "TASK OK".to_owned(),
            warnings if warnings.starts_with("WARNINGS") => format!("TASK {warnings}"),
            error => format!("TASK ERROR: {error}"),
        });
    }
    if lines.is_empty() {
        lines.push("no content".to_owned());
    }
    let total = lines.len();
    let start = usize::try_from(call.integer("start").unwrap_or(0)).unwrap_or(0);
    let limit = match call.integer("limit") {
        Some(0) => usize::MAX,
        Some(n) => usize::try_from(n).unwrap_or(50),
        None => 50,
    };
    let rows: Vec<Value> =
        lines.iter().enumerate().skip(start).take(limit).map(|(n, text)| json!({"n": n + 1, "t": text})).collect();
    Ok(Reply::Counted(json!(rows), total))
}
