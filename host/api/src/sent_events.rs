//! Reads the events that the gateway sends, line by line: what a stream of them says, without what it is carried by.

/// Puts lines of a stream together to events.
#[derive(Debug, Default)]
pub struct EventLines {
    name: String,
    data: String,
}

impl EventLines {
    /// Takes the next line, without its end. The name and the data of the event that it ends.
    pub fn take(&mut self, line: &str) -> Option<(String, String)> {
        if let Some(named) = line.strip_prefix("event: ") {
            named.clone_into(&mut self.name);
        } else if let Some(more) = line.strip_prefix("data: ") {
            self.data.push_str(more);
        } else if line.is_empty() {
            let Self { name, data } = std::mem::take(self);
            return (!name.is_empty() || !data.is_empty()).then_some((name, data));
        }
        // Comments, how soon to come back, and identifiers are for whoever comes back.
        None
    }

    /// Bytes that are held of an event that has not ended.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.name.len() + self.data.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_events() {
        let stream =
            "retry: 1000\n\n: still here\n\nevent: progress\ndata: {\"a\":\ndata: 1}\n\nid: 7\nevent: end\n\ndata: cut";
        let mut lines = EventLines::default();
        let events: Vec<_> = stream.lines().filter_map(|line| lines.take(line)).collect();
        let expected = [("progress", "{\"a\":1}"), ("end", "")].map(|(name, data)| (name.to_owned(), data.to_owned()));
        assert_eq!(events, expected);
        assert_eq!(lines.held_bytes(), 3, "an event that does not end is none");
    }
}
