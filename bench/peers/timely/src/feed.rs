//! A worker's input: when which record is sent under which timestamp, and when timestamps are done.

use crate::gate::Gate;
use crate::latencies::Latencies;
use crate::options::Options;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

const OPEN: u64 = 1 << 14; // timestamps, at most, when records are paced
const BURST: u64 = 4096; // records that are sent before the worker steps: they stay in the cache

pub type Handle<D> = InputHandle<u64, CapacityContainerBuilder<Vec<D>>>;

pub struct Feed<'a, D: Clone + 'static, F: FnMut(u64) -> D> {
    pub options: &'a Options,
    pub gate: &'a Gate,
    pub input: Handle<D>,
    pub probe: ProbeHandle<u64>,
    pub record: F,
    pub latencies: Latencies,
    pub intended: Vec<Instant>,
    pub start: Instant,
    pub sent: u64,
    pub done: u64,
}

impl<'a, D: Clone + 'static, F: FnMut(u64) -> D> Feed<'a, D, F> {
    pub fn new(options: &'a Options, gate: &'a Gate, input: Handle<D>, probe: ProbeHandle<u64>, record: F) -> Self {
        let start = Instant::now();
        let intended = vec![start; if options.timed() { OPEN as usize } else { 0 }];
        Feed { options, gate, input, probe, record, latencies: Latencies::new(), intended, start, sent: 0, done: 0 }
    }

    /// Until the gate says stop.
    pub fn run(&mut self, worker: &mut Worker) {
        while self.gate.wait() {
            self.start = Instant::now();
            let mut paced = 0;
            while self.gate.open.load(Relaxed) {
                self.send(worker, &mut paced);
                worker.step();
                self.settle(worker, self.time());
            }
            self.drain(worker);
        }
    }

    fn time(&self) -> u64 {
        *self.input.time()
    }

    fn send(&mut self, worker: &mut Worker, paced: &mut u64) {
        if self.options.epoch() > 1 {
            self.send_epoch(worker);
        } else if self.options.rate > 0.0 {
            self.send_due(paced);
        } else if self.time() == self.done {
            for _ in 0..self.options.open() {
                let now = if self.options.timed() { Instant::now() } else { self.start };
                self.send_one(now);
            }
        }
    }

    fn send_one(&mut self, intended: Instant) {
        let time = self.time();
        if self.options.timed() {
            self.intended[(time % OPEN) as usize] = intended;
        }
        self.input.send((self.record)(self.sent));
        self.sent += 1;
        self.input.advance_to(time + 1);
    }

    /// What should have been sent by now, at the times when it should have been. Each worker sends its share.
    fn send_due(&mut self, paced: &mut u64) {
        let gap = 1e9 * self.gate.done.len() as f64 / self.options.rate;
        loop {
            let due = self.start + Duration::from_nanos((*paced as f64 * gap) as u64);
            if due > Instant::now() || self.time() - self.done >= OPEN {
                return;
            }
            *paced += 1;
            self.send_one(due);
        }
    }

    fn send_epoch(&mut self, worker: &mut Worker) {
        if self.time() - self.done >= self.options.open() {
            return;
        }
        for n in 0..self.options.epoch() {
            self.input.send((self.record)(self.sent));
            self.sent += 1;
            if n % BURST == BURST - 1 {
                worker.step();
            }
        }
        self.input.advance_to(self.time() + 1);
    }

    /// Which timestamps are done since it was last asked; those from END on hold no record of this worker.
    fn settle(&mut self, worker: &Worker, end: u64) {
        let now_done = self.probe.with_frontier(|frontier| frontier.first().copied());
        let done = now_done.unwrap_or(self.time()).min(self.time());
        let counted = done.min(end).saturating_sub(self.done);
        if self.options.timed() && counted > 0 && self.gate.recording.load(Relaxed) {
            let now = Instant::now();
            for time in self.done..self.done + counted {
                self.latencies.add((now - self.intended[(time % OPEN) as usize]).as_nanos() as u64);
            }
        }
        if counted > 0 {
            self.gate.done[worker.index()].add(counted * self.options.epoch());
        }
        self.done = done;
    }

    /// Ends what is open. A timestamp is done only when every worker's input has passed it.
    fn drain(&mut self, worker: &mut Worker) {
        let end = self.time();
        self.gate.furthest.fetch_max(end, SeqCst);
        self.gate.meet.wait();
        self.input.advance_to(self.gate.furthest.load(SeqCst));
        while self.done < self.time() {
            worker.step();
            self.settle(worker, end);
        }
        self.gate.latencies.lock().unwrap().merge(&self.latencies);
        self.latencies = Latencies::new();
        self.gate.is_held();
    }
}
