//! Between the thread that runs the trials and the workers.

use crate::latencies::Latencies;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

/// One worker's count of finished records, alone on its cache lines.
#[repr(align(128))]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, more: u64) {
        self.0.store(self.0.load(SeqCst) + more, std::sync::atomic::Ordering::Release);
    }
}

pub struct Gate {
    pub open: AtomicBool,
    pub stop: AtomicBool,
    pub recording: AtomicBool,
    pub done: Vec<Count>,
    pub latencies: Mutex<Latencies>,
    /// The greatest timestamp that a worker came to: all go there before they rest, or none would ever be done.
    pub furthest: AtomicU64,
    pub meet: Barrier,
    held: AtomicU64,
    opened: AtomicU64,
}

impl Gate {
    pub fn new(workers: usize) -> Gate {
        Gate {
            open: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            recording: AtomicBool::new(false),
            done: (0..workers).map(|_| Count(AtomicU64::new(0))).collect(),
            latencies: Mutex::new(Latencies::new()),
            furthest: AtomicU64::new(0),
            meet: Barrier::new(workers),
            held: AtomicU64::new(0),
            opened: AtomicU64::new(0),
        }
    }

    pub fn total(&self) -> u64 {
        self.done.iter().map(|count| count.0.load(SeqCst)).sum()
    }

    /// A worker's side: true when it may send, false when it has to end. It sleeps rather than spins: other programs
    /// have their trials while this one is held.
    pub fn wait(&self) -> bool {
        while !self.open.load(SeqCst) {
            if self.stop.load(SeqCst) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    pub fn is_held(&self) {
        self.held.fetch_add(1, SeqCst);
    }

    pub fn let_go(&self) {
        self.opened.fetch_add(self.done.len() as u64, SeqCst);
        self.open.store(true, SeqCst);
    }

    pub fn hold(&self) {
        self.open.store(false, SeqCst);
        let from = Instant::now();
        while self.held.load(SeqCst) != self.opened.load(SeqCst) {
            if from.elapsed() > Duration::from_secs(60) {
                crate::options::end(1, "timely: open timestamps do not end");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
