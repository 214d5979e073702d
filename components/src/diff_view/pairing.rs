//! Which line became which, where lines were replaced by others.
//!
//! Invariants: pairs rise on both sides; a line is in one pair at most; comparing each with each is bounded by
//! [`MAX_CELLS`], beyond which lines that their indentation alone tells apart say where the others belong.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use unicode_segmentation::UnicodeSegmentation;

/// A line of the old side and one of the new side, counted from the first ones of what is replaced.
pub(super) type Pair = (u32, u32);

/// Up to so many combinations each line is compared with each.
const MAX_CELLS: usize = 1_024;
/// Words of a line beyond these are not compared.
const MAX_WORDS: usize = 200;

/// The pairs among lines that replace each other.
pub(super) fn pairs(old: &[&str], new: &[&str]) -> Vec<Pair> {
    let mut out = Vec::new();
    let mut at = (0, 0);
    for (o, n) in if old.len() * new.len() > MAX_CELLS { moved(old, new) } else { vec![] } {
        between(&old[at.0..o], &new[at.1..n], at, &mut out);
        out.push(pair(o, n));
        at = (o + 1, n + 1);
    }
    between(&old[at.0..], &new[at.1..], at, &mut out);
    out
}

fn pair(old: usize, new: usize) -> Pair {
    (old as u32, new as u32)
}

/// Lines that only their indentation tells apart, whatever there are: they say where the rest belongs.
fn moved(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut ids: HashMap<&str, u32> = HashMap::new();
    let mut numbers = Vec::with_capacity(old.len() + new.len());
    for line in old.iter().chain(new) {
        let next = ids.len() as u32;
        numbers.push(*ids.entry(line.trim()).or_insert(next));
    }
    let (of_old, of_new) = numbers.split_at(old.len());
    let known = of_old.iter().max().map_or(0, |most| most + 1);
    if of_new.iter().all(|number| *number >= known) {
        return vec![];
    }
    let ops = capture_diff_slices(Algorithm::Myers, of_old, of_new);
    let same = |op: &DiffOp| matches!(op, DiffOp::Equal { .. });
    ops.iter().filter(|op| same(op)).flat_map(|op| op.old_range().zip(op.new_range())).collect()
}

/// Adds the pairs of lines that begin at `at`. Where there are too many to compare each with each, they are taken as they come.
fn between(old: &[&str], new: &[&str], at: (usize, usize), out: &mut Vec<Pair>) {
    let mut from = (0, 0);
    let mut as_they_come = |to: (usize, usize), out: &mut Vec<Pair>| {
        let (o, n) = (to.0 - from.0, to.1 - from.1);
        // As many on both sides replace each other one by one, however little they have in common.
        if o == n || old.len() * new.len() > MAX_CELLS {
            out.extend((0..o.min(n)).map(|i| pair(at.0 + from.0 + i, at.1 + from.1 + i)));
        }
        from = (to.0 + 1, to.1 + 1);
    };
    if (old.len(), new.len()) != (1, 1) && old.len() * new.len() <= MAX_CELLS {
        for (o, n) in alike(old, new) {
            as_they_come((o, n), out);
            out.push(pair(at.0 + o, at.1 + n));
        }
    }
    as_they_come((old.len(), new.len()), out);
}

/// The pairs that have the most in common altogether, in the order of the lines.
fn alike(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let (old, new): (Vec<_>, Vec<_>) = (old.iter().map(|l| words(l)).collect(), new.iter().map(|l| words(l)).collect());
    let columns = new.len() + 1;
    // What the lines from here on have in common at most.
    let mut best = vec![0_u32; (old.len() + 1) * columns];
    let mut gain = vec![0_u32; old.len() * new.len()];
    for o in (0..old.len()).rev() {
        for n in (0..new.len()).rev() {
            let here = common(&old[o], &new[n]);
            gain[o * new.len() + n] = here;
            let together = if here > 0 { best[(o + 1) * columns + n + 1] + here } else { 0 };
            best[o * columns + n] = together.max(best[(o + 1) * columns + n]).max(best[o * columns + n + 1]);
        }
    }
    let (mut out, mut o, mut n) = (Vec::new(), 0, 0);
    while o < old.len() && n < new.len() {
        let here = gain[o * new.len() + n];
        let all = best[o * columns + n];
        if here > 0 && all == best[(o + 1) * columns + n + 1] + here {
            out.push((o, n));
            (o, n) = (o + 1, n + 1);
        } else if all == best[(o + 1) * columns + n] {
            o += 1;
        } else {
            n += 1;
        }
    }
    out
}

/// A line's words without blanks, sorted.
fn words(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = line.split_word_bounds().filter(|word| !word.trim().is_empty()).take(MAX_WORDS).collect();
    words.sort_unstable();
    words
}

/// Bytes of the words that both lines have; 0 if that is less than half of the shorter one: then none became the other.
fn common(a: &[&str], b: &[&str]) -> u32 {
    let ink = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let (mut i, mut j, mut both) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                both += x.len();
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    if 2 * both >= ink(a).min(ink(b)) { both as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(old: &str, new: &str) -> Vec<Pair> {
        pairs(&old.lines().collect::<Vec<_>>(), &new.lines().collect::<Vec<_>>())
    }

    #[test]
    fn lines_that_moved_to_another_indentation_are_paired() {
        let old = "    let a = 1;\n    call(a);\n    done(a);\n";
        let new = "    if ready {\n        let a = 1;\n        call(a);\n        done(a);\n    }\n";
        assert_eq!(of(old, new), [(0, 1), (1, 2), (2, 3)]);
        // As many as nobody compares each with each.
        let many: String = (0..500).map(|n| format!("line{n} = {n}\n")).collect();
        let moved = format!("if x {{\n{}}}\n", many.lines().map(|line| format!("    {line}\n")).collect::<String>());
        assert_eq!(of(&many, &moved), (0..500).map(|n| (n, n + 1)).collect::<Vec<_>>());
    }

    #[test]
    fn where_there_are_too_many_lines_are_taken_as_they_come() {
        let old: String = (0..500).map(|n| format!("call({n})\n")).collect();
        assert_eq!(of(&old, &old.replace("call", "other")), (0..500).map(|n| (n, n)).collect::<Vec<_>>());
    }

    #[test]
    fn a_changed_line_is_found_among_added_ones() {
        let new = "//! Says hello.\nfn greet(name: &str, loud: bool) -> String {\n";
        assert_eq!(of("fn greet(name: &str) -> String {\n", new), [(0, 1)]);
        assert_eq!(of("total = price * amount\n", "price = read()\ntotal = price * amount * tax\n"), [(0, 1)]);
        assert_eq!(of("nothing of it\n", "is here\nor there\n"), []);
        assert_eq!(of("nothing of it\n", "is here\n"), [(0, 0)], "whose words are marked is another question");
    }

    proptest! {
        #[test]
        fn pairs_rise_on_both_sides(old in "([ab ]{0,3}\n){0,70}", new in "([ab ]{0,3}\n){0,70}") {
            let (o, n) = (old.lines().count() as u32, new.lines().count() as u32);
            let pairs = of(&old, &new);
            prop_assert!(pairs.windows(2).all(|p| p[0].0 < p[1].0 && p[0].1 < p[1].1), "{pairs:?}");
            prop_assert!(pairs.iter().all(|p| p.0 < o && p.1 < n));
        }
    }
}
