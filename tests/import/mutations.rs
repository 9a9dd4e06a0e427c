//! Files that somebody, or something, has damaged: an importer says what is wrong, or makes a scenario of it that can
//! be run, and nothing else happens.

use std::path::Path;

use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use stormsim::import::{self, Format};
use stormsim::{Overrides, Scenario};

use crate::{sample, samples};

/// How many damaged files there are.
const FILES: u64 = 100_000;

/// Numbers that are much, little, or none.
const NUMBERS: [&str; 20] = [
    "0",
    "-1",
    "1",
    "2",
    "1e400",
    "-1e400",
    "1e-320",
    "99999999999999999999",
    "18446744073709551616",
    "2147483648",
    "4294967295",
    "9223372036854775807",
    "0.0000001",
    "0.1234567891234",
    "1e15",
    "NaN",
    "Infinity",
    "-0",
    "0x10",
    "1_0",
];

/// Texts that mean something to one of the syntaxes.
const PIECES: [&str; 24] = [
    "{", "}", "[", "]", ":", ",", "\"", "'", "&a ", "*a", "<<: *a", "- ", "---\n", "#", "=", "${X:5}", "${X}",
    "{{ x }}", "null", "true", "\u{0}", "\u{feff}", "ü", "\t",
];

/// Texts of any length within texts.
fn pieces(text: &str) -> Vec<&str> {
    text.split(|letter: char| !letter.is_alphanumeric() && !"._-/".contains(letter))
        .filter(|it| !it.is_empty())
        .collect()
}

/// Damages a text in one way.
fn damaged(text: &str, others: &[(String, String)], rng: &mut ChaCha8Rng) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let line = rng.random_range(0..lines.len().max(1));
    let words = pieces(text);
    let word = words.choose(rng).copied().unwrap_or("x");
    match rng.random_range(0..10) {
        0 => flipped(text, rng),
        1 if !lines.is_empty() => {
            lines.remove(line);
            lines.concat()
        }
        2 if !lines.is_empty() => {
            lines.insert(line, lines[line]);
            lines.concat()
        }
        3 if !lines.is_empty() => {
            let other = rng.random_range(0..lines.len());
            lines.swap(line, other);
            lines.concat()
        }
        4 => {
            let other = words.choose(rng).copied().unwrap_or("y");
            text.replacen(word, "\u{1}", 1).replacen(other, word, 1).replacen('\u{1}', other, 1)
        }
        5 | 6 => with_number(text, rng),
        7 => {
            let (_, other) = others.choose(rng).expect("there are samples");
            let put = pieces(other).choose(rng).copied().unwrap_or("z").to_owned();
            text.replacen(word, &put, 1)
        }
        8 => inserted(text, PIECES.choose(rng).expect("there are some"), rng),
        _ => {
            let depth = *[3, 30, 300].choose(rng).expect("there are some");
            let nest = ["[", "{\"a\":", "{a: ", "- ", "a:\n "].choose(rng).expect("there are some");
            inserted(text, &nest.repeat(depth), rng)
        }
    }
}

fn flipped(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if !bytes.is_empty() {
        let at = rng.random_range(0..bytes.len());
        bytes[at] ^= 1 << rng.random_range(0..7);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn inserted(text: &str, piece: &str, rng: &mut ChaCha8Rng) -> String {
    let wanted = rng.random_range(0..=text.len());
    let at = (0..=wanted).rev().find(|&at| text.is_char_boundary(at)).expect("the beginning is one");
    format!("{}{piece}{}", &text[..at], &text[at..])
}

/// Another number in the place of one.
fn with_number(text: &str, rng: &mut ChaCha8Rng) -> String {
    let bytes = text.as_bytes();
    let is_number = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let starts: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit() && (at == 0 || !is_number(bytes[at - 1]))).collect();
    let Some(&start) = starts.choose(rng) else { return text.to_owned() };
    let end = bytes[start..].iter().position(|byte| !is_number(*byte)).map_or(bytes.len(), |length| start + length);
    format!("{}{}{}", &text[..start], NUMBERS.choose(rng).expect("there are some"), &text[end..])
}

/// What comes of a damaged file: whether it was imported. Whatever is, can be run.
fn outcome(format: Format, text: &str) -> bool {
    match import::import(format, "damaged", text) {
        Ok(imported) => {
            imported.messages();
            let scenario = imported.scenario();
            let parsed = Scenario::parse("it", &scenario, Path::new("."), &Overrides::default());
            assert!(parsed.is_ok(), "{parsed:?}\nof {scenario}\nof {text}");
            true
        }
        Err(errors) => {
            for error in errors.iter() {
                assert!(
                    !error.message().is_empty() && error.place().is_none_or(|place| place.end <= text.len()),
                    "{text}"
                );
            }
            assert!(errors.iter().len() > 0, "it says nothing of {text}");
            false
        }
    }
}

#[test]
fn damaged_files_are_refused_or_make_scenarios_that_can_be_run() {
    let names = std::fs::read_dir(samples()).expect("it is there");
    let mut names: Vec<String> =
        names.map(|entry| entry.expect("it can be read").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    let all: Vec<(String, String)> = names.into_iter().map(|name| (name.clone(), sample(&name))).collect();
    let own: Vec<Option<Format>> = all.iter().map(|(_, text)| import::guess(text)).collect();
    let imported = (0..FILES)
        .into_par_iter()
        .filter(|&number| {
            let mut rng = ChaCha8Rng::seed_from_u64(number);
            let at = rng.random_range(0..all.len());
            let mut text = all[at].1.clone();
            for _ in 0..rng.random_range(1..4) {
                text = damaged(&text, &all, &mut rng);
            }
            // Most of them go to the importer that they are for.
            let any = *Format::ALL.choose(&mut rng).expect("there are formats");
            let format = own[at].filter(|_| rng.random_bool(0.8)).unwrap_or(any);
            if number.is_multiple_of(10) {
                import::guess(&text);
            }
            outcome(format, &text)
        })
        .count();
    // Damage that no file survives would test little, and so would damage that all survive.
    assert!((FILES as usize / 20..FILES as usize * 3 / 4).contains(&imported), "{imported} were imported");
}

/// What the mutations above are made of, each in a file of its own.
#[test]
fn numbers_and_pieces_alone_do_no_harm() {
    for text in NUMBERS
        .iter()
        .chain(&PIECES)
        .map(|piece| (*piece).to_owned())
        .chain(["[".repeat(50_000), "{\"a\":".repeat(50_000)])
    {
        import::guess(&text);
        for format in Format::ALL {
            assert!(!outcome(format, &text), "{format} of {text:?}");
        }
    }
}
