//! Measures what the retry libraries for Rust do, and writes a JSON object per line for the judge.

mod backon;
mod measuring;
mod reqwest_retry;
mod retry_policies;
mod tokio_retry;
mod tower;

use std::error::Error;

use measuring::Server;
use tokio::runtime::Builder;

/// Measures, one library after another.
///
/// Where no server is needed time is tokio's paused clock, which jumps from timer to timer: waits are exact then.
fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::from_arguments()?;
    let virtual_time = Builder::new_current_thread().enable_time().start_paused(true).build()?;
    virtual_time.block_on(async {
        backon::measure().await;
        tower::measure();
        tokio_retry::measure().await;
    });
    retry_policies::measure()?;
    let real_time = Builder::new_current_thread().enable_all().build()?;
    real_time.block_on(reqwest_retry::measure(server))
}
