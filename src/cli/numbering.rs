//! `numbering [INDEX] [--name NAME]`: everything that follows from an index, printed.

use std::fmt::Write as _;

use serde::Serialize;

use crate::site::model::NumberingPlan;
use crate::site::names::{NameError, TenantName, subnet_id, vnet_vxlan};
use crate::site::numbering::{Derived, IndexError, TenantIndex, VNETS_PER_TENANT};

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns for people.
    Table,
    /// JSON; an array when no index was given.
    Json,
    /// YAML of the same shape.
    Yaml,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The site's numbering plan.
    pub plan: &'a NumberingPlan,
    /// Name of the site.
    pub site: &'a str,
    /// DNS domain of the site.
    pub domain: &'a str,
    /// The index; `None` for all of 1 to 63.
    pub index: Option<u64>,
    /// Name of a tenant, for the names that follow from it. Needs an index.
    pub name: Option<&'a str>,
}

/// Why nothing was printed. All of these are usage errors.
#[derive(Debug, thiserror::Error)]
pub enum NumberingError {
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A name, and no index.
    #[error("a name alone has no numbers: they follow from the index")]
    NameWithoutIndex,
    /// The serialiser gave up.
    #[error("the answer could not be written: {0}")]
    Format(String),
}

impl NumberingError {
    /// What to do instead.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Index(error) => error.help(),
            Self::Name(error) => error.help(),
            Self::NameWithoutIndex => "give the index as well: numbering INDEX --name NAME",
            Self::Format(_) => "this is a defect of the program; -o table may still work",
        }
    }
}

/// An answer: the numbers, and the names where a name was given.
#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    numbers: Derived,
    #[serde(flatten)]
    names: Option<Names>,
}

/// What follows from a tenant's name.
#[derive(Serialize)]
struct Names {
    name: TenantName,
    zone: TenantName,
    vnets: Vec<String>,
    subnet_id: String,
    forward_zone: String,
    devices: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'static str>,
}

/// The answer to `request` as text, ending with a newline.
///
/// # Errors
/// [`NumberingError`] for an index outside 1 to 63, a name that no tenant can have, or a name without an index.
pub fn numbering(request: &Request<'_>, format: Format) -> Result<String, NumberingError> {
    let name = request.name.map(str::parse::<TenantName>).transpose()?;
    let Some(index) = request.index else {
        return if name.is_some() { Err(NumberingError::NameWithoutIndex) } else { all(request, format) };
    };
    let numbers = request.plan.derive(request.site, TenantIndex::new(index)?);
    let names = name.map(|name| names(name, &numbers, request.domain));
    let answer = Answer { numbers, names };
    match format {
        Format::Table => Ok(fields(&answer)),
        Format::Json => json(&answer),
        Format::Yaml => yaml(&answer),
    }
}

fn all(request: &Request<'_>, format: Format) -> Result<String, NumberingError> {
    let rows: Vec<_> = TenantIndex::all().map(|index| request.plan.derive(request.site, index)).collect();
    match format {
        Format::Table => Ok(table(&rows)),
        Format::Json => json(&rows),
        Format::Yaml => yaml(&rows),
    }
}

fn json(value: &impl Serialize) -> Result<String, NumberingError> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| NumberingError::Format(error.to_string()))
}

fn yaml(value: &impl Serialize) -> Result<String, NumberingError> {
    serde_yaml_ng::to_string(value).map_err(|error| NumberingError::Format(error.to_string()))
}

fn names(name: TenantName, numbers: &Derived, domain: &str) -> Names {
    let vnets: Vec<_> = (0..VNETS_PER_TENANT).filter_map(|i| name.vnet(i)).collect();
    let devices = name.devices();
    let mut all = vec![devices.vrf, devices.vrf_vxlan, devices.vrf_bridge];
    all.extend(vnets.first().map(|vnet| vnet_vxlan(vnet)));
    Names {
        subnet_id: subnet_id(name.as_str(), numbers.subnet),
        forward_zone: name.forward_zone(domain),
        advice: name.advice_for_new(),
        zone: name.clone(),
        name,
        vnets,
        devices: all,
    }
}

fn table(rows: &[Derived]) -> String {
    let mut out = format!(
        "{:<5}  {:<8}  {:<17}  {:<18}  {:<15}  {:<15}  {:<25}\n",
        "INDEX", "VRF VNI", "VNET VNIS", "SUBNET", "GATEWAY", "VMIDS", "REVERSE ZONE"
    );
    for row in rows {
        let vnets = format!("{}-{}", row.vnet_vni_base, row.vnet_vni_last);
        let vmids = format!("{}-{}", row.vmid_first, row.vmid_last);
        let (subnet, gateway) = (row.subnet.to_string(), row.gateway.to_string());
        let drill = if row.allocatable { "" } else { "  (drill, never allocated)" };
        let line = format!(
            "{:<5}  {:<8}  {vnets:<17}  {subnet:<18}  {gateway:<15}  {vmids:<15}  {}{drill}",
            row.index.get(),
            row.vrf_vni,
            row.reverse_zone
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn fields(answer: &Answer) -> String {
    let Derived { site, index, vrf_vni, vnet_vni_base, vnet_vni_last, subnet, gateway, reverse_zone, .. } =
        &answer.numbers;
    let Derived { workload_first, workload_last, vmid_first, vmid_last, asn, mac_first, mac_last, .. } =
        &answer.numbers;
    let mac = |mac: &Option<_>| mac.as_ref().map_or_else(|| "none: VMID too large".to_owned(), ToString::to_string);
    let allocatable = if answer.numbers.allocatable { "yes" } else { "no, kept for drills" };
    let mut rows = vec![
        ("site", site.clone()),
        ("index", index.to_string()),
        ("allocatable", allocatable.to_owned()),
        ("VRF VNI", vrf_vni.to_string()),
        ("VNet VNIs", format!("{vnet_vni_base}-{vnet_vni_last}")),
        ("subnet", subnet.to_string()),
        ("gateway", gateway.to_string()),
        ("reverse zone", reverse_zone.clone()),
        ("workloads", format!("{workload_first}-{workload_last}")),
        ("VMIDs", format!("{vmid_first}-{vmid_last}")),
        ("MACs", format!("{} to {}", mac(mac_first), mac(mac_last))),
        ("ASN", asn.to_string()),
    ];
    if let Some(names) = &answer.names {
        rows.push(("zone", names.zone.to_string()));
        rows.push(("VNets", names.vnets.join(" ")));
        rows.push(("subnet id", names.subnet_id.clone()));
        rows.push(("forward zone", names.forward_zone.clone()));
        rows.push(("devices", names.devices.join(" ")));
        rows.extend(names.advice.map(|advice| ("advice", advice.to_owned())));
    }
    rows.iter().fold(String::new(), |mut out, (label, value)| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{label:<13} {value}");
        out
    })
}
