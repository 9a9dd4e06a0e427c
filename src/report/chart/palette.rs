//! The colours: Okabe and Ito's set ("Color Universal Design", 2008), which people with any common colour vision can tell apart.

use plotters::style::RGBColor;

/// Of the variants, in order. The set's yellow is left out: it cannot be read on white.
pub(super) const VARIANTS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x00, 0x00, 0x00),
];

/// Of fault windows: light, so that every line stands out from them. Further faults share them.
pub(super) const FAULTS: [RGBColor; 3] =
    [RGBColor(0xed, 0xed, 0xed), RGBColor(0xfa, 0xec, 0xd9), RGBColor(0xe3, 0xef, 0xf9)];

/// Of the ground.
pub(super) const GROUND: RGBColor = RGBColor(0xff, 0xff, 0xff);
/// Of text that must be read.
pub(super) const TEXT: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Of text beside it.
pub(super) const QUIET: RGBColor = RGBColor(0x5f, 0x5f, 0x5f);
/// Of the lines that zero lies on.
pub(super) const AXIS: RGBColor = RGBColor(0x80, 0x80, 0x80);
/// Of the lines that lead from a tick through the plot.
pub(super) const MESH: RGBColor = RGBColor(0xd2, 0xd2, 0xd2);
