//! The configuration in force as it is shown, with secrets redacted.

use intent_gateway_mail::{MailConfig, MailTls};
use intent_gateway_partners::PartnerClientConfig;
use intent_gateway_sandbox::SandboxConfig;

use super::{Config, REDACTED};

/// The configuration in force, as TOML, with secrets redacted.
pub fn show(config: &Config) -> Result<String, toml::ser::Error> {
    toml::to_string(&table(config)?)
}

/// The same as a table.
pub(crate) fn table(config: &Config) -> Result<toml::Table, toml::ser::Error> {
    let Config {
        state_dir,
        server,
        quotas,
        auth,
        platform,
        store,
        anchors,
        fleet,
        evidence,
        orders,
        outbound,
        linking,
        mail,
        contracts,
        search,
        streams,
        console,
        sandbox,
        partner_client,
        log,
        telemetry,
        partners,
        secret_files: _,
        origins: _,
    } = config;
    let mut table = toml::Table::new();
    let mut insert = |key: &str, value: toml::Value| table.insert(key.to_owned(), value);
    insert("state_dir", toml::Value::try_from(state_dir)?);
    insert("server", toml::Value::try_from(server)?);
    insert("quotas", toml::Value::try_from(quotas)?);
    insert("auth", toml::Value::try_from(auth)?);
    insert("platform", toml::Value::try_from(platform)?);
    insert("store", toml::Value::try_from(store)?);
    insert("anchors", toml::Value::try_from(anchors)?);
    insert("fleet", toml::Value::try_from(fleet)?);
    insert("evidence", toml::Value::try_from(evidence)?);
    insert("orders", toml::Value::try_from(orders)?);
    insert("outbound", toml::Value::try_from(outbound)?);
    insert("linking", toml::Value::try_from(linking)?);
    insert("mail", toml::Value::Table(show_mail(mail)?));
    insert("contracts", toml::Value::try_from(contracts)?);
    insert("search", toml::Value::try_from(search)?);
    insert("streams", toml::Value::try_from(streams)?);
    insert("console", toml::Value::try_from(console)?);
    insert("sandbox", toml::Value::Table(show_sandbox(sandbox)?));
    insert("partner_client", toml::Value::Table(show_partner_client(partner_client)?));
    insert("log", toml::Value::try_from(log)?);
    insert("telemetry", toml::Value::try_from(telemetry)?);
    if !partners.is_empty() {
        insert("partners", toml::Value::try_from(partners)?);
    }
    Ok(table)
}

// Those below name every field, so that a new one cannot be left out unseen.
fn show_mail(config: &MailConfig) -> Result<toml::Table, toml::ser::Error> {
    let MailConfig { mode, from, outbox_file, host, port, tls, ca_file, user, password, hello_name, timeout_ms } =
        config;
    let mut table = toml::Table::from_iter([
        ("mode".to_owned(), toml::Value::try_from(mode)?),
        ("from".to_owned(), toml::Value::try_from(from)?),
        ("host".to_owned(), toml::Value::try_from(host)?),
        ("tls".to_owned(), toml::Value::try_from::<MailTls>(*tls)?),
        ("timeout_ms".to_owned(), toml::Value::try_from(timeout_ms)?),
    ]);
    let optional = [
        ("outbox_file", outbox_file.as_ref().map(toml::Value::try_from).transpose()?),
        ("port", port.map(toml::Value::try_from).transpose()?),
        ("ca_file", ca_file.as_ref().map(toml::Value::try_from).transpose()?),
        ("user", user.as_ref().map(toml::Value::try_from).transpose()?),
        ("password", password.as_ref().map(|_| toml::Value::from(REDACTED))),
        ("hello_name", hello_name.as_ref().map(toml::Value::try_from).transpose()?),
    ];
    table.extend(optional.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    Ok(table)
}

fn show_sandbox(config: &SandboxConfig) -> Result<toml::Table, toml::ser::Error> {
    let SandboxConfig {
        deadline_ms,
        memory_max_bytes,
        instances_memory_max_bytes,
        output_max_bytes,
        max_concurrent_instances,
        max_waiting_calls,
        wait_max_ms,
        faults_before_rollback,
        versions_kept_per_intent,
        code_unused_minutes,
        compile_timeout_ms,
        compile_memory_max_bytes,
    } = config;
    let number = toml::Value::try_from::<u64>;
    let size = toml::Value::try_from::<usize>;
    Ok(toml::Table::from_iter([
        ("deadline_ms".to_owned(), number(*deadline_ms)?),
        ("memory_max_bytes".to_owned(), size(*memory_max_bytes)?),
        ("instances_memory_max_bytes".to_owned(), size(*instances_memory_max_bytes)?),
        ("output_max_bytes".to_owned(), size(*output_max_bytes)?),
        ("max_concurrent_instances".to_owned(), number((*max_concurrent_instances).into())?),
        ("max_waiting_calls".to_owned(), number((*max_waiting_calls).into())?),
        ("wait_max_ms".to_owned(), number(*wait_max_ms)?),
        ("faults_before_rollback".to_owned(), number((*faults_before_rollback).into())?),
        ("versions_kept_per_intent".to_owned(), size(*versions_kept_per_intent)?),
        ("code_unused_minutes".to_owned(), number(*code_unused_minutes)?),
        ("compile_timeout_ms".to_owned(), number(*compile_timeout_ms)?),
        ("compile_memory_max_bytes".to_owned(), size(*compile_memory_max_bytes)?),
    ]))
}

fn show_partner_client(config: &PartnerClientConfig) -> Result<toml::Table, toml::ser::Error> {
    let PartnerClientConfig {
        connect_timeout_ms,
        max_concurrent_calls_per_partner,
        max_waiting_calls_per_partner,
        allow_loopback_http,
        pool_idle_secs,
        session_idle_secs,
        discover_first,
    } = config;
    let number = toml::Value::try_from::<u64>;
    let size = toml::Value::try_from::<usize>;
    Ok(toml::Table::from_iter([
        ("connect_timeout_ms".to_owned(), number(*connect_timeout_ms)?),
        ("max_concurrent_calls_per_partner".to_owned(), size(*max_concurrent_calls_per_partner)?),
        ("max_waiting_calls_per_partner".to_owned(), size(*max_waiting_calls_per_partner)?),
        ("allow_loopback_http".to_owned(), toml::Value::Boolean(*allow_loopback_http)),
        ("pool_idle_secs".to_owned(), number(*pool_idle_secs)?),
        ("session_idle_secs".to_owned(), number(*session_idle_secs)?),
        ("discover_first".to_owned(), toml::Value::Boolean(*discover_first)),
    ]))
}
