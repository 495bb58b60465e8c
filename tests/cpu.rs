//! What a process has used of the machine: Linux tells it of any process.

use std::time::Duration;

/// User and system time of a process so far, all threads.
pub fn time_of(process: u32) -> Duration {
    // Linux counts in ticks of 1/100 s (USER_HZ), the same on every configuration of the kernel.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("Linux tells");
    let after_name = stat.rsplit_once(')').expect("the name is in brackets").1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u32 = [11, 12].iter().map(|&field| fields[field].parse::<u32>().expect("a number")).sum();
    TICK * ticks
}
