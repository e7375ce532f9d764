//! Pictures made by the real join from a few invented readings, and the consoles that show them.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use deevnet_console::backends::proxmox::model as pve;
use deevnet_console::console::keymap::Keymap;
use deevnet_console::console::model::Screen;
use deevnet_console::console::theme::Look;
use deevnet_console::console::{Model, Msg, start, update};
use deevnet_console::inventory::{Inventory, PveReading, Readings, SourceHealth, SourceId, Sources, join};
use deevnet_console::site::Site;
use deevnet_console::text;
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;

/// The moment of every picture.
pub fn now() -> Timestamp {
    "2026-11-29T11:03:00Z".parse().unwrap()
}

fn site() -> Arc<Site> {
    let text = include_str!("../console_pty/dead.toml").replace("PORT", "8006");
    Arc::new(Site::parse(&text, Path::new("site.toml")).unwrap_or_else(|error| panic!("{error}")))
}

fn applied<T: Clone>(value: T) -> pve::Sdn<T> {
    let pending = BTreeMap::new();
    pve::Sdn { running: Some(value.clone()), configured: Some(value), change: pve::Change::None, pending }
}

/// A guest that nothing else is known of.
pub fn guest(vmid: u32, name: &str, status: &str) -> pve::Vm {
    pve::Vm {
        vmid,
        name: Some(name.to_owned()),
        node: "pve2".to_owned(),
        status: status.to_owned(),
        template: false,
        lock: None,
        cpu: None,
        cpus: Some(2),
        mem: None,
        maxmem: Some(2 << 30),
        maxdisk: None,
        uptime_s: None,
        tags: Vec::new(),
    }
}

/// A reading in which `guests` sit on the VNet of the tenant `tdemo`.
pub fn reading(guests: Vec<pve::Vm>) -> PveReading {
    let mut reading = PveReading::empty(now());
    let mut sdn = pve::SdnConfig::default();
    sdn.zones.push(applied(pve::Zone {
        zone: "tdemo".into(),
        kind: "evpn".into(),
        controller: Some("evpn1".into()),
        vrf_vxlan: Some(10001),
        exit_nodes: vec!["dv02hyp002p02".into()],
        ..pve::Zone::default()
    }));
    let vnet = pve::Vnet { vnet: "tdemo0".into(), zone: "tdemo".into(), tag: Some(20050), alias: None };
    sdn.vnets.push(applied(vnet));
    let device = pve::NetDevice { model: "virtio".into(), bridge: Some("tdemo0".into()), ..pve::NetDevice::default() };
    for guest in &guests {
        let config =
            pve::VmConfig { nets: BTreeMap::from([(0, Box::new(device.clone()))]), ..pve::VmConfig::default() };
        reading.configs.insert(guest.vmid, Ok(Arc::new(config)));
    }
    reading.sdn = Ok(sdn);
    reading.tasks = Ok(Vec::new());
    reading.resources = Ok(Arc::new(pve::Resources { vms: guests, ..pve::Resources::default() }));
    reading
}

/// What is known when Proxmox said this, just now.
pub fn joined(reading: PveReading) -> Arc<Inventory> {
    let ten = SignedDuration::from_secs(10);
    let mut sources = Sources::default();
    let health = SourceHealth { observed_at: Some(now()), ..SourceHealth::starting(ten, ten, now()) };
    sources.set(SourceId::Pve, health);
    let readings = Readings { sources, pve: Some(Arc::new(reading)), ..Readings::default() };
    Arc::new(join(&site(), &readings, 1))
}

/// A console of this size that shows `picture`.
pub fn showing(picture: Arc<Inventory>, size: (u16, u16), screen: Option<Screen>) -> Model {
    let mut model = Model::new("mobile", size, now(), Arc::new(Look::default()), Arc::new(Keymap::default()));
    start(&mut model);
    update(&mut model, Msg::Inventory(picture));
    if let Some(screen) = screen {
        model.show(screen);
    }
    model
}

/// A console of this size on a small site.
pub fn model(size: (u16, u16)) -> Model {
    showing(joined(reading(vec![guest(2040, "tdemo-app", "running"), guest(5001, "web1", "stopped")])), size, None)
}

/// What a terminal shows, row by row. Fails where half of a wide character is left.
pub fn rows(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let mut rows = Vec::new();
    for y in 0..area.height {
        let (mut row, mut x) = (String::new(), 0);
        while x < area.width {
            let symbol = buffer[(x, y)].symbol();
            row.push_str(symbol);
            x += u16::try_from(text::width(symbol)).unwrap().max(1);
        }
        assert_eq!(text::width(&row), usize::from(area.width), "row {y} has another right edge: {row:?}");
        assert!(text::is_clean(&row), "row {y}: {row:?}");
        rows.push(row);
    }
    rows
}
