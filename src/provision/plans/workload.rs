//! A workload: made, made anew, grown, switched, removed.
//!
//! Its number, its template and its disk are chosen here by looking, before the plan is shown. A plan that runs never chooses
//! another: where its number is taken in between it ends, and a new plan takes the next free one.

mod choose;
mod template;

use std::net::Ipv4Addr;
use std::sync::Arc;

use choose::Home;
use serde::{Deserialize, Serialize};
use template::Template;

use crate::provision::fields::{Fields, fields};
use crate::provision::object::Object;
use crate::provision::plan::{Plan, Step, Subject};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::vm::{
    self, Machine, Off, SHUTDOWN, VmAgent, VmClone, VmConfig, VmDisk, VmGone, VmPower, VmReboot, VmSerial, VmUnlocked,
};
use crate::provision::world::World;
use crate::site::Site;
use crate::site::model::BootstrapSite;
use crate::site::names::{TenantName, WorkloadName};
use crate::site::numbering::TenantIndex;

/// Cores where none are asked for (domain.md §4.2).
const CORES: u32 = 2;
/// MiB of memory where none is asked for (domain.md §4.2).
const MEMORY: u32 = 2048;

/// What a workload is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Whose.
    pub tenant: TenantName,
    /// Its name.
    pub name: WorkloadName,
    /// The tenant's index; read from its zone where it is not given.
    #[serde(skip)]
    pub index: Option<TenantIndex>,
    /// Cores; two for a new workload, as they were for one that is replaced.
    pub cores: Option<u32>,
    /// Memory in MiB; 2048, or as it was.
    pub memory_mib: Option<u32>,
    /// Disk in GiB; as large as the template's, or as it was.
    pub disk_gib: Option<u32>,
    /// Public keys that may log in, as in `authorized_keys`; none, or as they were.
    pub ssh_keys: Option<String>,
    /// Login account; the site's, or as it was.
    pub login_user: Option<String>,
    /// Name of the template; the newest of the site's prefix where none is named.
    pub template: Option<String>,
}

impl Workload {
    /// One with everything as it comes.
    #[must_use]
    pub const fn new(tenant: TenantName, name: WorkloadName) -> Self {
        Self {
            tenant,
            name,
            index: None,
            cores: None,
            memory_mib: None,
            disk_gib: None,
            ssh_keys: None,
            login_user: None,
            template: None,
        }
    }
}

/// A new size; what is not named stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Cores.
    pub cores: Option<u32>,
    /// Memory in MiB.
    pub memory_mib: Option<u32>,
    /// Disk in GiB.
    pub disk_gib: Option<u32>,
    /// Restarts it with that many seconds to shut down, so that cores and memory come into force.
    pub restart: Option<u32>,
}

/// What is done to the power of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// It is started.
    Start,
    /// Its system is asked to shut down and given that many seconds.
    Shutdown(u32),
    /// The plug is pulled.
    Stop,
    /// It is restarted; its system is given that many seconds to shut down.
    Reboot(u32),
}

/// Where the VM of a plan is in the site's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// VMID.
    pub vmid: u32,
    /// The tenant's index.
    pub index: TenantIndex,
    /// Ordinal.
    pub ordinal: u32,
    /// Address.
    pub address: Ipv4Addr,
}

/// Numbers of the VM that a plan is about; `None` where it is about none, or about one outside the numbering.
#[must_use]
pub fn numbers(site: &Site, plan: &Plan) -> Option<Numbers> {
    let vmid = *vmids(plan).first()?;
    let (index, ordinal) = site.numbering.index_of_vmid(vmid)?;
    Some(Numbers { vmid, index, ordinal, address: site.numbering.workload_address(index, ordinal)? })
}

/// Numbers that a plan makes a VM under: not free for others until it ended.
#[must_use]
pub fn vmids(plan: &Plan) -> Vec<u32> {
    let of = |step: &Step| match &step.object {
        Object::VmClone(VmClone { vm, .. })
        | Object::VmConfig(VmConfig { vm })
        | Object::VmPower(VmPower { vm, .. })
        | Object::VmGone(VmGone { vm, .. }) => Some(vm.vmid),
        _ => None,
    };
    let mut all: Vec<u32> = plan.steps.iter().filter_map(of).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The plan that makes a workload, or makes one that is there what it is to be.
///
/// # Errors
/// When its number, its template or what is there cannot be told; when something asked for cannot be had.
pub async fn create(world: &Arc<World>, wanted: &Workload) -> Result<Plan, Trouble> {
    let home = choose::home(world, wanted).await?;
    let vm = home.machine(wanted);
    let mut steps = Vec::new();
    let disk = if home.exists {
        choose::disk(world, &vm).await?
    } else {
        let template = template::choose(world, wanted, &home.vms, &vm.node).await?;
        steps.push(clone(world, &vm, &template));
        template.disk
    };
    let config = settings(&world.site, wanted, &home, &vm)?;
    steps.extend(rest(world, wanted, &vm, config, disk)?);
    Ok(plan(world, wanted, "Create", steps))
}

/// The plan that destroys a workload's VM and makes it anew, with its number, its address and, where nothing else is asked for,
/// its settings. Its disks are lost.
///
/// # Errors
/// As [`create`]; when it is not there.
pub async fn replace(world: &Arc<World>, wanted: &Workload) -> Result<Plan, Trouble> {
    let home = choose::home(world, wanted).await?;
    let old = home.existing(wanted)?;
    let config = world.proxmox()?.vm_config(&old.node, old.vmid).await.map_err(|e| Trouble::from(&e))?;
    let uuid = config.smbios_uuid.clone().ok_or_else(|| {
        let text =
            format!("VM {} {} has no UUID: it could not be told from the one that replaces it", old.vmid, old.name);
        Trouble::new(TroubleKind::Refused, text).with_help("delete the workload, then create it")
    })?;
    let kept = Workload {
        cores: wanted.cores.or(config.cores),
        memory_mib: wanted.memory_mib.or(config.memory_mib),
        login_user: wanted.login_user.clone().or_else(|| config.ciuser.clone()),
        ssh_keys: wanted.ssh_keys.clone().or_else(|| vm::keys_of(&config)),
        ..wanted.clone()
    };
    let template = template::choose(world, wanted, &home.vms, &old.node).await?;
    let vm = Machine { new: true, ..old.clone() };
    let gone = Step::absent(Object::VmGone(VmGone { vm: old, uuid: Some(uuid) }));
    let mut steps = vec![gone, clone(world, &vm, &template).following()];
    let before = vm::boot_disk(&config.raw).and_then(|(_, size)| size);
    let grown = before.filter(|size| template.disk.as_ref().is_some_and(|(_, own)| own.is_some_and(|own| own < *size)));
    let kept = Workload {
        disk_gib: kept.disk_gib.or_else(|| grown.and_then(|size| u32::try_from(size.div_ceil(1 << 30)).ok())),
        ..kept
    };
    let config = settings(&world.site, &kept, &home, &vm)?;
    steps.extend(rest(world, &kept, &vm, config, template.disk)?);
    Ok(plan(world, wanted, "Replace", steps))
}

/// The plan that gives a workload more of something.
///
/// # Errors
/// When it is not there, nothing is asked for, or its disk would become smaller.
pub async fn resize(world: &Arc<World>, tenant: &TenantName, name: &WorkloadName, size: Size) -> Result<Plan, Trouble> {
    let wanted = Workload::new(tenant.clone(), name.clone());
    let home = choose::home(world, &wanted).await?;
    let vm = home.existing(&wanted)?;
    let number = |name, value: Option<u32>| value.map(|value| (name, value.to_string()));
    let config: Fields = fields([number("cores", size.cores), number("memory", size.memory_mib)].into_iter().flatten());
    let mut steps = Vec::new();
    if !config.is_empty() {
        steps.push(Step::present(Object::VmConfig(VmConfig { vm: vm.clone() }), config));
    }
    if let Some(gib) = size.disk_gib {
        steps.push(grown(&vm, choose::disk(world, &vm).await?, gib)?);
    }
    if steps.is_empty() {
        return Err(Trouble::new(TroubleKind::Refused, format!("no new size for {tenant}/{name}"))
            .with_help("name cores, memory or disk"));
    }
    if let Some(seconds) = size.restart {
        runs(world, &vm, "leave the restart out: what it is given is in force at its next start").await?;
        steps.push(Step::present(Object::VmReboot(VmReboot { vm, seconds }), VmReboot::done()).following());
    }
    Ok(plan(world, &wanted, "Resize", steps))
}

/// The plan that switches a workload.
///
/// # Errors
/// When it is not there, or what is there cannot be told.
pub async fn power(world: &Arc<World>, tenant: &TenantName, name: &WorkloadName, to: Switch) -> Result<Plan, Trouble> {
    let wanted = Workload::new(tenant.clone(), name.clone());
    let vm = choose::home(world, &wanted).await?.existing(&wanted)?;
    let power = |off| Object::VmPower(VmPower { vm: vm.clone(), off });
    let (title, step) = match to {
        Switch::Start => ("Start", Step::present(power(Off::Shutdown(SHUTDOWN)), VmPower::running())),
        Switch::Shutdown(seconds) => ("Shut down", Step::present(power(Off::Shutdown(seconds)), VmPower::stopped())),
        Switch::Stop => ("Stop", Step::present(power(Off::Hard), VmPower::stopped())),
        Switch::Reboot(seconds) => {
            runs(world, &vm, &format!("start it: `deevnet-console workload start {tenant}/{name}`")).await?;
            ("Restart", Step::present(Object::VmReboot(VmReboot { vm: vm.clone(), seconds }), VmReboot::done()))
        }
    };
    Ok(plan(world, &wanted, title, vec![step]))
}

/// Refuses to restart what does not run.
async fn runs(world: &World, vm: &Machine, help: &str) -> Result<(), Trouble> {
    let read = world.proxmox()?.vm_status(&vm.node, vm.vmid).await.map_err(|e| Trouble::from(&e))?;
    let (kind, text) = match read.vm.status.as_str() {
        "running" => return Ok(()),
        "stopped" => (TroubleKind::Refused, format!("VM {} {} does not run", vm.vmid, vm.name)),
        other => (TroubleKind::Unknown, format!("whether VM {} {} runs is not known: it is {other}", vm.vmid, vm.name)),
    };
    Err(Trouble::new(kind, text).with_help(if kind == TroubleKind::Refused { help } else { "its node may be away" }))
}

/// The plan that removes a workload's VM with its disks; one without steps where it is not there. Its names are not in it: their
/// steps come behind the first, which waits for a lock on the VM, and before its end.
///
/// # Errors
/// When what is there cannot be told.
pub async fn delete(world: &Arc<World>, tenant: &TenantName, name: &WorkloadName) -> Result<Plan, Trouble> {
    let wanted = Workload::new(tenant.clone(), name.clone());
    let home = choose::home(world, &wanted).await?;
    let gone = |vm| Step::absent(Object::VmGone(VmGone { vm, uuid: None }));
    let mut steps = Vec::new();
    if home.exists {
        let vm = home.existing(&wanted)?;
        can_go(world, &vm).await?;
        let unlocked = Object::VmUnlocked(VmUnlocked { vm: vm.clone() });
        steps.extend([Step::present(unlocked, VmUnlocked::free()), gone(vm)]);
    }
    Ok(plan(world, &wanted, "Delete", steps))
}

/// Refuses what Proxmox would refuse once the names are gone and the machine is stopped. A cluster that does not tell of its
/// quorum is no reason against it: Proxmox decides then.
async fn can_go(world: &World, vm: &Machine) -> Result<(), Trouble> {
    if world.proxmox()?.cluster_status().await.is_ok_and(|cluster| cluster.quorate == Some(false)) {
        let text = format!("the cluster has no quorum: VM {} cannot be removed", vm.vmid);
        return Err(Trouble::new(TroubleKind::Refused, text)
            .with_help("bring nodes back: Proxmox refuses every change until then"));
    }
    match vm.left_locked(world).await? {
        None => Ok(()),
        Some(lock) => {
            let text = format!("VM {} {} is locked ({lock}), and no task works on it", vm.vmid, vm.name);
            Err(Trouble::new(TroubleKind::Refused, text).with_help(format!(
                "a lock that nobody holds any more is freed on {}, as root: `qm unlock {}`; a suspended machine is started",
                vm.node, vm.vmid
            )))
        }
    }
}

/// What stays of a workload that is removed, or is free for the next one.
#[must_use]
pub fn stays(numbers: &Numbers) -> Vec<String> {
    let Numbers { vmid, address, .. } = numbers;
    vec![
        format!("backups of VM {vmid} on their storage; it is taken out of backup jobs"),
        format!("names that the tenant itself wrote for {address}"),
        format!("VMID {vmid}, its MAC and {address} are free at once: the next workload may get them"),
    ]
}

fn plan(world: &World, wanted: &Workload, verb: &str, steps: Vec<Step>) -> Plan {
    let name = format!("{}/{}", wanted.tenant, wanted.name);
    Plan {
        site: world.site.name.clone(),
        title: format!("{verb} workload {name}"),
        subject: Subject { name, tenant: Some(wanted.tenant.as_str().to_owned()) },
        steps,
        reach: None,
    }
}

fn clone(world: &World, vm: &Machine, template: &Template) -> Step {
    let storage = world.site.proxmox.storage.clone();
    let clone = VmClone { vm: vm.clone(), template: template.vmid, from: template.name.clone(), storage };
    let whole = clone.whole();
    Step::present(Object::VmClone(clone), whole)
}

/// What a VM is given between its clone and its first start, and that start.
fn rest(
    world: &World,
    wanted: &Workload,
    vm: &Machine,
    config: Fields,
    disk: Option<(String, Option<u64>)>,
) -> Result<Vec<Step>, Trouble> {
    let mut steps = vec![Step::present(Object::VmConfig(VmConfig { vm: vm.clone() }), config)];
    if let Some(BootstrapSite::Api { url, .. }) = &world.site.bootstrap {
        let pointer = vm::pointer(url, &format!("{}/{}", wanted.tenant, wanted.name))?;
        steps.push(Step::present(Object::VmSerial(VmSerial { vm: vm.clone() }), pointer));
    }
    if let Some(gib) = wanted.disk_gib {
        steps.push(grown(vm, disk, gib)?);
    }
    let power = VmPower { vm: vm.clone(), off: Off::Shutdown(SHUTDOWN) };
    steps.push(Step::present(Object::VmPower(power), VmPower::running()));
    steps.push(Step::present(Object::VmAgent(VmAgent { vm: vm.clone() }), VmAgent::answers()).following());
    // What is done inside a new VM is told when it is there.
    Ok(if vm.new { steps.into_iter().map(Step::following).collect() } else { steps })
}

fn grown(vm: &Machine, disk: Option<(String, Option<u64>)>, gib: u32) -> Result<Step, Trouble> {
    let refused = |text: String| Trouble::new(TroubleKind::Refused, text);
    let unclear = || {
        refused(format!("which disk VM {} {} boots from is not told", vm.vmid, vm.name))
            .with_help("set its boot order in Proxmox")
    };
    let (disk, size) = disk.ok_or_else(unclear)?;
    if let Some(size) = size.filter(|size| *size > u64::from(gib) << 30) {
        let text = format!("a disk of {gib}G is asked for, and {disk} has {}: disks only grow", vm::gib(size));
        return Err(refused(text).with_help(format!("ask for {} or more", vm::gib(size))));
    }
    let object = Object::VmDisk(VmDisk { vm: vm.clone(), disk });
    Ok(Step::present(object, fields([("size", format!("{gib}G"))])))
}

/// What is set on a workload's VM (domain.md §4.2). What a VM that exists is not asked to change stays as it is.
fn settings(site: &Site, wanted: &Workload, home: &Home, vm: &Machine) -> Result<Fields, Trouble> {
    let numbering = &site.numbering;
    let missing =
        |what: &str| Trouble::new(TroubleKind::Refused, format!("VMID {} has no {what} in the numbering", vm.vmid));
    let mac = numbering.mac(vm.vmid).ok_or_else(|| missing("MAC"))?;
    let address = numbering.workload_address(home.index, home.ordinal).ok_or_else(|| missing("address"))?;
    let bridge = wanted.tenant.vnet(0).ok_or_else(|| missing("VNet"))?;
    let (net, gateway) = (numbering.subnet(home.index), numbering.gateway(home.index));
    let resolver = match (&site.resolvers, site.exit_nodes.first()) {
        (Some(resolvers), _) => Some(resolvers.perimeter.to_string()),
        (None, exit) => exit.map(|exit| exit.transit_gateway.to_string()),
    };
    let keys = wanted.ssh_keys.as_deref().map(vm::authorized).transpose()?;
    let or =
        |asked: Option<u32>, usual: u32| asked.or((!home.exists || vm.new).then_some(usual)).map(|n| n.to_string());
    let user = wanted.login_user.clone().or_else(|| site.proxmox.login_user.clone());
    let all = [
        ("cores", or(wanted.cores, CORES)),
        ("memory", or(wanted.memory_mib, MEMORY)),
        ("agent", Some("1".to_owned())),
        ("onboot", Some("1".to_owned())),
        ("net0", Some(format!("virtio={mac},bridge={bridge}"))),
        ("ipconfig0", Some(format!("ip={address}/{},gw={gateway}", net.prefix_len()))),
        ("nameserver", resolver),
        ("tags", Some(vm::tags(["tenant", wanted.tenant.as_str()]))),
        ("ciuser", user),
        ("sshkeys", keys),
    ];
    Ok(fields(all.into_iter().filter_map(|(name, value)| Some((name, value?)))))
}
