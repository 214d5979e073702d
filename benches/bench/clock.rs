//! CPU time, which other programs disturb least; medians, which a disturbance moves least.

use std::time::Duration;

/// Of this thread.
pub fn thread_cpu() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Of a process with all its threads, also those that have ended.
pub fn process_cpu(pid: u32) -> Duration {
    let mut clock = 0;
    // SAFETY: writes one clock id to a place that holds one.
    let known = unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) } == 0;
    if known { read(clock) } else { Duration::ZERO }
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec to a place that holds one.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Microseconds of CPU that one of `times` runs takes.
pub fn each_us(times: usize, mut run: impl FnMut()) -> f64 {
    let from = thread_cpu();
    (0..times).for_each(|_| run());
    (thread_cpu() - from).as_secs_f64() * 1e6 / times as f64
}

/// Medians of what several subjects cost, measured in turns, so that a slow moment hits all of them.
pub fn in_turns<S>(rounds: usize, subjects: &mut [S], mut cost: impl FnMut(&mut S) -> f64) -> Vec<f64> {
    let mut all = vec![vec![]; subjects.len()];
    for _ in 0..rounds {
        subjects.iter_mut().zip(&mut all).for_each(|(subject, costs)| costs.push(cost(subject)));
    }
    all.into_iter().map(median).collect()
}
