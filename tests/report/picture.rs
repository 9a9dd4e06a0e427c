//! A chart as its pixels.

use std::ops::Range;

/// Red, green, blue.
pub type Color = [u8; 3];

/// The published values of Okabe and Ito's set, in the order in which variants take them.
pub const VARIANTS: [Color; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], [0, 0, 0]];
pub const TEXT: Color = [0x22; 3];
/// Of the lines that zero, or the first value of an axis, lies on.
pub const AXIS: Color = [0x80; 3];
pub const MESH: Color = [0xd2; 3];

pub struct Picture {
    pub width: usize,
    pub height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    pub fn decode(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
        Self { width: info.width as usize, height: info.height as usize, pixels }
    }

    pub fn at(&self, x: usize, y: usize) -> Color {
        let start = (y * self.width + x) * 3;
        self.pixels[start..start + 3].try_into().unwrap()
    }

    pub fn count(&self, color: Color, x: Range<usize>, y: Range<usize>) -> usize {
        y.map(|y| x.clone().filter(|&x| self.at(x, y) == color).count()).sum()
    }

    /// The columns that have this colour anywhere in these rows.
    pub fn columns(&self, color: Color, y: Range<usize>) -> Vec<usize> {
        (0..self.width).filter(|&x| self.count(color, x..x + 1, y.clone()) > 0).collect()
    }
}
