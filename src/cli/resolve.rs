//! `resolve NAME [TYPE]`: one name at every vantage point, side by side.

mod table;

pub(super) use table::width_of_stdout;

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::{Format, Global, Kind, ResolveArgs};
use super::{Code, Failure, get, open, print};
use crate::backends::dns::system::SystemResolver;
use crate::backends::dns::{Answer, DnsName, Record, RecordType};
use crate::diagnose::resolve::{
    Column, ControlOutcome, Expected, Gathering, Outcome, State, Target, Vantages, Verdict, WhyNot, observed, resolve,
};
use crate::inventory::feed::{Clients, Feed};
use crate::runtime::clock;

/// Longest wait for what is derived: the tenants and their VMs.
const PICTURE: Duration = Duration::from_secs(8);

/// Runs the verb.
pub(super) fn run(global: &Global, request: &ResolveArgs) -> Result<Code, Failure> {
    let site = open::site(global)?;
    let usage = |text: String, help: &str| Failure::usage(text, help);
    let kind = request.kind.as_deref().map(str::parse::<RecordType>).transpose();
    let kind = kind.map_err(|e| usage(e.to_string(), e.help()))?;
    let target = Target::parse(&site, &request.name, kind).map_err(|e| usage(e.to_string(), e.help()))?;
    let mut vantages = Vantages::of_site(&site);
    vantages.from = request
        .tenant
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|e: crate::site::names::NameError| Failure::usage(e.to_string(), e.help()))?;
    if let Some(name) = &request.public {
        vantages.controls.public = Some(name.parse::<DnsName>().map_err(|e| usage(e.to_string(), e.help()))?);
    }
    if let Some(file) = &request.resolv_conf {
        vantages.host = SystemResolver::from_file(file);
    }
    open::runtime()?.block_on(async {
        let clock = clock::system();
        let picture = async {
            let mut feed = Feed::start(&site, Clients::connect(&site).await, &clock);
            feed.demand(get::demand(false));
            get::picture(&mut feed, Kind::Workloads, PICTURE).await
        };
        let found = resolve(&site, &target, &vantages, picture, &*clock).await;
        show(&mut std::io::stdout(), &found, request.output)
    })
}

/// Prints `found`.
///
/// # Errors
/// When it cannot be written.
fn show(out: &mut dyn Write, found: &Gathering, format: Format) -> Result<Code, Failure> {
    let (states, verdict) = found.judge();
    let verdict = verdict.unwrap_or(Verdict::Unknown);
    if format == Format::Table {
        table::print(out, found, table::width_of_stdout())?;
    } else {
        print::document(out, &document(found, &states, verdict), format)?;
    }
    Ok(match verdict {
        Verdict::Agree => Code::Ok,
        Verdict::Differ => Code::Found,
        Verdict::Unknown => Code::Unknown,
    })
}

fn document(found: &Gathering, states: &[Option<State>], verdict: Verdict) -> Value {
    let controls: Vec<Value> = found
        .controls
        .iter()
        .map(|c| json!({ "what": c.what, "name": c.name.to_string(), "type": c.kind.to_string() }))
        .collect();
    let columns: Vec<Value> =
        found.heard().zip(states).map(|(c, s)| column(found, c, s.unwrap_or(State::Unknown))).collect();
    json!({
        "schema": "deevnet-console/resolve/v1",
        "at": found.at.to_string(),
        "name": found.target.name.to_string(),
        "type": found.target.kind.to_string(),
        "expected": found.expected.as_ref().map(expected),
        "columns": columns,
        "controls": controls,
        "verdict": verdict.word(),
    })
}

fn expected(expected: &Expected) -> Value {
    match expected {
        Expected::Values { values, because } => json!({ "state": "derived", "values": values, "why": because }),
        Expected::Nothing { why } => json!({ "state": "nothing", "values": null, "why": why }),
        Expected::Unknown { why } => json!({ "state": "unknown", "values": null, "why": why }),
    }
}

const fn why_not(kind: WhyNot) -> &'static str {
    match kind {
        WhyNot::Off => "off",
        WhyNot::NotConfigured => "not configured",
        WhyNot::NotItsName => "not its name",
    }
}

fn column(found: &Gathering, column: &Column, state: State) -> Value {
    let (outcome, why, help, answer) = match &column.outcome {
        Outcome::Answered(answer) => ("answered", None, None, Some(self::answer(found, answer))),
        Outcome::Failed { why, help } => ("failed", Some(why), Some(help), None),
        Outcome::Denied { why, help } => ("denied", Some(why), Some(help), None),
        Outcome::NotAsked { kind, why } => (why_not(*kind), Some(why), None, None),
    };
    json!({
        "vantage": column.vantage.word(),
        "asked": column.asked,
        "how": column.how,
        "state": state.word(),
        "outcome": outcome,
        "why": why,
        "help": help,
        "answer": answer,
        "controls": column.controls.iter().map(control).collect::<Vec<_>>(),
    })
}

fn answer(found: &Gathering, answer: &Answer) -> Value {
    let records = |records: &[Record]| -> Vec<Value> {
        let one = |r: &Record| json!({ "name": r.name, "ttl": r.ttl, "type": r.kind.to_string(), "data": r.data.to_string() });
        records.iter().map(one).collect()
    };
    let extended: Vec<Value> = answer.extended.iter().map(|e| json!({ "code": e.code, "text": e.text })).collect();
    let flags = answer.flags.map(|f| f.words().split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    json!({
        "rcode": answer.rcode.to_string(),
        "flags": flags,
        "values": observed(answer, found.target.kind),
        "answers": records(&answer.answers),
        "authority": records(&answer.authority),
        "additional": records(&answer.additional),
        "extended_errors": extended,
        "bytes": answer.bytes,
        "took_ms": u64::try_from(answer.took.as_millis()).ok(),
        "transport": answer.via.word(),
        "ignored": answer.strays.words(),
    })
}

fn control(outcome: &ControlOutcome) -> Value {
    match outcome {
        ControlOutcome::Answers(values) => json!({ "outcome": "answers", "values": values }),
        ControlOutcome::Empty(rcode) => json!({ "outcome": "empty", "rcode": rcode.to_string() }),
        ControlOutcome::Failed(why) => json!({ "outcome": "failed", "why": why }),
        ControlOutcome::NotAsked(why) => json!({ "outcome": "not asked", "why": why }),
    }
}
