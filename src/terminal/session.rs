//! Everything that the event loop needs from the terminal, in one value.

use std::{io, sync::Arc, time::Duration};

use super::{
    editor::{Edited, Editor, EditorError},
    error::TerminalError,
    guard::{Guard, Modes},
    input::{Input, Inputs},
    output::{Output, Shutdown},
    painter::PaintOptions,
    tty::Tty,
};

/// The terminal while the console runs. Dropping it gives the terminal back.
///
/// Whenever the terminal was lent, the next frame is painted whole: send one.
#[derive(Debug)]
pub struct Session {
    // In this order: the gate closes first, then the writer ends.
    guard: Guard,
    output: Output,
    inputs: Inputs,
    tty: Arc<Tty>,
}

impl Session {
    /// Opens and takes the terminal of the process. Needs a tokio runtime.
    ///
    /// # Errors
    /// When there is no terminal, or it refuses; it is as before then.
    pub fn start(options: PaintOptions, modes: Modes) -> Result<Self, TerminalError> {
        let tty = Arc::new(Tty::open()?);
        let refused = |source| TerminalError::Refused { what: "a thread to write", source };
        let output = Output::start(Arc::clone(&tty), options).map_err(refused)?;
        let guard = Guard::enter(Arc::clone(&tty), modes)?;
        Ok(Self { guard, output, inputs: Inputs::start()?, tty })
    }

    /// Columns and rows now; a change is announced by [`super::Signal::Resize`].
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        self.tty.size()
    }

    /// Where frames and control strings go.
    #[must_use]
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// The next event; see [`Inputs::next`].
    pub async fn input(&mut self) -> Option<io::Result<Input>> {
        self.inputs.next().await
    }

    /// Stops the process group as `ctrl-z` does; returns when it is continued. For the key, and for
    /// [`super::Signal::Stop`].
    ///
    /// # Errors
    /// When the terminal refuses to come back.
    pub fn suspend(&mut self) -> Result<(), TerminalError> {
        self.inputs.forget();
        self.guard.suspend()
    }

    /// Takes the terminal again after [`super::Signal::Continue`], whoever stopped us.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn continued(&mut self) -> Result<(), TerminalError> {
        self.guard.reenter()
    }

    /// Lends the terminal to `work`, with nobody else reading it.
    ///
    /// # Errors
    /// When the terminal refuses to come back.
    pub fn lend<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, TerminalError> {
        let result = self.guard.lend(work);
        self.inputs.forget();
        result
    }

    /// Lets the operator edit a text; see [`Editor::edit`].
    ///
    /// # Errors
    /// The outer one when the terminal refuses to come back, the inner one when editing failed.
    pub fn edit(
        &mut self,
        editor: &Editor,
        text: &str,
        suffix: &str,
    ) -> Result<Result<Edited, EditorError>, TerminalError> {
        self.lend(|| editor.edit(text, suffix, Tty::stdio))
    }

    /// Writes what waits, for at most about `limit`, and gives the terminal back.
    pub fn finish(self, limit: Duration) -> Shutdown {
        let Self { guard, output, .. } = self;
        let end = output.shutdown(limit);
        drop(guard);
        end
    }
}
