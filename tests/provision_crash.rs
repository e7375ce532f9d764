//! Changes that are cut off at every request and behind every line of their journal: taken up again they end as if nothing had
//! happened. So they do when one answer is disturbed.
//!
//! Sampled is the rest. Whatever changes something is disturbed in each of four ways, and in so many more of another four as its
//! course says, which take turns: one for an onboarding, two for the end of a tenant, four for a workload. An onboarding that is
//! dropped is taken up only where something else survives than one boundary before; of the lines of a journal every ninth is cut in
//! the middle; and a change is taken back at every second or fourth moment of it.
//!
//! Each run begins at the moment of one undisturbed run, in a lab that is set back to it, with new clients. Time passes where
//! somebody waits, and only there.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of a test: a panic is its verdict, its output its report"
)]

mod change_common;

#[path = "provision_crash/answers.rs"]
mod answers;
#[path = "provision_crash/bench.rs"]
mod bench;
#[path = "provision_crash/drops.rs"]
mod drops;
#[path = "provision_crash/gates.rs"]
mod gates;
#[path = "provision_crash/matrix.rs"]
mod matrix;
#[path = "change_common/secrets.rs"]
mod secrets;
#[path = "provision_crash/state.rs"]
mod state;

use bench::Course;
use matrix::Matrix;

/// A change that was cut off is taken back instead.
#[tokio::test]
async fn what_was_cut_off_is_taken_back_whole_or_says_what_it_leaves() {
    for (course, stride) in [(Course::Workload, 2), (Course::Onboard, 4)] {
        let mut matrix = Matrix::of(course).await;
        matrix.undone(stride).await;
        matrix.end().await;
    }
}

/// Drops at all requests, and cuts of the journal.
async fn cut_off(course: Course, all: bool) {
    let mut matrix = Matrix::of(course).await;
    matrix.drops(all).await;
    matrix.cuts().await;
    matrix.end().await;
}

#[tokio::test]
async fn an_onboarding_ends_as_undisturbed_wherever_it_is_cut_off() {
    cut_off(Course::Onboard, false).await;
}

#[tokio::test]
async fn a_workload_ends_as_undisturbed_wherever_it_is_cut_off() {
    cut_off(Course::Workload, true).await;
}

#[tokio::test]
async fn the_end_of_a_tenant_ends_as_undisturbed_wherever_it_is_cut_off() {
    cut_off(Course::Delete, true).await;
}

/// The answers to what looks, and to what changes something, disturbed one at a time.
async fn answered(course: Course, more: usize) {
    let mut matrix = Matrix::of(course).await;
    matrix.writes(more).await;
    matrix.looks(0, 1).await;
    matrix.end().await;
}

#[tokio::test]
async fn an_onboarding_ends_as_undisturbed_whatever_becomes_of_an_answer() {
    let mut matrix = Matrix::of(Course::Onboard).await;
    matrix.writes(1).await;
    matrix.looks(0, 2).await;
    matrix.end().await;
}

#[tokio::test]
async fn an_onboarding_ends_as_undisturbed_whatever_becomes_of_an_answer_to_its_other_looks() {
    let mut matrix = Matrix::of(Course::Onboard).await;
    matrix.looks(1, 2).await;
    matrix.end().await;
}

#[tokio::test]
async fn a_workload_ends_as_undisturbed_whatever_becomes_of_an_answer() {
    answered(Course::Workload, 4).await;
}

#[tokio::test]
async fn the_end_of_a_tenant_ends_as_undisturbed_whatever_becomes_of_an_answer() {
    answered(Course::Delete, 2).await;
}
