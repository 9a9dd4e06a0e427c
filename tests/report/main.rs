//! Reports of hand-made summaries: the texts to the letter, the charts to what a reader needs of them.

mod charts;
mod files;
mod fixture;
mod tables;
mod text;
