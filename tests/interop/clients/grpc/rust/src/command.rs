//! Lines in and out: a command of form-encoded fields, an event of JSON.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use rocketmq::model::message::MessageView;
use serde_json::{json, Value};
use url::form_urlencoded;

/// One line of standard input, of whose fields some may occur more than once.
pub struct Command {
    fields: HashMap<String, Vec<String>>,
}

impl Command {
    pub fn new(line: &str) -> Command {
        let mut fields: HashMap<String, Vec<String>> = HashMap::new();
        for (name, value) in form_urlencoded::parse(line.as_bytes()) {
            fields
                .entry(name.into_owned())
                .or_default()
                .push(value.into_owned());
        }
        Command { fields }
    }

    pub fn find(&self, name: &str) -> Option<&str> {
        self.texts(name).first().map(String::as_str)
    }

    /// The only value of a field that must be there.
    pub fn text(&self, name: &str) -> &str {
        self.find(name)
            .unwrap_or_else(|| panic!("{name} is missing"))
    }

    pub fn number(&self, name: &str) -> u64 {
        self.text(name).parse().expect("a number")
    }

    pub fn texts(&self, name: &str) -> &[String] {
        self.fields.get(name).map_or(&[], Vec::as_slice)
    }
}

pub fn print(event: &Value) {
    println!("{event}");
}

pub fn described(name: &str, message: &MessageView) -> Value {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time after 1970");
    json!({
        "event": name,
        "topic": message.topic(),
        "body": String::from_utf8_lossy(message.body()),
        "tags": message.tag(),
        "keys": message.keys().join(" "),
        "colour": message.properties().get("colour"),
        "messageGroup": message.message_group(),
        "msgId": message.message_id(),
        "attempt": message.delivery_attempt(),
        "bornTimestamp": message.born_timestamp() * 1000,
        "time": now.as_millis() as u64,
    })
}
