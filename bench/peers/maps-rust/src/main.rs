// moka as a peer of `script/bench maps`: the same commands, streams and checks as ../../workload.h.
use moka::sync::Cache;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufRead, Write};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// A multiplication to 128 bits, folded, as gale's own hash: moka's default (SipHash) would cost it some 10 ns.
#[derive(Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(*byte as u64);
        }
    }
    fn write_u64(&mut self, word: u64) {
        let product = ((self.0 ^ word ^ 0x2545f4914f6cdd1d) as u128) * 0x9fb21c651e98df25u128;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

type Map = Cache<u64, u64, BuildHasherDefault<Fold>>;

/// It expires by the wall clock, and so in these runs never.
fn make() -> Map {
    Cache::builder().time_to_live(Duration::from_secs(36000)).build_with_hasher(Default::default())
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    z ^ (z >> 31)
}

fn key_of(number: u64) -> u64 {
    mix(number.wrapping_add(0x9e3779b97f4a7c15))
}

fn value_of(key: u64) -> u64 {
    key | 1
}

struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        mix(self.0)
    }
    fn below(&mut self, n: u64) -> u64 {
        ((self.next() >> 32) * n) >> 32
    }
    fn zipf(&mut self, n: u64) -> u64 {
        let octaves = 64 - n.leading_zeros() as u64;
        loop {
            let low = 1u64 << self.below(octaves);
            let rank = low + (self.next() & (low - 1));
            let chance = self.below(rank);
            if rank <= n && chance < low {
                return rank - 1;
            }
        }
    }
}

fn reads(map: &Map, steps: &[u32]) -> u64 {
    let mut check = 0u64;
    for step in steps {
        let key = key_of((step & 0x7fff_ffff) as u64);
        if step >> 31 != 0 {
            map.insert(key, value_of(key));
        } else {
            check = check.wrapping_add(map.get(&key).unwrap_or(0));
        }
    }
    check
}

fn ack(map: &Map, trees: u64, oldest: &mut u64, threads: u64, keys: u64) -> u64 {
    let mut check = 0;
    for _ in 0..trees {
        let (fresh, done) = (key_of(*oldest + keys), key_of(*oldest));
        map.insert(fresh, value_of(fresh));
        check += (map.remove(&done) == Some(value_of(done))) as u64;
        *oldest += threads;
    }
    check
}

fn zipf(map: &Map, steps: &[u32]) -> u64 {
    let mut check = 0;
    for step in steps {
        let key = key_of(*step as u64);
        check += map.entry(key).or_insert(value_of(key)).is_fresh() as u64;
    }
    check
}

struct Peer {
    full: Map,
    seen: Map,
    keys: u64,
    threads: u64,
    oldest: Vec<u64>,
}

fn full(keys: u64) -> Map {
    let map = make();
    for i in 0..keys {
        map.insert(key_of(i), value_of(key_of(i)));
    }
    map
}

impl Peer {
    fn draw_steps(&self, work: &str, ops: u64, thread: u64, percent: u64, seed: u64) -> Vec<u32> {
        let mut draw = Draw(mix(seed.wrapping_add(thread)));
        let step = |_| {
            if work == "zipf" {
                return draw.zipf(self.keys) as u32;
            }
            let number = draw.below(self.keys) as u32;
            number | ((draw.below(100) >= percent) as u32) << 31
        };
        (0..if work == "ack" { 0 } else { ops }).map(step).collect()
    }

    fn run(&mut self, work: &str, percent: u64, ops: u64, seed: u64) -> String {
        let (ops, threads, keys) = (ops / self.threads, self.threads, self.keys);
        let steps: Vec<Vec<u32>> = (0..threads).map(|t| self.draw_steps(work, ops, t, percent, seed)).collect();
        let (full, seen, barrier) = (&self.full, &self.seen, &Barrier::new(threads as usize));
        let one = |oldest: &mut u64, steps: &[u32]| {
            barrier.wait();
            let began = Instant::now();
            let check = match work {
                "reads" => reads(full, steps),
                "ack" => ack(full, ops / 2, oldest, threads, keys),
                _ => zipf(seen, steps),
            };
            (began, Instant::now(), check)
        };
        let one = &one;
        let ended: Vec<(Instant, Instant, u64)> = std::thread::scope(|scope| {
            let running: Vec<_> =
                self.oldest.iter_mut().zip(&steps).map(|(o, s)| scope.spawn(move || one(o, s))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let first = ended.iter().map(|e| e.0).min().unwrap();
        let last = ended.iter().map(|e| e.1).max().unwrap();
        let check = ended.iter().fold(0u64, |sum, e| sum.wrapping_add(e.2));
        format!("{} {}", (last - first).as_nanos(), check)
    }

    /// moka says nothing about its memory: resident only, after the fill.
    fn memory(keys: u64) -> String {
        let before = resident();
        let map = full(keys);
        map.run_pending_tasks();
        let after = resident();
        assert!(map.contains_key(&key_of(keys - 1)));
        format!("-1 -1 {} -1 -1", after - before)
    }

    fn answer(&mut self, words: &[&str]) -> Option<String> {
        let n = |i: usize| words.get(i).and_then(|w| w.parse::<u64>().ok());
        Some(match *words.first()? {
            "fill" => {
                (self.keys, self.threads) = (n(1)?, n(2)?);
                (self.full, self.seen) = (make(), make()); // what was there goes first
                self.full = full(self.keys);
                self.oldest = (0..self.threads).collect();
                "ok".into()
            }
            "reads" => self.run("reads", n(1)?, n(2)?, n(3)?),
            "ack" => self.run("ack", 0, n(1)?, n(2)?),
            "zipf" => self.run("zipf", 0, n(1)?, n(2)?),
            "memory" => Self::memory(n(1)?),
            _ => return None,
        })
    }
}

fn resident() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|w| w.parse::<i64>().ok()).unwrap_or(0) * 4096
}

fn main() {
    let mut peer = Peer { full: make(), seen: make(), keys: 0, threads: 1, oldest: vec![0] };
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match peer.answer(&words) {
            Some(answer) => println!("{answer}"),
            None => {
                eprintln!("moka: what is '{line}'?");
                std::process::exit(2);
            }
        }
        let _ = std::io::stdout().flush();
    }
}
