//! Saying why: evidence in, findings out. Pure, apart from what collects.
//!
//! ```text
//! evidence   items as they were read, and bundles of them on disk
//! collect    evidence from a live site
//! facts      evidence in types: one reader a form of input
//! rules      one fault each: facts in, verdicts out; also the catalogue
//! catalogue  the rules as a document
//! finding    what is said; report: causes, order, headline
//! resolve    one name at every vantage point
//! ```

pub mod access;
pub mod catalogue;
pub mod collect;
pub mod evidence;
pub mod facts;
pub mod finding;
pub mod report;
pub mod resolve;
pub mod rules;

pub use report::Report;
