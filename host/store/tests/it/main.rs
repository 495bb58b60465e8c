//! One suite for both engines: what one does, the other does. PostgreSQL is a real one that the tests start; where it is
//! not installed they say so, unless the environment demands it. What asks for nothing but the ports is asked of the fakes
//! in memory as well (`support::Place`), so that a test over a fake shows what the store would do.

mod audit;
mod backup;
mod books;
mod chains;
mod check;
mod crash;
mod desk;
mod evidence;
mod faults;
mod feed;
mod fleet;
mod installation;
mod ledger;
mod mail;
mod opening;
mod packing;
mod power_loss;
mod records;
mod reseal;
mod segments;
mod several;
mod support;
mod thinning;
mod tls;
mod user_data;
