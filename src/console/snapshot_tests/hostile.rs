//! Names that try to take the terminal over or to break the columns, in every pane.

use super::*;
use crate::console::msg::Notice;
use crate::inventory::{Class, Origin};

fn names() -> [String; 6] {
    [
        "\u{1b}[2J\u{1b}]52;c;cm0=\u{7}app".into(),
        "日本語の名前全角文字テスト".into(),
        "\u{202e}nimda\u{202c} שלום مرحبا".into(),
        "x".repeat(300),
        format!("z{}algo", "\u{301}\u{317}".repeat(60)),
        "👩\u{200d}👩\u{200d}👧 family \r\n\t tab".into(),
    ]
}

/// The healthy picture with hostile text wherever a back end's text goes.
fn picture() -> Arc<Inventory> {
    let mut inv = (*testing::healthy()).clone();
    let names = names();
    let mut next = names.iter().cycle();
    let mut bad = || next.next().cloned().unwrap_or_default();
    for w in &mut inv.workloads {
        w.name = bad().into();
        w.vm_name = Some(bad().into());
        w.origin = Origin::Foreign(bad());
        w.lock = Some(bad().into());
        w.bridge = Ok(Some(bad().into()));
    }
    for v in &mut inv.vnets {
        v.alias = Some(bad());
        v.word = bad();
        v.class = Class::Warning;
    }
    for v in &mut inv.vrfs {
        for fact in &mut v.facts {
            fact.value = bad();
        }
        if let Ok(routes) = &mut v.routes {
            for (_, why) in routes {
                why.words = bad().into();
            }
        }
    }
    for t in &mut inv.tenants {
        for layer in [&mut t.layers.fabric, &mut t.layers.node, &mut t.layers.workloads] {
            layer.words = bad();
            layer.class = Class::Warning;
        }
    }
    for a in &mut inv.fabric.members {
        a.word = bad();
        a.underlay = vec![bad()];
    }
    if let Ok(tasks) = &mut inv.tasks {
        for t in tasks {
            t.user = bad();
            t.status = Some(bad());
        }
    }
    Arc::new(inv)
}

#[test]
fn hostile_names_change_nothing_but_their_own_cells() {
    for size in [COMPACT, DESIGN] {
        check(&tenants(picture(), size), "tenants", "hostile");
        check(&board(picture(), size, "tdemo", ListId::Workloads), "board", "hostile");
        for id in [ListId::Workloads, ListId::Vrfs, ListId::Vnets] {
            check(&list(picture(), size, id, Scope::All), super::super::lists::def(id).word, "hostile");
        }
        for (screen, pane, name) in [
            (Screen::Overview, ListId::Attention, "overview"),
            (Screen::Fabric, ListId::Members, "fabric"),
            (Screen::Activity, ListId::Tasks, "activity"),
        ] {
            let mut model = model(picture(), size, screen, Focus::Pane(pane));
            for name in names() {
                model.say(Notice::warning(name));
            }
            check(&model, name, "hostile");
        }
    }
    let mut ascii = list(picture(), DESIGN, ListId::Workloads, Scope::All);
    ascii.look = look("dark", Depth::True, true);
    check(&ascii, "workloads", "hostile-ascii");
}
