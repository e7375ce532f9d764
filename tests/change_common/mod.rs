//! What tests of changes stand on: a lab that can be changed, how time passes there, the clients of its site, and a journal.
//! What is particular to networks, workloads, names or operators is in the files beside.

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests, not all used by each: a panic is the verdict"
)]

mod runs;

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deevnet_console::lab::{Clock, Lab, LabOptions, Pace};
use deevnet_console::provision::approve::{ApprovedPlan, Refusal};
use deevnet_console::provision::engine::Ended;
use deevnet_console::provision::journal::ChangeId;
use deevnet_console::provision::plan::{Plan, Preview};
use deevnet_console::provision::trouble::{Trouble, TroubleKind};
use deevnet_console::provision::world::{Listener, News, Patience, Sleep, World};
use deevnet_console::runtime::clock;
use deevnet_console::site::Site;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

pub use runs::{Runs, ears, who};

/// When the labs of these tests start, milliseconds since the epoch.
pub const NOW_MS: i64 = 1_795_950_000_000;

/// A clock that moves when somebody moves it, milliseconds since the epoch.
#[derive(Clone)]
pub struct Hand(Arc<AtomicI64>);

impl Hand {
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(NOW_MS)))
    }

    pub fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    pub fn set(&self, ms: i64) {
        self.0.store(ms, Ordering::SeqCst);
    }

    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn clock(&self) -> Clock {
        let hand = self.clone();
        Arc::new(move || Timestamp::from_millisecond(hand.now()).unwrap())
    }

    /// Whoever waits moves it.
    pub fn sleep(&self) -> Sleep {
        let hand = self.clone();
        Arc::new(move |length: Duration| {
            hand.advance(i64::try_from(length.as_millis()).unwrap());
            no_time()
        })
    }
}

/// Others come in between, and that is all.
pub fn no_time() -> BoxFuture<'static, ()> {
    Box::pin(tokio::task::yield_now())
}

/// What a bench is to be like.
pub struct Options {
    /// How many tenants; `None` = the default site.
    pub tenants: Option<u32>,
    /// How many workloads each has; `None` = as the site has them.
    pub workloads: Option<u32>,
    /// Whether there are names, a perimeter and check-ins.
    pub second_half: bool,
    pub pace: Pace,
    /// Whether waiting moves the lab's clock; else it is the system's, and waiting takes no time.
    pub moved: bool,
    pub patience: Patience,
    /// Whether whoever runs a plan types its name back.
    pub typed: bool,
}

impl Options {
    /// Everything that a site has, and so many tenants. Waiting moves the lab's clock.
    pub fn tenants(tenants: u32) -> Self {
        Self {
            tenants: Some(tenants),
            workloads: None,
            second_half: true,
            pace: Pace::Clock,
            moved: true,
            patience: Patience { looks: 8, ..Patience::default() },
            typed: true,
        }
    }

    /// Everything that a site has and no tenant. Nothing there takes time, and nobody waits.
    pub fn empty() -> Self {
        Self { pace: Pace::Instant, moved: false, ..Self::tenants(0) }
    }

    /// The lab alone.
    pub async fn lab(&self) -> (Lab, Hand) {
        let hand = Hand::new();
        let clock = if self.moved { hand.clock() } else { clock::system() };
        let program = PathBuf::from(env!("CARGO_BIN_EXE_deevnet-console"));
        let options = LabOptions {
            tenants: self.tenants,
            workloads: self.workloads,
            second_half: self.second_half,
            pace: self.pace,
            writable: true,
            ..LabOptions::new(clock, program)
        };
        (Lab::start(options).await.unwrap(), hand)
    }

    /// The clients of a site.
    pub async fn world(&self, site: &Arc<Site>, hand: &Hand) -> World {
        let clock = if self.moved { hand.clock() } else { clock::system() };
        let sleep = if self.moved { hand.sleep() } else { Arc::new(|_| no_time()) };
        World::connect(site, clock, sleep, self.patience).await
    }

    pub async fn start(self) -> Bench {
        let (lab, hand) = self.lab().await;
        let site = site(&lab);
        let world = Arc::new(self.world(&site, &hand).await);
        Bench { lab: Arc::new(lab), hand, world, runs: Runs::new(), heard: Arc::default(), typed: self.typed }
    }
}

/// The site of a lab.
pub fn site(lab: &Lab) -> Arc<Site> {
    Arc::new(Site::parse(&lab.site_toml(), &lab.dir().join("site.toml")).unwrap())
}

/// A lab, the world of its site, and a journal.
pub struct Bench {
    pub lab: Arc<Lab>,
    pub hand: Hand,
    pub world: Arc<World>,
    pub runs: Runs,
    /// All news of what was run, in order.
    pub heard: Arc<Mutex<Vec<News>>>,
    typed: bool,
}

impl std::ops::Deref for Bench {
    type Target = Runs;

    fn deref(&self) -> &Runs {
        &self.runs
    }
}

impl Bench {
    pub async fn look(&self, plan: Plan) -> Preview {
        self.runs.look(&self.world, plan).await
    }

    pub fn approved(&self, preview: Preview) -> Result<ApprovedPlan, Refusal> {
        let name = self.typed.then(|| preview.plan.subject.name.clone());
        self.approved_as(preview, name.as_deref())
    }

    /// The same with that typed back.
    pub fn approved_as(&self, preview: Preview, name: Option<&str>) -> Result<ApprovedPlan, Refusal> {
        Runs::approved_as(&self.world, preview, name)
    }

    pub async fn engine(&self, approved: ApprovedPlan, id: Option<ChangeId>) -> Ended {
        self.heard(approved, id, Arc::new(|_| ())).await
    }

    /// The same with a listener.
    pub async fn heard(&self, approved: ApprovedPlan, id: Option<ChangeId>, also: Listener) -> Ended {
        let heard = Arc::clone(&self.heard);
        let listener: Listener = Arc::new(move |news: News| {
            heard.lock().unwrap().push(news.clone());
            also(news);
        });
        self.runs.heard(&self.world, approved, id, &listener).await
    }

    pub async fn run(&self, plan: Plan) -> Ended {
        let approved = self.approved(self.look(plan).await).unwrap();
        self.engine(approved, None).await
    }

    /// Takes the newest change up.
    pub async fn resume(&self) -> Ended {
        let entry = self.journal.read(self.newest()).unwrap();
        let preview = entry.plan.clone().preview(&self.world, entry.notes()).await;
        self.engine(self.approved(preview).unwrap(), Some(entry.id)).await
    }

    /// The lines that were told.
    pub fn told(&self) -> String {
        lines(&self.heard.lock().unwrap()).join("\n")
    }

    /// Stops the lab.
    pub async fn end(self) {
        drop(self.world);
        Arc::into_inner(self.lab).unwrap().shutdown().await;
    }
}

/// The lines among news.
pub fn lines(news: &[News]) -> Vec<String> {
    let line = |news: &News| match news {
        News::Line(_, line) => Some(line.clone()),
        _ => None,
    };
    news.iter().filter_map(line).collect()
}

/// Where and why a run stopped.
pub fn stopped(ended: Ended) -> (usize, Trouble) {
    match ended {
        Ended::Early { step, trouble } => (step, trouble),
        Ended::Done => panic!("it came to its end"),
    }
}

/// The same as step, kind and what was said.
pub fn early(ended: Ended) -> (usize, TroubleKind, String) {
    let (step, trouble) = stopped(ended);
    (step, trouble.kind, trouble.text)
}
