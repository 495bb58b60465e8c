//! One suite for both engines: what one does, the other does. PostgreSQL is a real one that the tests start; where it is
//! not installed they say so, unless the environment demands it.

mod audit;
mod backup;
mod books;
mod crash;
mod desk;
mod evidence;
mod ledger;
mod mail;
mod opening;
mod power_loss;
mod records;
mod several;
mod support;
mod tls;
