//! Carries out effects. Everything that touches the terminal, the clock or another program is here.

use crate::console::msg::Notice;
use crate::console::{Effect, Msg};
use crate::inventory::Class;
use crate::terminal::{Edited, Editor, Input, clipboard, title};

use super::event_loop::{End, Running};

impl Running {
    /// Carries out one effect.
    pub(super) fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Quit => self.end = Some(End::Quit),
            Effect::Suspend => self.suspend(),
            Effect::Redraw => self.output.repaint(),
            Effect::Refresh(source) => self.feed.refresh(source),
            Effect::Demand(demand) => self.feed.demand(demand),
            Effect::Copy(text) => self.copy(&text),
            Effect::Edit { text, suffix } => self.edit(&text, suffix),
            Effect::WakeAt(at) => self.wake = Some(at),
            Effect::Title(text) => {
                // A title that does not fit in the queue is no loss.
                let _ = self.output.control(title::set(&text));
            }
        }
    }

    fn notice(&mut self, class: Class, text: impl Into<String>) {
        self.fold(Msg::Notice(Notice { class, text: text.into() }));
    }

    fn copy(&mut self, text: &str) {
        match clipboard::copy(text, self.capabilities.multiplexer) {
            Ok(bytes) if self.output.control(bytes).is_ok() => {
                self.notice(Class::Fine, "sent to the terminal's clipboard (OSC 52)");
            }
            Ok(_) => self.notice(Class::Warning, "not copied: the terminal does not take output right now"),
            Err(e) => self.notice(Class::Warning, format!("not copied: {e}; {}", e.help())),
        }
    }

    fn suspend(&mut self) {
        self.inputs.pause();
        let result = tokio::task::block_in_place(|| self.guard.suspend());
        if let Err(e) = result {
            self.notice(Class::Warning, format!("not suspended: {e}"));
        }
        self.returned();
    }

    fn edit(&mut self, text: &str, suffix: &str) {
        let get = |name: &str| std::env::var(name).ok();
        let editor = match Editor::from_env(get) {
            Ok(editor) => editor,
            Err(e) => return self.notice(Class::Warning, format!("{e}; {}", e.help())),
        };
        self.inputs.pause();
        let tty = std::sync::Arc::clone(&self.tty);
        let suffix = format!(".{suffix}");
        let lent = || self.guard.lend(|| editor.edit(text, &suffix, || tty.stdio()));
        let result = tokio::task::block_in_place(lent);
        match result {
            Ok(Ok(Edited::Unchanged)) => self.fold(Msg::Edited(None)),
            Ok(Ok(Edited::Changed(text))) => self.fold(Msg::Edited(Some(text))),
            Ok(Err(e)) => self.notice(Class::Warning, format!("{e}; {}", e.help())),
            Err(e) => self.notice(Class::Fault, e.to_string()),
        }
        self.returned();
    }

    /// The terminal is ours again: size, modes and contents may all be different.
    pub(super) fn returned(&mut self) {
        if let Err(e) = self.guard.reenter() {
            self.notice(Class::Fault, e.to_string());
        }
        self.inputs.resume();
        self.output.repaint();
        if let Ok((w, h)) = self.tty.size() {
            self.fold(Msg::Input(Input::Resize { w, h }));
        }
        self.fold(Msg::Repaint);
    }
}
