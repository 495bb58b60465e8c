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

/// How often threads of a process have given up their processor.
#[derive(Clone, Copy, Debug)]
pub struct Switches {
    /// To wait for something.
    pub voluntary: u64,
    /// Because somebody else had to run.
    pub involuntary: u64,
}

/// All switches of a process so far; those of threads that have ended are forgotten.
pub fn switches_of(process: u32) -> Switches {
    let mut switches = Switches { voluntary: 0, involuntary: 0 };
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("Linux tells");
    for thread in threads.flatten() {
        // One that has just ended has no file.
        let Ok(status) = std::fs::read_to_string(thread.path().join("status")) else { continue };
        let count = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.trim_start_matches(':').trim().parse::<u64>().ok()).unwrap_or_default()
        };
        switches.voluntary += count("voluntary_ctxt_switches");
        switches.involuntary += count("nonvoluntary_ctxt_switches");
    }
    switches
}
