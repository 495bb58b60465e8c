//! The values that travel between the store's logic and its engines: text, integers and bytes, and nothing else, for
//! these mean the same on both.

use crate::error::EngineError;
use intent_gateway_domain::clock::Timestamp;

/// A parameter of a statement, or a column of a row. What is missing in a row is missing text, whatever the column holds
/// otherwise: SQLite does not tell the difference.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Option<String>),
    Integer(Option<i64>),
    Bytes(Vec<u8>),
}

impl Value {
    /// Fails on text that one of the engines cannot keep, so that neither does.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        match self {
            Self::Text(Some(text)) if text.contains('\0') => Err(EngineError::failed("a text holds a NUL character")),
            _ => Ok(()),
        }
    }

    /// A count. Figures above `i64::MAX` are refused: no column holds them.
    pub(crate) fn number(number: u64) -> Result<Self, EngineError> {
        let number = i64::try_from(number).map_err(|_| EngineError::failed("a number is too large to be kept"))?;
        Ok(number.into())
    }

    /// A time, refused like a number.
    pub(crate) fn time(time: Timestamp) -> Result<Self, EngineError> {
        Self::number(time.as_ms())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        i64::from(number).into()
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// A column of many rows, for a statement that takes all of them at once.
pub(crate) enum Column {
    Text(Vec<Option<String>>),
    Integer(Vec<Option<i64>>),
    Bytes(Vec<Vec<u8>>),
}

impl Column {
    /// Rows of one form as columns.
    pub(crate) fn of_rows(rows: Vec<Vec<Value>>) -> Result<Vec<Self>, EngineError> {
        let uneven = || EngineError::failed("rows of a batch differ in form");
        let count = rows.len();
        let empty = |value: &Value| match value {
            Value::Text(_) => Self::Text(Vec::with_capacity(count)),
            Value::Integer(_) => Self::Integer(Vec::with_capacity(count)),
            Value::Bytes(_) => Self::Bytes(Vec::with_capacity(count)),
        };
        let mut columns: Vec<Self> = rows.first().map(|row| row.iter().map(empty).collect()).unwrap_or_default();
        for row in rows {
            if row.len() != columns.len() {
                return Err(uneven());
            }
            for (column, value) in columns.iter_mut().zip(row) {
                match (column, value) {
                    (Self::Text(column), Value::Text(text)) => column.push(text),
                    (Self::Integer(column), Value::Integer(number)) => column.push(number),
                    (Self::Bytes(column), Value::Bytes(bytes)) => column.push(bytes),
                    _ => return Err(uneven()),
                }
            }
        }
        Ok(columns)
    }
}

/// A row of a result.
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    /// The columns as they came.
    pub(crate) fn into_values(self) -> Vec<Value> {
        self.0
    }

    /// Text that may be missing.
    pub(crate) fn optional_text(&self, column: usize) -> Result<Option<String>, EngineError> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(text.clone()),
            _ => Err(EngineError::failed("a column holds no text")),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<String, EngineError> {
        self.optional_text(column)?.ok_or_else(|| EngineError::failed("a column holds no text"))
    }

    /// A number that may be missing, and may be below zero.
    pub(crate) fn optional_integer(&self, column: usize) -> Result<Option<i64>, EngineError> {
        match self.0.get(column) {
            Some(Value::Integer(number)) => Ok(*number),
            Some(Value::Text(None)) => Ok(None),
            _ => Err(EngineError::failed("a column holds no number")),
        }
    }

    /// A number that may be below zero.
    pub(crate) fn integer(&self, column: usize) -> Result<i64, EngineError> {
        self.optional_integer(column)?.ok_or_else(|| EngineError::failed("a column holds no number"))
    }

    /// A count.
    pub(crate) fn number(&self, column: usize) -> Result<u64, EngineError> {
        u64::try_from(self.integer(column)?).map_err(|_| EngineError::failed("a column holds a negative number"))
    }

    pub(crate) fn time(&self, column: usize) -> Result<Timestamp, EngineError> {
        self.number(column).map(Timestamp::from_ms)
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<&[u8], EngineError> {
        match self.0.get(column) {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            _ => Err(EngineError::failed("a column holds no bytes")),
        }
    }

    /// Bytes that may be missing: none of them then.
    pub(crate) fn bytes_if_any(&self, column: usize) -> Result<&[u8], EngineError> {
        match self.0.get(column) {
            Some(Value::Text(None)) => Ok(&[]),
            _ => self.bytes(column),
        }
    }
}
