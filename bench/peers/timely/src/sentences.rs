//! Lines of ten words out of ten thousand, the same for every peer: "wordN", drawn evenly by a fixed sequence.

pub const WORDS: u64 = 10;
const VOCABULARY: u64 = 10_000;

pub fn make(count: usize) -> Vec<String> {
    let mut state: u64 = 1;
    let mut word = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        format!("word{}", (state >> 33) % VOCABULARY)
    };
    (0..count).map(|_| (0..WORDS).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
}
