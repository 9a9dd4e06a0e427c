//! The colours: Okabe and Ito's set ("Color Universal Design", 2008), which people with any common colour vision can
//! tell apart.

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

/// Of the strips that show the windows of the first faults, one by one.
pub(super) const FAULTS: [RGBColor; 4] =
    [RGBColor(0x6e, 0x6e, 0x6e), RGBColor(0xb9, 0xa0, 0x78), RGBColor(0x8c, 0xa4, 0xb8), RGBColor(0x4d, 0x3f, 0x36)];
/// Of the strip that all further faults share.
pub(super) const FURTHER_FAULTS: RGBColor = RGBColor(0xbe, 0xbe, 0xbe);
/// Of the times at which one fault is active, and at which several are: light, so that every line stands out.
pub(super) const SHADES: [RGBColor; 2] = [RGBColor(0xed, 0xed, 0xed), RGBColor(0xdf, 0xdf, 0xdf)];
/// Of the warm-up.
pub(super) const WARMUP: RGBColor = RGBColor(0xe4, 0xee, 0xf6);
/// Of the levels that variants share.
pub(super) const LEVEL: RGBColor = TEXT;

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
