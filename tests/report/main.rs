//! Reports of hand-made summaries: the texts to the letter, the charts to what a reader needs of them.

mod charts;
mod distributions;
mod files;
mod fixture;
mod frontiers;
mod operations;
mod over_time;
mod partial;
mod picture;
mod protection;
mod sweeps;
mod tables;
mod text;
