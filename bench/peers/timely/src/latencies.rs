//! A histogram of nanoseconds: 32 steps to each power of two, so a figure is at most 3 % too high.

const STEPS: u32 = 5;

#[derive(Clone)]
pub struct Latencies {
    counts: Vec<u64>,
    total: u64,
}

impl Latencies {
    pub fn new() -> Latencies {
        Latencies { counts: vec![0; ((64 - STEPS) << STEPS) as usize], total: 0 }
    }

    pub fn add(&mut self, ns: u64) {
        let shift = (63 - (ns | 1).leading_zeros()).saturating_sub(STEPS);
        self.counts[((shift << STEPS) as u64 + (ns >> shift)) as usize] += 1;
        self.total += 1;
    }

    pub fn merge(&mut self, other: &Latencies) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        self.total += other.total;
    }

    fn top(place: u64) -> u64 {
        let shift = (place >> STEPS).saturating_sub(1);
        ((place - (shift << STEPS) + 1) << shift) - 1
    }

    /// Microseconds that a part of all did not exceed, as JSON.
    pub fn quantile(&self, part: f64) -> String {
        let wanted = (part * self.total as f64).ceil() as u64;
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += count;
            if wanted > 0 && seen >= wanted {
                return format!("{:.3}", Self::top(place as u64) as f64 / 1e3);
            }
        }
        "null".to_owned()
    }
}
