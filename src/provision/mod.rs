//! Changing things: plans that are looked at, approved, run, taken up again and taken back.
//!
//! A [`plan::Plan`] is an ordered list of goals: an [`object::Object`] of a back end and the fields it is to have, or that it
//! is to be gone. Each kind of object knows how to be looked at and how to be changed ([`object::Ensure`]); everything else is
//! the same for all: the field-level difference ([`fields`]), what is asked before it ([`approve`]), the run itself
//! ([`engine`]), the record of it ([`journal`]) and the way back ([`undo`]).
//!
//! Nothing here trusts an answer: a step is done when the object, read again, is as it is wanted. A plan can therefore be
//! run again from its start at any time; what is done already is seen and left alone.

mod answers;
pub mod approve;
pub mod conduct;
pub mod egress;
pub mod engine;
pub mod fields;
pub mod handover;
pub mod journal;
pub mod names;
pub mod object;
pub mod plan;
pub mod plans;
pub mod preflight;
pub mod rights;
pub mod saved;
pub mod sdn;
pub mod survey;
pub mod tenant;
pub mod trouble;
pub mod undo;
pub mod vm;
pub mod world;

#[cfg(test)]
mod testing;
