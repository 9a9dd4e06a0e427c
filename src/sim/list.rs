//! Lists threaded through frames: a queue from whose middle anything can be taken, without allocating.

use crate::sim::frames::NONE;

/// The neighbours of an element.
#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
}

/// The links of all elements of one kind, by index. An element is in at most one list at a time.
#[derive(Debug, Default)]
pub struct Links(Vec<Link>);

/// A list: its ends, and how many elements it has.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u32,
    last: u32,
    len: u32,
}

impl List {
    /// Without elements.
    pub const EMPTY: Self = Self { first: NONE, last: NONE, len: 0 };

    /// How many elements it has.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its first element.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// Its last element.
    #[inline]
    pub fn last(&self) -> Option<u32> {
        (self.last != NONE).then_some(self.last)
    }
}

impl Links {
    /// The element after this one in its list.
    pub fn next(&self, index: u32) -> Option<u32> {
        let Link { next, .. } = self.0[index as usize];
        (next != NONE).then_some(next)
    }

    /// Puts an element that is in no list at the end of one.
    pub fn push(&mut self, list: &mut List, index: u32) {
        if self.0.len() <= index as usize {
            self.0.resize(index as usize + 1, Link { previous: NONE, next: NONE });
        }
        self.0[index as usize] = Link { previous: list.last, next: NONE };
        match self.0.get_mut(list.last as usize) {
            Some(last) => last.next = index,
            None => list.first = index,
        }
        list.last = index;
        list.len += 1;
    }

    /// Takes an element out of the list that it is in.
    pub fn remove(&mut self, list: &mut List, index: u32) {
        let Link { previous, next } = self.0[index as usize];
        match self.0.get_mut(previous as usize) {
            Some(link) => link.next = next,
            None => list.first = next,
        }
        match self.0.get_mut(next as usize) {
            Some(link) => link.previous = previous,
            None => list.last = previous,
        }
        list.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    fn elements(links: &Links, list: &List) -> Vec<u32> {
        std::iter::successors(list.first(), |&index| links.next(index)).collect()
    }

    /// Against a double-ended queue, with a fixed walk that takes elements from both ends and from the middle.
    #[test]
    fn it_is_a_queue_from_whose_middle_anything_can_be_taken() {
        let (mut links, mut list, mut model) = (Links::default(), List::EMPTY, VecDeque::new());
        let mut free: Vec<u32> = (0..50).rev().collect();
        for step in 0..2_000_usize {
            if step % 7 < 4 && !free.is_empty() {
                let index = free.remove(step * 31 % free.len());
                links.push(&mut list, index);
                model.push_back(index);
            } else if !model.is_empty() {
                let at = [0, model.len() - 1, step * 17 % model.len()][step % 3];
                let index = model.remove(at).unwrap();
                links.remove(&mut list, index);
                free.push(index);
            }
            assert_eq!(elements(&links, &list), Vec::from(model.clone()), "step {step}");
            assert_eq!((list.first(), list.last()), (model.front().copied(), model.back().copied()));
            assert_eq!((list.len(), list.is_empty()), (model.len() as u32, model.is_empty()));
        }
    }
}
