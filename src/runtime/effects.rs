//! Carries out effects. Everything that touches the terminal, the clock or another program is here.

use crate::console::msg::Notice;
use crate::console::{Effect, Msg};
use crate::diagnose::collect::Wanted;
use crate::inventory::Class;
use crate::terminal::{Edited, Editor, clipboard, title};
use crate::text::Charset;

use super::event_loop::{End, Running};

impl Running {
    /// Carries out one effect.
    pub(super) fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Quit => self.end = Some(End::Quit),
            Effect::Suspend => self.suspend(),
            Effect::Redraw => self.terminal.output().repaint(),
            Effect::Refresh(source) => self.feed.refresh(source),
            Effect::Demand(demand) => self.feed.demand(demand),
            Effect::Copy(text) => self.copy(&text),
            Effect::CopySecret(secret) => self.copy(secret.0.expose()),
            Effect::Edit { text, suffix } => self.edit(&text, suffix),
            Effect::Resolve { id, target } => {
                let picture = std::sync::Arc::clone(&self.pictures.borrow());
                self.probes.resolve(id, target, picture, &self.clock);
            }
            Effect::StopResolve => self.probes.stop(),
            Effect::Check { id, check, tenant } => {
                let wanted = Wanted::of(check, tenant.as_deref());
                let picture = std::sync::Arc::clone(&self.pictures.borrow());
                self.probes.check(id, wanted, picture, &self.clock);
            }
            Effect::Judge { pasted } => self.probes.judge(pasted),
            Effect::StopCheck => self.probes.stop_check(),
            Effect::Save { dir, evidence } => self.probes.save(dir, evidence),
            Effect::Change(order) => self.changes.take(order),
            Effect::WakeAt(at) => self.wake = Some(at),
            Effect::Title(text) => {
                let charset = if self.model.look.glyphs.ascii { Charset::Ascii } else { Charset::Unicode };
                // A title that does not fit in the queue is no loss.
                let _ = self.terminal.output().control(title::set(&text, charset));
            }
        }
    }

    fn notice(&mut self, class: Class, text: impl Into<String>) {
        self.fold(Msg::Notice(Notice { class, text: text.into() }));
    }

    fn copy(&mut self, text: &str) {
        let bytes = match clipboard::copy(text, self.capabilities.multiplexer) {
            Ok(bytes) => bytes,
            Err(e) => return self.notice(Class::Warning, format!("not copied: {e}; {}", e.help())),
        };
        if self.terminal.output().control(bytes).is_ok() {
            self.notice(Class::Fine, "sent to the terminal's clipboard (OSC 52)");
        } else {
            self.notice(Class::Warning, "not copied: the terminal does not take output right now");
        }
    }

    pub(super) fn suspend(&mut self) {
        if let Err(e) = tokio::task::block_in_place(|| self.terminal.suspend()) {
            self.notice(Class::Warning, format!("not suspended: {e}"));
        }
        self.repaint();
    }

    fn edit(&mut self, text: &str, suffix: &str) {
        let editor = match Editor::from_env(|name| std::env::var(name).ok()) {
            Ok(editor) => editor,
            Err(e) => return self.notice(Class::Warning, format!("{e}; {}", e.help())),
        };
        let suffix = format!(".{suffix}");
        match tokio::task::block_in_place(|| self.terminal.edit(&editor, text, &suffix)) {
            Ok(Ok(Edited::Unchanged)) => self.fold(Msg::Edited(None)),
            Ok(Ok(Edited::Changed(text))) => self.fold(Msg::Edited(Some(text))),
            Ok(Err(e)) => self.notice(Class::Warning, format!("{e}; {}", e.help())),
            Err(e) => self.notice(Class::Fault, e.to_string()),
        }
        self.repaint();
    }

    /// After a stop by somebody else.
    pub(super) fn continued(&mut self) {
        if let Err(e) = self.terminal.continued() {
            self.notice(Class::Fault, e.to_string());
        }
        self.repaint();
    }

    /// The terminal is ours again: size and contents may both be different.
    fn repaint(&mut self) {
        self.terminal.output().repaint();
        self.measure();
        self.fold(Msg::Repaint);
    }
}
