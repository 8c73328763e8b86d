//! Timely dataflow: const-null, const-id-null, word-count. A worker feeds its own input and steps itself until the
//! probe says that the timestamps are done; bench/peers/README.md says what that guarantees and what it does not.

mod feed;
mod gate;
mod latencies;
mod options;
mod sentences;

use feed::{Feed, Handle};
use gate::Gate;
use options::{end, Options};
use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::Arc;
use std::time::{Duration, Instant};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::{Exchange, ParallelizationContract, Pipeline};
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::vec::Map;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{ProbeHandle, StreamVec};
use timely::worker::Worker;

const RESUME: f64 = 0.3; // seconds: what a flow that is warm needs to be at its speed again

/// A number, by which workers share records out, and nine bytes of text.
type Record = (u64, [u8; 16]);

/// An operator that takes records and sends nothing on.
fn take<'s, D: 'static, P, L>(stream: StreamVec<'s, u64, D>, pact: P, probe: &ProbeHandle<u64>, mut each: L)
where
    P: ParallelizationContract<u64, Vec<D>>,
    L: FnMut(D) + 'static,
{
    stream
        .unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(pact, "Take", move |_, _| {
            move |input, _output| {
                input.for_each_time(|_, data| data.for_each(|records| records.drain(..).for_each(&mut each)));
            }
        })
        .probe_with(probe);
}

fn constants(worker: &mut Worker, options: &Options, gate: &Gate) {
    let (mut input, probe) = (Handle::<Record>::new_with_builder(), ProbeHandle::new());
    let with_id = options.flow == "const-id-null";
    worker.dataflow::<u64, _, _>(|scope| {
        let mut stream = scope.input_from(&mut input);
        if with_id {
            stream = stream.map(|record| std::hint::black_box(record));
        }
        let each = |record: Record| {
            std::hint::black_box(record);
        };
        if options.executors == 1 {
            take(stream, Pipeline, &probe, each);
        } else {
            take(stream, Exchange::new(|record: &Record| record.0), &probe, each);
        }
    });
    Feed::new(options, gate, input, probe, |number| (number, *b"some data\0\0\0\0\0\0\0")).run(worker);
}

fn hash(word: &String) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

fn words(worker: &mut Worker, options: &Options, gate: &Gate) {
    let (mut input, probe) = (Handle::<String>::new_with_builder(), ProbeHandle::new());
    worker.dataflow::<u64, _, _>(|scope| {
        let stream = scope
            .input_from(&mut input)
            .flat_map(|line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let mut counts: HashMap<String, u64> = HashMap::new();
        let each = move |word| *counts.entry(word).or_insert(0) += 1;
        if options.executors == 1 {
            take(stream, Pipeline, &probe, each);
        } else {
            take(stream, Exchange::new(hash), &probe, each);
        }
    });
    let lines = sentences::make(1 << 14);
    Feed::new(options, gate, input, probe, |number| lines[number as usize % lines.len()].clone()).run(worker);
}

fn peak_resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("0");
    line.chars().filter(char::is_ascii_digit).collect::<String>().parse::<u64>().unwrap_or(0) * 1024
}

fn trial(options: &Options, gate: &Gate, first: Duration, warm: f64) {
    gate.let_go();
    std::thread::sleep(Duration::from_secs_f64(warm));
    let (from, before) = (Instant::now(), gate.total());
    gate.recording.store(true, SeqCst);
    std::thread::sleep(Duration::from_secs_f64(options.seconds));
    gate.recording.store(false, SeqCst);
    let (trees, seconds) = (gate.total() - before, from.elapsed().as_secs_f64());
    gate.hold();
    let words = if options.words() { trees * sentences::WORDS } else { 0 };
    let told = if options.words() { format!("\"words\":{words},") } else { String::new() };
    let latencies = std::mem::replace(&mut *gate.latencies.lock().unwrap(), latencies::Latencies::new());
    println!(
        "{{\"program\":\"timely\",\"flow\":\"{}\",\"acks\":{},\"executors\":{},\"trees\":{trees},{told}\
         \"seconds\":{seconds:.6},\"ns\":{:.3},\"p50_us\":{},\"p99_us\":{},\"p999_us\":{},\"rss\":{},\
         \"first_ms\":{:.3},\"settings\":\"{}\"}}",
        options.flow,
        options.acks,
        options.executors,
        seconds * 1e9 / trees.max(words) as f64,
        latencies.quantile(0.5),
        latencies.quantile(0.99),
        latencies.quantile(0.999),
        peak_resident(),
        first.as_secs_f64() * 1e3,
        options.settings()
    );
    let _ = std::io::stdout().flush();
}

/// The first record at once, so that its time does not depend on when the first trial is asked for.
fn trials(options: &Options, gate: &Gate, start: Instant) {
    gate.let_go();
    while gate.total() == 0 {
        std::thread::sleep(Duration::from_micros(100));
    }
    let first = start.elapsed();
    gate.hold();
    for (number, line) in std::io::stdin().lines().take(options.trials).enumerate() {
        if line.is_err() {
            break;
        }
        trial(options, gate, first, if number == 0 { options.warm } else { options.warm.min(RESUME) });
    }
    gate.stop.store(true, SeqCst);
}

fn main() {
    let start = Instant::now();
    let options = Options::parse();
    let gate = Arc::new(Gate::new(options.executors));
    let config = match options.executors {
        1 => timely::Config::thread(),
        many => timely::Config::process(many),
    };
    let (his_gate, his_options) = (gate.clone(), options.clone());
    let started = timely::execute(config, move |worker| match his_options.words() {
        true => words(worker, &his_options, &his_gate),
        false => constants(worker, &his_options, &his_gate),
    });
    match started {
        Ok(guards) => {
            trials(&options, &gate, start);
            drop(guards);
        }
        Err(why) => end(1, &format!("timely: {why}")),
    }
}
