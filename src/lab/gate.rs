//! Somebody between a client and the lab: told of each request before anything is done and once it is done, and deciding what
//! becomes of it. Without one every request passes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::request::Parts;
use tokio::sync::watch;

use super::http::Api;

/// A request as it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// Its number, from 1, since the gate was set; whichever server it is for.
    pub number: u64,
    /// Whom it is for: `pve`, `dns`, `fw`, `boot`, `registry`; `exit` for a login to the exit node or its file.
    pub to: &'static str,
    /// The method of HTTP; of the exit node `enter` or `put`.
    pub method: String,
    /// Path and query as sent; of the exit node the command line.
    pub target: String,
    /// Media type of the body.
    pub media: String,
    /// The body.
    pub body: Vec<u8>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is done and answered.
    Pass,
    /// The connection ends before anything is done.
    Unheard,
    /// It is done, and the connection ends without an answer.
    Unanswered,
    /// Nothing is done, and this status is answered.
    Refused(u16),
    /// It is done, and this status is answered.
    Denied(u16),
    /// Nothing is done, and what is answered repeats the credential in the words of a refusal.
    Repeated,
    /// It is done twice; what is answered is the second answer.
    Twice,
    /// The connection ends; it is done when so many more requests have arrived.
    Later(u64),
    /// Nothing is done, and the connection stays as it is until the gate is set anew; then it ends.
    Held,
    /// It is done, and its answer is kept back until the gate is set anew; then the connection ends.
    Kept,
}

/// Who decides.
pub trait Gate: Send + Sync {
    /// A request arrives; nothing is done yet.
    fn arrives(&self, request: &Arrival) -> Way;

    /// It is done, and not answered yet.
    fn done(&self, _request: &Arrival) {}
}

/// A request that is still to be done.
pub(super) enum Late {
    /// Over HTTP.
    Http(Api, Box<Parts>, Vec<u8>),
    /// The exit node's file.
    Put(String),
}

/// The gate of a lab.
#[derive(Default)]
pub(super) struct Gates {
    gate: Mutex<Option<Arc<dyn Gate>>>,
    number: AtomicU64,
    /// How often it was set.
    set: watch::Sender<u64>,
    late: Mutex<Vec<(u64, Late)>>,
}

/// A request that stands at the gate.
pub(super) struct Standing {
    gate: Option<Arc<dyn Gate>>,
    request: Arrival,
    set: watch::Receiver<u64>,
    pub(super) way: Way,
}

impl Standing {
    /// Tells the gate that it is done.
    pub(super) fn done(&self) {
        if let Some(gate) = &self.gate {
            gate.done(&self.request);
        }
    }

    /// Until the gate is set anew.
    pub(super) async fn held(mut self) {
        // Without a gate nothing is held any more either.
        let _ = self.set.changed().await;
    }

    /// When it is done, where that is later.
    pub(super) const fn due(&self, more: u64) -> u64 {
        self.request.number + more
    }
}

impl Gates {
    /// Puts somebody at the gate, or nobody; requests that were held back are forgotten, and the count begins anew.
    pub(super) fn set(&self, gate: Option<Arc<dyn Gate>>) {
        *self.gate.lock().unwrap_or_else(PoisonError::into_inner) = gate;
        self.number.store(0, Ordering::SeqCst);
        self.late().clear();
        self.set.send_modify(|times| *times += 1);
    }

    fn late(&self) -> MutexGuard<'_, Vec<(u64, Late)>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request arrives. Also gives what was held back until now.
    pub(super) fn arrives(&self, request: Arrival) -> (Standing, Vec<Late>) {
        let set = self.set.subscribe();
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let number = self.number.fetch_add(1, Ordering::SeqCst) + 1;
        let request = Arrival { number, ..request };
        let due: Vec<Late> = self.late().extract_if(.., |(due, _)| *due <= number).map(|(_, late)| late).collect();
        let way = gate.as_ref().map_or(Way::Pass, |gate| gate.arrives(&request));
        (Standing { gate, request, set, way }, due)
    }

    /// Holds a request back until that number.
    pub(super) fn hold(&self, due: u64, late: Late) {
        self.late().push((due, late));
    }

    /// What was never done because no further request came.
    pub(super) fn held(&self) -> Vec<Late> {
        std::mem::take(&mut *self.late()).into_iter().map(|(_, late)| late).collect()
    }
}
