//! The command line that every measured program takes.

pub const FLOWS: [&str; 3] = ["const-null", "const-id-null", "word-count"];

#[derive(Clone)]
pub struct Options {
    pub flow: String,
    pub acks: bool,
    pub executors: usize,
    pub seconds: f64,
    pub warm: f64,
    pub trials: usize,
    pub pending: usize,
    pub rate: f64,
}

impl Options {
    pub fn parse() -> Options {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let mut options = Options {
            flow: "const-null".to_owned(),
            acks: true,
            executors: 1,
            seconds: 1.0,
            warm: 1.0,
            trials: usize::MAX,
            pending: 0,
            rate: 0.0,
        };
        for pair in words.chunks(2) {
            if pair.len() < 2 || options.set(&pair[0], &pair[1]).is_none() {
                end(2, &format!("not understood: {}", words.join(" ")));
            }
        }
        if !FLOWS.contains(&options.flow.as_str()) {
            end(3, &format!("timely has no flow {}; it has {}", options.flow, FLOWS.join(", ")));
        }
        options
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--flow" => self.flow = value.to_owned(),
            "--acks" => self.acks = ["off", "on"].iter().position(|&word| word == value)? == 1,
            "--executors" => self.executors = value.parse().ok().filter(|&n| n > 0)?,
            "--seconds" => self.seconds = value.parse().ok()?,
            "--warm" => self.warm = value.parse().ok()?,
            "--trials" => self.trials = value.parse().ok()?,
            "--pending" => self.pending = value.parse().ok()?,
            "--rate" => self.rate = value.parse().ok()?,
            "--keys" => drop(value.parse::<u64>().ok()?), // no flow here has keys of a number that can be chosen
            _ => return None,
        }
        Some(())
    }

    /// Are latencies recorded? A clock is read for each tree then.
    pub fn timed(&self) -> bool {
        self.rate > 0.0 || self.pending == 1
    }

    pub fn words(&self) -> bool {
        self.flow == "word-count"
    }

    /// Records of one timestamp.
    pub fn epoch(&self) -> u64 {
        match (self.acks || self.timed(), self.words()) {
            (true, _) => 1,
            (false, false) => 1_000_000,
            (false, true) => 10_000,
        }
    }

    /// Timestamps that are open at once, at most.
    pub fn open(&self) -> u64 {
        match (self.pending, self.epoch()) {
            (0, 1) => 256,
            (0, _) => 1,
            (pending, _) => pending as u64,
        }
    }

    pub fn settings(&self) -> String {
        let what = if self.words() { "lines" } else { "records" };
        match self.epoch() {
            1 => format!("one timestamp a record, {} in flight on each worker", self.open()),
            many => format!("{many} {what} a timestamp, completion known only for all of them together"),
        }
    }
}

pub fn end(code: i32, why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(code)
}
