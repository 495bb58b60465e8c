//! An example partner: a business that repairs car ACs, as an MCP server for `auto.book_ac_service`.
//!
//! A template for partners who write their own server (onboarding path C) and the business that
//! tests and the demo talk to. It keeps everything in memory, takes no money and calls nobody.

mod catalogue;
mod descriptors;
mod desk;
mod http;
mod quote;
mod refusal;
mod request;
mod server;

use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use anyhow::Context;
use clap::Parser;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::{
    catalogue::Catalogue,
    desk::Desk,
    http::{Mode, Sessions, Token},
    server::PartnerServer,
};

/// The longest artificial delay, in milliseconds: twice what the platform waits for a tool call.
const MAX_DELAY_MS: u64 = 60_000;

/// What is logged unless `RUST_LOG` says otherwise. rmcp warns of every refusal, which is not news here.
const DEFAULT_LOG: &str = "warn,rmcp=error";

/// Serves one business to the platform.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// A built-in business (oem, garage, doorstep, specialist, neighbourhood, dishonest) or a file.
    #[arg(long, default_value = "oem")]
    catalogue: String,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 8101)]
    port: u16,
    /// Address to listen on.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Wait this long before each tool call is answered.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MAX_DELAY_MS))]
    delay_ms: u64,
    /// Answer in plain JSON instead of an event stream.
    #[arg(long, visible_alias = "json")]
    json_response: bool,
    /// Keep a session per client (`Mcp-Session-Id`).
    #[arg(long, conflicts_with = "json_response")]
    sessions: bool,
    /// Demand this bearer token on tool calls.
    #[arg(long, env = "PARTNER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The platform's completion URL for this partner, in place of the catalogue's.
    #[arg(long)]
    completion_callback: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOG));
    // Standard output carries the ready line alone.
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();

    let mut catalogue = Catalogue::load(&options.catalogue)?;
    if let Some(url) = options.completion_callback {
        catalogue.platform.completion_callback = url;
    }
    let tools = descriptors::tools(&catalogue.platform).context("the tool descriptors")?;
    let delay = Duration::from_millis(options.delay_ms);
    let server = PartnerServer::new(Desk::new(catalogue), tools, delay);

    let listener = TcpListener::bind((options.host, options.port))
        .await
        .with_context(|| format!("cannot listen on {}:{}", options.host, options.port))?;
    let address = listener.local_addr()?;
    let mode = Mode { json_response: options.json_response, sessions: options.sessions };
    let stop = CancellationToken::new();
    // Signals are caught before the ready line: who has read it may send one at once.
    tokio::spawn(cancel_on_signal(stop.clone(), signal(SignalKind::terminate())?));
    let token = options.token.map(Token::from);
    let sessions = Sessions::default();
    let router = http::router(server, mode, token, address, &sessions, stop.clone());
    writeln!(std::io::stdout(), "listening on http://{address}/mcp")?;
    http::serve(listener, router, sessions, stop).await?;
    Ok(())
}

/// Ends the server on SIGTERM or Ctrl-C.
async fn cancel_on_signal(stop: CancellationToken, mut terminate: tokio::signal::unix::Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        // Where Ctrl-C cannot be caught, the system's default ends the process just as well.
        Ok(()) = tokio::signal::ctrl_c() => {}
    }
    stop.cancel();
}
