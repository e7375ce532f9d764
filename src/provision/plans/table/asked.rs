//! Words taken apart for the plans of workloads, names and the fabric.

use std::net::{Ipv4Addr, SocketAddr};

use super::{Desk, Draft, new, refused, usage, value};
use crate::backends::dns::{DnsName, RecordData, Text};
use crate::provision::journal::JournalError;
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Reach};
use crate::provision::plans::workload::{self, Size, Switch, Workload};
use crate::provision::plans::{forward, onboard, record, sdn, tsig};
use crate::provision::sdn::holds_lock;
use crate::provision::survey::Survey;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::vm::SHUTDOWN;
use crate::site::model::{PowerDnsMode, PowerDnsSite};
use crate::site::names::{NameError, TenantName, WorkloadName};
use crate::site::numbering::TenantIndex;

fn first(words: &[String]) -> &str {
    words.first().map(String::as_str).unwrap_or_default()
}

fn named(error: &NameError) -> Trouble {
    usage(error.to_string(), error.help())
}

/// `TENANT/WORKLOAD`.
fn whose(words: &[String]) -> Result<(TenantName, WorkloadName), Trouble> {
    let text = first(words);
    let parts = text.split_once('/');
    let (tenant, name) = parts.ok_or_else(|| usage(format!("{text:?} is no workload"), "write it TENANT/NAME"))?;
    Ok((tenant.parse().map_err(|e| named(&e))?, name.parse().map_err(|e| named(&e))?))
}

/// What may be asked for of a machine or a record: from, to, unit.
const BOUNDS: [(&str, u32, u32, &str); 6] = [
    ("cores", 1, 512, ""),
    ("memory", 256, 4 << 20, " MiB"),
    ("disk", 1, 64 << 10, " GiB"),
    ("restart", 1, 3600, " s"),
    ("timeout", 1, 3600, " s"),
    ("ttl", 1, 604_800, " s"),
];

fn number(words: &[String], key: &str) -> Result<Option<u32>, Trouble> {
    let (least, most, unit) = BOUNDS
        .iter()
        .find_map(|(name, least, most, unit)| (*name == key).then_some((*least, *most, *unit)))
        .unwrap_or((1, u32::MAX, ""));
    let parse = |text: &str| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            usage(format!("{key}: {text:?} is no number from {least} to {most}"), format!("give {least}–{most}{unit}"))
        })
    };
    value(words, key).map(parse).transpose()
}

/// A login account, as a system takes it.
fn user(words: &[String]) -> Result<Option<String>, Trouble> {
    let Some(text) = value(words, "user") else { return Ok(None) };
    let first = |c: char| c.is_ascii_lowercase() || c == '_';
    let plain = |c: char| first(c) || c.is_ascii_digit() || c == '-';
    if text.starts_with(first) && text.chars().all(plain) && text.len() <= 32 {
        return Ok(Some(text.to_owned()));
    }
    let help = "use 1 to 32 lower-case letters, digits, dashes and underscores, a letter or an underscore first";
    Err(usage(format!("user: {text:?} is no login account"), help))
}

/// What a workload is to be, by the words beside its name.
fn settings(tenant: TenantName, name: WorkloadName, words: &[String]) -> Result<Workload, Trouble> {
    Ok(Workload {
        cores: number(words, "cores")?,
        memory_mib: number(words, "memory")?,
        disk_gib: number(words, "disk")?,
        ssh_keys: value(words, "keys").map(str::to_owned),
        login_user: user(words)?,
        template: value(words, "template").map(str::to_owned),
        ..Workload::new(tenant, name)
    })
}

/// The first workload of a tenant that is onboarded, where one is named.
pub(super) fn first_workload(tenant: &TenantName, words: &[String]) -> Result<Option<Workload>, Trouble> {
    let Some(name) = value(words, "workload") else {
        let of_it = ["cores", "memory", "disk", "keys", "user", "template"];
        let Some(key) = of_it.into_iter().find(|key| value(words, key).is_some()) else { return Ok(None) };
        let text = format!("{key} is of a first workload, and none is named");
        return Err(usage(text, format!("name the workload, or leave {key} out")));
    };
    Ok(Some(settings(tenant.clone(), name.parse().map_err(|e| named(&e))?, words)?))
}

pub(super) async fn create(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let (tenant, name) = whose(words)?;
    let wanted = settings(tenant, name, words)?;
    let plan = workload::create(&desk.world, &wanted).await?;
    Ok(new(onboard::named(&desk.world, &wanted, plan)?))
}

pub(super) async fn replace(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let (tenant, name) = whose(words)?;
    let wanted = settings(tenant, name, words)?;
    let plan = workload::replace(&desk.world, &wanted).await?;
    Ok(new(onboard::named(&desk.world, &wanted, plan)?))
}

pub(super) async fn resize(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let (tenant, name) = whose(words)?;
    let size = Size {
        cores: number(words, "cores")?,
        memory_mib: number(words, "memory")?,
        disk_gib: number(words, "disk")?,
        restart: number(words, "restart")?,
    };
    Ok(new(workload::resize(&desk.world, &tenant, &name, size).await?))
}

pub(super) async fn power(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let (tenant, name) = whose(words)?;
    let timeout = number(words, "timeout")?.unwrap_or(SHUTDOWN);
    let to = match value(words, "to") {
        Some("start") => Switch::Start,
        Some("shutdown") => Switch::Shutdown(timeout),
        Some("stop") => Switch::Stop,
        Some("reboot") => Switch::Reboot(timeout),
        other => {
            let text = format!("{:?} is nothing that is done to power", other.unwrap_or_default());
            return Err(usage(text, "start, shutdown, stop or reboot"));
        }
    };
    Ok(new(workload::power(&desk.world, &tenant, &name, to).await?))
}

/// The machine goes, and its name and pointer before it: nobody is led to what is not there.
pub(super) async fn remove(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let (tenant, name) = whose(words)?;
    let (world, site) = (&desk.world, &desk.world.site);
    let mut plan = workload::delete(world, &tenant, &name).await?;
    if let Some(numbers) = workload::numbers(site, &plan).filter(|_| site.powerdns.is_some()) {
        let of = record::Of { site, tenant: &tenant, index: numbers.index };
        let names = of.workload_removal(world, &of.name(name.as_str())?, numbers.address).await?;
        // A lock on the machine is waited for before the first of them goes.
        let at = plan.steps.iter().position(|step| matches!(step.object, Object::VmGone(_))).unwrap_or_default();
        plan.steps.splice(at..at, names);
    }
    if plan.steps.is_empty() && site.powerdns.is_some() {
        // The machine is gone already: what was named after it leads to an address that the next one may get.
        let of = record::Of { site, tenant: &tenant, index: index_of(desk, &tenant).await? };
        plan.steps = of.leftovers(world, &of.name(name.as_str())?).await?;
    }
    if let Some(numbers) = workload::numbers(site, &plan) {
        plan.reach = Some(Reach { stays: workload::stays(&numbers), ..Reach::default() });
    }
    Ok(new(plan))
}

/// The index of a tenant, as the site has it now.
async fn index_of(desk: &Desk, tenant: &TenantName) -> Result<TenantIndex, Trouble> {
    let survey = Survey::read(&desk.world).await;
    let known = survey.proven_index(&desk.world.site, tenant)?;
    let unread = || survey.zones.as_ref().err().cloned();
    known.ok_or_else(|| {
        let none = Trouble::new(TroubleKind::Refused, format!("there is no tenant {tenant}"));
        unread().unwrap_or_else(|| none.with_help("`deevnet-console get tenants` lists them"))
    })
}

/// `TENANT NAME`, the first two words.
async fn record_of(desk: &Desk, words: &[String]) -> Result<(TenantName, TenantIndex, String), Trouble> {
    let tenant: TenantName = first(words).parse().map_err(|e| named(&e))?;
    let name = words.get(1).cloned().ok_or_else(|| usage("which name?", "write TENANT NAME"))?;
    let index = index_of(desk, &tenant).await?;
    Ok((tenant, index, name))
}

pub(super) async fn record_set(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let (tenant, index, name) = record_of(desk, words).await?;
    let rtype = value(words, "type").unwrap_or("A").to_ascii_uppercase();
    let ttl = number(words, "ttl")?.unwrap_or(record::TTL);
    let values = words.iter().filter_map(|word| word.strip_prefix("value="));
    let data = values.map(|value| data(&rtype, value)).collect::<Result<Vec<_>, _>>()?;
    if data.is_empty() {
        return Err(usage(format!("what is {name} to be?"), "give a value; `record delete` removes it"));
    }
    let of = record::Of { site: &desk.world.site, tenant: &tenant, index };
    let plan = of.set(&name, ttl, data)?;
    // Where the API is not reached, the server tells when it is tried.
    for step in plan.steps.iter().filter(|_| desk.world.powerdns().is_ok()) {
        if let Object::DnsRecords(records) = &step.object {
            records.stands_alone(&desk.world).await?;
        }
    }
    by_way(desk, &tenant, words, plan)
}

/// The plan by the way that is asked for: the API, or updates, which are the only way where the site says that the API is not
/// reached.
fn by_way(desk: &Desk, tenant: &TenantName, words: &[String], plan: Plan) -> Result<Draft, Trouble> {
    let dns_only = |dns: &PowerDnsSite| dns.mode == PowerDnsMode::DnsOnly;
    let update = match value(words, "via") {
        None => desk.world.site.powerdns.as_ref().is_some_and(dns_only),
        Some("update") => true,
        Some("api") => false,
        Some(other) => return Err(usage(format!("{other:?} is no way to records"), "api or update")),
    };
    let file = value(words, "key-file").map(std::path::Path::new);
    match (update, file) {
        (true, file) => Ok(new(record::by_update(plan, tenant, file))),
        (false, None) => Ok(new(plan)),
        (false, Some(_)) => Err(usage("the API needs no key of a tenant", "leave the file out, or say via update")),
    }
}

/// The data of a record, as it is typed.
fn data(rtype: &str, text: &str) -> Result<RecordData, Trouble> {
    let bad = |what: &str| usage(format!("{text:?} is no {what}"), "correct it");
    let name = || text.parse::<DnsName>().map_err(|e| usage(e.to_string(), e.help()));
    Ok(match rtype {
        "A" => RecordData::A(text.parse().map_err(|_| bad("IPv4 address"))?),
        "AAAA" => RecordData::Aaaa(text.parse().map_err(|_| bad("IPv6 address"))?),
        "CNAME" if !text.trim_end_matches('.').contains('.') => {
            return Err(usage(
                format!("{text:?} is a label, not a name"),
                "give the whole name that it is an alias of",
            ));
        }
        "CNAME" => RecordData::Cname(name()?),
        "TXT" => RecordData::Txt(Text::new(text.as_bytes())),
        other => {
            return Err(usage(format!("records of type {other} are not written from here"), "A, CNAME or TXT"));
        }
    })
}

pub(super) async fn record_delete(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let (tenant, index, name) = record_of(desk, words).await?;
    let rtype = value(words, "type").unwrap_or("A");
    let address = |text: &str| {
        text.parse::<Ipv4Addr>().map_err(|_| usage(format!("{text:?} is no IPv4 address"), "give the workload's"))
    };
    let address = value(words, "pointer").map(address).transpose()?;
    let of = record::Of { site: &desk.world.site, tenant: &tenant, index };
    by_way(desk, &tenant, words, of.delete(&name, rtype, address)?)
}

pub(super) async fn rotation(desk: &Desk, words: &[String], begins: bool) -> Result<Draft, Trouble> {
    let tenant: TenantName = first(words).parse().map_err(|e| named(&e))?;
    let plan: Plan = if begins {
        tsig::rotate_begin(&desk.world, &tenant).await?
    } else {
        tsig::rotate_end(&desk.world, &tenant).await?
    };
    Ok(new(plan))
}

fn domain(words: &[String]) -> Result<DnsName, Trouble> {
    let text = first(words);
    if text.trim_matches('.').is_empty() {
        return Err(usage(format!("{text:?} would forward every name there is"), "give a domain"));
    }
    text.parse().map_err(|e: crate::backends::dns::NameError| usage(e.to_string(), e.help()))
}

pub(super) fn forward_set(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    let server = value(words, "server").unwrap_or_default();
    let address = server.parse::<SocketAddr>().or_else(|_| server.parse().map(|ip| SocketAddr::new(ip, 53)));
    let address = address.ok().filter(|address| address.port() > 0);
    let address =
        address.ok_or_else(|| usage(format!("{server:?} is no address of a server"), "ADDRESS or ADDRESS:PORT"))?;
    let description = value(words, "description").unwrap_or_default();
    let asked = match value(words, "asked") {
        None | Some("yes") => true,
        Some("no") => false,
        Some(other) => return Err(usage(format!("asked={other} is not understood"), "asked=yes or asked=no")),
    };
    let (domain, own) = (domain(words)?, &desk.world.site.domain);
    let below = format!(".{}", domain.as_str().trim_end_matches('.'));
    if domain.as_str().trim_end_matches('.') == own.as_str() || own.ends_with(&below) {
        let text = format!("a forward of {domain} would take every name of the site from the perimeter's resolver");
        return Err(refused(text, "forward a zone below it"));
    }
    Ok(new(forward::set(&desk.world.site, &domain, (address, asked), description)))
}

pub(super) fn forward_delete(desk: &Desk, words: &[String]) -> Result<Draft, Trouble> {
    Ok(new(forward::delete(&desk.world.site, &domain(words)?)))
}

pub(super) async fn sdn_apply(desk: &Desk) -> Result<Draft, Trouble> {
    Ok(new(sdn::apply(&desk.world).await?))
}

pub(super) fn sdn_rollback(desk: &Desk) -> Draft {
    new(sdn::rollback(&desk.world))
}

pub(super) fn sdn_unlock(desk: &Desk) -> Result<Draft, Trouble> {
    // A file that cannot be read tells nothing of who holds it.
    let ids = desk.journal.ids()?;
    let read = ids.into_iter().filter_map(|id| desk.journal.read(id).ok());
    let entries: Vec<_> = read.filter(|entry| entry.closed().is_none()).collect();
    for holder in entries.iter().filter(|entry| holds_lock(&entry.notes())) {
        if matches!(desk.journal.take_up(holder.id), Err(JournalError::Running(_))) {
            return Err(refused(
                format!("{} holds the SDN lock, and runs now", holder.id),
                "wait for it, or stop it there",
            ));
        }
    }
    Ok(new(sdn::unlock(&desk.world, &entries)))
}
