//! Frames by index: freed places are used again, the last one freed first.

use std::ops::{Index, IndexMut};

/// A growing table of frames.
#[derive(Debug)]
pub struct Slab<T> {
    frames: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// The most frames a slab may hold: what the index of a packed event can name.
    pub const LIMIT: usize = 1 << 28;

    /// An empty table.
    pub const fn new() -> Self {
        Self { frames: Vec::new(), free: Vec::new() }
    }

    /// Puts a frame into a free place.
    #[inline]
    pub fn insert(&mut self, frame: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.frames[index as usize] = frame;
                index
            }
            None => {
                self.frames.push(frame);
                (self.frames.len() - 1) as u32
            }
        }
    }

    /// Gives a frame's place back. The frame stays readable until the place is used again.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// How many places there are, free or not.
    #[inline]
    pub fn places(&self) -> usize {
        self.frames.len()
    }

    /// How many places are in use.
    pub fn in_use(&self) -> usize {
        self.frames.len() - self.free.len()
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.frames[index as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.frames[index as usize]
    }
}
