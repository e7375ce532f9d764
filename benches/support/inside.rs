//! One key in process: update, view and the painter's bytes, without a terminal.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use deevnet_console::{
    console::{
        Effect, Model, Msg, keymap,
        theme::{self, Depth},
        update, view,
    },
    inventory::{
        Inventory,
        feed::{Clients, Feed},
    },
    runtime::clock,
    site::Site,
    terminal::{Frame, Input, Key, KeyCode, PaintOptions, Painter},
};
use tokio::runtime::Runtime;

use super::{
    process::rss_mib,
    table::{ms, percentile, row},
};

/// A console without a terminal.
struct Inside {
    model: Model,
    painter: Painter,
}

impl Inside {
    fn new(picture: &Arc<Inventory>) -> Self {
        let look = Arc::new(theme::load("dark", &[], Depth::Ansi256, false).unwrap());
        let keymap = Arc::new(keymap::load("default", &[]).unwrap());
        let mut model = Model::new("mobile", (120, 40), clock::now(), look, keymap);
        update(&mut model, Msg::Inventory(Arc::clone(picture)));
        let mut inside = Self { model, painter: Painter::new(PaintOptions::default()) };
        inside.frame();
        for key in ['l', 'z', 't'] {
            inside.key(key);
        }
        inside
    }

    /// Bytes of the next frame.
    fn frame(&mut self) -> usize {
        let screen = view(&self.model);
        let mut out = Vec::new();
        let cursor = screen.cursor.filter(|_| screen.cursor_visible);
        self.painter.paint(Frame { buffer: screen.buffer, scroll: screen.scroll, cursor }, &mut out);
        update(&mut self.model, Msg::Drawn(screen.hits.into()));
        out.len()
    }

    /// `⌫` stands for backspace.
    fn key(&mut self, key: char) -> usize {
        let key = if key == '⌫' { Key::new(KeyCode::Backspace) } else { Key::char(key) };
        update(&mut self.model, Msg::Input(Input::Key(key)));
        self.frame()
    }

    /// Wakes the console as often as it asks to be woken at once; how long each time took.
    fn woken(&mut self) -> Vec<f64> {
        let mut times = Vec::new();
        loop {
            let (begun, now) = (Instant::now(), clock::now());
            let effects = update(&mut self.model, Msg::Now(now));
            times.push(ms(begun.elapsed()));
            if !effects.contains(&Effect::WakeAt(now)) {
                return times;
            }
        }
    }

    fn pressed(&mut self, keys: &str, count: usize) -> Vec<f64> {
        let keys: Vec<char> = keys.chars().cycle().take(count).collect();
        let timed = |key| {
            let begun = Instant::now();
            self.key(key);
            ms(begun.elapsed())
        };
        keys.into_iter().map(timed).collect()
    }
}

/// The median of the slowest key of a sequence of `keys` that was pressed again and again: what else runs on the machine
/// leaves no trace in it.
fn worst_key(times: &[f64], keys: usize) -> f64 {
    let median = |key: usize| percentile(&times.iter().skip(key).step_by(keys).copied().collect::<Vec<_>>(), 0.5);
    (0..keys).map(median).fold(0.0, f64::max)
}

/// The picture of a site, once it shows `rows` workloads.
fn picture(runtime: &Runtime, site: &str, rows: usize) -> Arc<Inventory> {
    runtime.block_on(async {
        let site = Arc::new(Site::load(site.as_ref()).unwrap());
        let mut feed = Feed::start(&site, Clients::connect(&site).await, &clock::system());
        let shown = feed.inventory.wait_for(|inv| inv.workloads.len() >= rows);
        let shown = tokio::time::timeout(Duration::from_secs(60), shown).await.unwrap().unwrap();
        Arc::clone(&shown)
    })
}

pub fn measure(runtime: &Runtime, what: &str, site: &str, rows: usize) {
    let picture = picture(runtime, site, rows);
    let mut inside = Inside::new(&picture);
    let times = inside.pressed("jjjjjkkG", 2000);
    row(&format!("key → bytes in process, {what}, p50"), "ms", Some(1.5), Some(1.0), percentile(&times, 0.5));
    row(&format!("key → bytes in process, {what}, p99"), "ms", Some(10.0), Some(5.0), percentile(&times, 0.99));
    let (mut folds, mut bytes) = (Vec::new(), 0);
    for _ in 0..20 {
        let fresh = Arc::new(Inventory::clone(&picture));
        let begun = Instant::now();
        update(&mut inside.model, Msg::Inventory(fresh));
        folds.push(ms(begun.elapsed()));
        bytes += inside.frame();
    }
    row(&format!("a new picture taken in, {what}, p50"), "ms", None, Some(2.0), percentile(&folds, 0.5));
    row(&format!("bytes for an unchanged picture, {what}"), "B", Some(0.0), Some(0.0), bytes as f64);
    let own = i32::try_from(std::process::id()).unwrap();
    let before = rss_mib(own);
    let copies: Vec<Inventory> = (0..8).map(|_| Inventory::clone(&picture)).collect();
    row(&format!("memory of one picture, {what}"), "MiB", None, None, (rss_mib(own) - before) / 8.0);
    drop(copies);
    let begun = Instant::now();
    inside.key('/');
    let first = inside.pressed("w", 1);
    row(&format!("a letter right after the /, {what}"), "ms", None, Some(10.0), first[0]);
    row(&format!("from / to the first letter's bytes, {what}"), "ms", None, None, ms(begun.elapsed()));
    update(&mut inside.model, Msg::Inventory(Arc::new(Inventory::clone(&picture))));
    inside.pressed("⌫⌫", 2);
    update(&mut inside.model, Msg::Inventory(Arc::new(Inventory::clone(&picture))));
    inside.key('/');
    let portions = inside.woken();
    let longest = portions.iter().copied().fold(0.0, f64::max);
    row(&format!("row texts made ahead, longest portion, {what}"), "ms", Some(10.0), Some(5.0), longest);
    let keys = "web⌫⌫⌫2041⌫⌫⌫⌫sto⌫⌫⌫";
    let times = inside.pressed(keys, 600);
    row(&format!("key → bytes while filtering, {what}, p50"), "ms", Some(10.0), Some(1.0), percentile(&times, 0.5));
    row(&format!("key → bytes while filtering, {what}, p99"), "ms", Some(10.0), Some(5.0), percentile(&times, 0.99));
    let worst = worst_key(&times, keys.chars().count());
    row(&format!("the slowest of these keys, {what}, p50"), "ms", Some(10.0), Some(5.0), worst);
}
