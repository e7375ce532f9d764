//! The writer thread against pipes that are read, and pipes that are not.

use std::{io::Read, sync::mpsc, time::Duration};

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::*;

const LONG: Duration = Duration::from_secs(10);

fn frame(text: &str) -> Frame {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 40));
    (0..40).for_each(|y| buffer.set_string(0, y, text.repeat(120 / text.len()), Style::new()));
    Frame { buffer, scroll: None, cursor: None }
}

fn pipe() -> (io::PipeReader, Output, Arc<Tty>) {
    let (reader, writer) = io::pipe().unwrap();
    let tty = Arc::new(Tty::from_fd(writer.into()).unwrap());
    let output = Output::start(Arc::clone(&tty), PaintOptions::default()).unwrap();
    (reader, output, tty)
}

/// Reads in the background and passes on what came.
fn chunks(mut reader: io::PipeReader) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(1024);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        while let Ok(n @ 1..) = reader.read(&mut buffer) {
            if sender.send(buffer[..n].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Collects until `wanted` shows on the emulated screen.
fn read_until(chunks: &mpsc::Receiver<Vec<u8>>, terminal: &mut vt100::Parser, wanted: &str) {
    while !terminal.screen().contents().contains(wanted) {
        terminal.process(&chunks.recv_timeout(LONG).expect("output ended before the text came"));
    }
}

fn terminal() -> vt100::Parser {
    vt100::Parser::new(40.try_into().unwrap(), 120.try_into().unwrap(), 0)
}

#[test]
fn each_frame_is_one_write_and_nothing_is_written_for_no_change() {
    let (reader, output, _tty) = pipe();
    let chunks = chunks(reader);
    let mut terminal = terminal();
    for text in ["alpha ", "beta  ", "gamma "] {
        output.frame(frame(text));
        read_until(&chunks, &mut terminal, text);
        output.frame(frame(text));
    }
    assert_eq!(output.control(b"\x1b]2;title\x07".to_vec()), Ok(()));
    let shared = Arc::clone(&output.shared);
    assert_eq!(output.shutdown(LONG), Shutdown::Drained);
    let stats = shared.slot().stats;
    assert_eq!(stats.frames, 3);
    assert_eq!(stats.writes, 4, "three frames and a title");
}

#[test]
fn a_reader_that_stalls_neither_blocks_nor_piles_up_frames() {
    let (reader, output, _tty) = pipe();
    // Frames that differ everywhere: far more than a pipe holds, were they all written.
    for i in 0..300 {
        output.frame(frame(if i % 2 == 0 { "ab" } else { "ba" }));
    }
    output.frame(frame("end. "));
    let held = output.stats();
    assert!(held.bytes <= 80_000, "only what the pipe takes is written: {held:?}");
    assert!(held.replaced >= 250, "{held:?}");
    let chunks = chunks(reader);
    read_until(&chunks, &mut terminal(), "end. end. ");
    assert_eq!(output.shutdown(LONG), Shutdown::Drained);
}

#[test]
fn a_stalled_output_is_abandoned_in_time() {
    let (reader, output, _tty) = pipe();
    output.control(vec![b'x'; 1 << 20]).unwrap();
    assert_eq!(output.shutdown(Duration::from_millis(20)), Shutdown::Abandoned);
    drop(reader);
}

#[test]
fn control_strings_are_bounded_and_keep_their_order() {
    let (mut reader, output, _tty) = pipe();
    output.control(vec![b'x'; 1 << 20]).unwrap();
    let mut sent = 0;
    // The first may still wait in the queue or be taken already.
    while output.control(vec![b'a' + sent; 3]).is_ok() {
        sent += 1;
        assert!(usize::from(sent) <= 2 * MAX_CONTROLS);
    }
    let all = std::thread::spawn(move || {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).map(|_| all)
    });
    assert_eq!(output.shutdown(LONG), Shutdown::Drained);
    drop(_tty);
    let all = all.join().unwrap().unwrap();
    let wanted: Vec<u8> = (0..sent).flat_map(|i| [b'a' + i; 3]).collect();
    assert_eq!(&all[1 << 20..], wanted);
}

#[test]
fn a_closed_gate_stops_a_frame_and_the_next_is_painted_whole() {
    let (reader, output, tty) = pipe();
    let chunks = chunks(reader);
    let mut screen = terminal();
    output.frame(frame("one  "));
    read_until(&chunks, &mut screen, "one  ");
    tty.close_gate();
    tty.open_gate();
    // The screen was used by somebody else: only a whole repaint brings the picture back.
    let mut other = terminal();
    output.frame(frame("one  "));
    read_until(&chunks, &mut other, "one  one  ");
    tty.close_gate();
    output.frame(frame("two  "));
    let shared = Arc::clone(&output.shared);
    assert_eq!(output.shutdown(LONG), Shutdown::Drained);
    assert_eq!(shared.slot().stats.frames, 2, "nothing is written through a closed gate");
}

#[test]
fn a_terminal_that_is_gone_is_reported() {
    let (reader, output, _tty) = pipe();
    drop(reader);
    output.frame(frame("x"));
    let shared = Arc::clone(&output.shared);
    assert_eq!(output.shutdown(LONG), Shutdown::Abandoned);
    assert!(shared.slot().failed);
}
