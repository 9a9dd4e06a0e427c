//! The charts, read back pixel by pixel.

use std::ops::Range;

use stormsim::experiment::Summary;
use stormsim::report::chart;

use crate::fixture;

type Color = [u8; 3];

/// The published values of Okabe and Ito's set, in the order in which variants take them.
const VARIANTS: [Color; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], [0, 0, 0]];
const TEXT: Color = [0x22; 3];
const OUTAGE: Color = [0xed; 3];
/// The columns of the panels of the timeline.
const PLOT: Range<usize> = 100..1176;

struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn decode(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
        Self { width: info.width as usize, height: info.height as usize, pixels }
    }

    fn at(&self, x: usize, y: usize) -> Color {
        let start = (y * self.width + x) * 3;
        self.pixels[start..start + 3].try_into().unwrap()
    }

    fn count(&self, color: Color, x: Range<usize>, y: Range<usize>) -> usize {
        y.map(|y| x.clone().filter(|&x| self.at(x, y) == color).count()).sum()
    }

    /// The rows of the two panels. In the last column of the plot there are only the lines of the mesh and, at the foot of
    /// each panel, its axis: the upper panel begins with the first of them, the lower one with the first below an axis.
    fn panels(&self) -> [Range<usize>; 2] {
        let ruled = |y: &usize| [[0x80; 3], [0xd2; 3]].contains(&self.at(PLOT.end - 1, *y));
        let rows: Vec<_> = (0..self.height).filter(ruled).collect();
        let axes: Vec<_> = rows.iter().copied().filter(|&y| self.at(PLOT.end - 1, y) == [0x80; 3]).collect();
        let [upper, lower] = axes[..] else { panic!("two axes, at rows {axes:?}") };
        let second = *rows.iter().find(|&&y| y > upper).unwrap();
        [rows[0]..upper, second..lower]
    }
}

fn timeline(summary: &Summary) -> Picture {
    Picture::decode(&chart::timeline(summary))
}

fn amplification(summary: &Summary) -> Picture {
    Picture::decode(&chart::amplification(summary))
}

fn every_summary() -> [Summary; 6] {
    [
        fixture::single(),
        fixture::three_tier(),
        fixture::backoff(),
        fixture::outage(),
        fixture::nothing(),
        fixture::many_services(100),
    ]
}

/// Drawn in another thread, too: nothing depends on who registered or measured what before.
#[test]
fn equal_summaries_give_equal_bytes() {
    for summary in every_summary() {
        let here = (chart::timeline(&summary), chart::amplification(&summary));
        let there = std::thread::spawn(move || (chart::timeline(&summary), chart::amplification(&summary)));
        assert!(here == there.join().unwrap());
    }
}

#[test]
fn charts_have_their_size() {
    for summary in every_summary() {
        let picture = timeline(&summary);
        assert_eq!((picture.width, picture.height), (1_200, 700));
        let picture = amplification(&summary);
        assert_eq!(picture.width, 1_200);
        assert!((200..=1_100).contains(&picture.height), "{}", picture.height);
    }
}

/// A line is two pixels thick, so a variant that is active for a tenth of the plot's 1,076 columns shows more than 200 of
/// its colour. The colours of further variants are nowhere.
#[test]
fn every_variant_is_seen_in_both_panels_and_no_other() {
    for (summary, variants) in [(fixture::single(), 1), (fixture::backoff(), 5), (fixture::outage(), 6)] {
        let picture = timeline(&summary);
        for (i, color) in VARIANTS.into_iter().enumerate() {
            for (panel, rows) in picture.panels().into_iter().enumerate() {
                let pixels = picture.count(color, PLOT, rows);
                // The first variant of the outage makes no retries.
                let silent = i >= variants || (variants == 6 && (i, panel) == (0, 1));
                assert_eq!(pixels == 0, silent, "{variants} variants, number {i}, panel {panel}: {pixels}");
                assert!(silent || pixels > 200, "{variants} variants, number {i}, panel {panel}: {pixels}");
            }
        }
    }
}

/// Two ways in which a legend could cover data: its text in the plot, or lines in its strip. Text inside the panels would
/// show its colour there. Above the panels each colour covers its swatch of 26 x 6 pixels and not a pixel more.
#[test]
fn the_legend_and_the_data_keep_apart() {
    for (summary, variants) in
        [(fixture::single(), 1), (fixture::three_tier(), 3), (fixture::backoff(), 5), (fixture::outage(), 6)]
    {
        let picture = timeline(&summary);
        let [upper, lower] = picture.panels();
        // The pixels just above a panel belong to a line that runs along its upper edge.
        let above = upper.start - 2;
        for rows in [upper, lower] {
            assert_eq!(picture.count(TEXT, PLOT, rows), 0);
        }
        for color in &VARIANTS[..variants] {
            assert_eq!(picture.count(*color, 0..1_200, 0..above), 26 * 6);
        }
    }
}

/// 70 s and one bucket over 1,076 columns: 20 to 30 s are columns 407 to 560. Both panels are shaded there only.
#[test]
fn fault_windows_are_shaded() {
    let picture = timeline(&fixture::outage());
    for rows in picture.panels() {
        let shaded = |x: usize| picture.count(OUTAGE, x..x + 1, rows.clone()) > rows.len() / 2;
        assert_eq!([200, 405, 409, 480, 558, 563, 700].map(shaded), [false, false, true, true, true, false, false]);
    }
}

/// The waits of the first two variants end at the same instants, 1 s and 3 s. Both are seen there: were one on top, the other
/// would have no pixel in those columns. At 2 s only the first has a peak, at 7 s only the second.
#[test]
fn lines_that_coincide_are_both_seen() {
    let picture = timeline(&fixture::backoff());
    let [_, retries] = picture.panels();
    let seen = |bucket: usize| {
        let x = PLOT.start + bucket * PLOT.len() / 663;
        [0, 1].map(|i| picture.count(VARIANTS[i], x - 1..x + 4, retries.start..retries.start + 100) > 50)
    };
    assert_eq!([10, 20, 30, 70].map(seen), [[true, true], [true, false], [true, true], [false, true]]);
}

/// The bars of the first variant in three-tier stand for 3, 9 and 27: each is three times as long as the one before, to
/// the pixel that rounding may take.
#[test]
fn bars_are_as_long_as_their_values() {
    let picture = amplification(&fixture::three_tier());
    // The swatch of the legend is of the same colour, but only 26 pixels wide.
    let mut lengths: Vec<_> = (0..picture.height).map(|y| picture.count(VARIANTS[0], 0..1_200, y..y + 1)).collect();
    lengths.retain(|length| *length > 26);
    lengths.dedup();
    let [gateway, orders, db] = lengths[..] else { panic!("three bars: {lengths:?}") };
    assert!(db > 900 && (3 * orders).abs_diff(db) <= 2 && (9 * gateway).abs_diff(db) <= 5, "{lengths:?}");
}

/// From 1 to 1,024 the axis is logarithmic: 512 is nine tenths of the longest bar, not half of it.
#[test]
fn a_wide_range_is_drawn_logarithmically() {
    let picture = amplification(&fixture::many_services(10));
    let lengths: Vec<_> = (100..picture.height).map(|y| picture.count(VARIANTS[0], 0..1_200, y..y + 1)).collect();
    let longest = *lengths.iter().max().unwrap();
    let second = *lengths.iter().filter(|length| **length < longest).max().unwrap();
    assert!((10 * second).abs_diff(9 * longest) <= 10, "{second} of {longest}");
}
