//! The jobs words, keys and json by timely dataflow, one worker: jobs-timely JOB INPUT OUTPUT. Batches of lines under one timestamp each.

use serde::Deserialize;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::rc::Rc;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::vec::Map;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};

const BATCH: u64 = 4096; // lines

#[derive(Deserialize)]
struct Request {
    ts: f64,
    path: String,
    status: i64,
}

/// The keys that a line has, as they stand in the result.
fn keys(job: &str, line: String) -> Vec<String> {
    if job != "json" {
        return line.split_ascii_whitespace().map(str::to_owned).collect();
    }
    let request: Request = serde_json::from_str(&line).expect("a request");
    if request.status < 500 {
        return vec![];
    }
    let begin = request.ts.floor() as i64 / 10 * 10;
    vec![format!("{}\t{}\t{}", request.path, begin, begin + 10)]
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (job, given, path) = (words[1].clone(), words[2].clone(), words[3].clone());
    timely::execute(timely::Config::thread(), move |worker| {
        let mut input = InputHandle::<u64, CapacityContainerBuilder<Vec<String>>>::new_with_builder();
        let probe = ProbeHandle::new();
        let counts = Rc::new(RefCell::new(HashMap::<String, u64>::new()));
        let (mine, job) = (counts.clone(), job.clone());
        worker.dataflow::<u64, _, _>(|scope| {
            scope
                .input_from(&mut input)
                .flat_map(move |line: String| keys(&job, line))
                .unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(Pipeline, "Count", move |_, _| {
                    move |input, _output| {
                        input.for_each_time(|_, data| {
                            data.for_each(|records| {
                                records.drain(..).for_each(|word| *mine.borrow_mut().entry(word).or_insert(0) += 1)
                            })
                        });
                    }
                })
                .probe_with(&probe);
        });
        let lines = BufReader::with_capacity(1 << 20, std::fs::File::open(&given).expect("the input")).lines();
        for (number, line) in lines.enumerate() {
            input.send(line.expect("text"));
            let sent = number as u64 + 1;
            if sent % BATCH == 0 {
                input.advance_to(sent / BATCH);
                while probe.less_than(input.time()) {
                    worker.step();
                }
            }
        }
        input.close();
        while worker.step() {}
        let mut out = std::io::BufWriter::new(std::fs::File::create(&path).expect("the output"));
        for (word, count) in counts.borrow().iter() {
            writeln!(out, "{word}\t{count}").expect("a disk with room");
        }
    })
    .expect("a worker");
}
