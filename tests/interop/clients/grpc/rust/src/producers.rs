//! Producers, one for each topic.
//!
//! A message says itself what is answered when the broker asks about its transaction: the words of
//! its property `check` one after the other, the last one from then on.

use std::collections::HashMap;
use std::sync::Mutex;

use rocketmq::conf::{ClientOption, LoggingFormat, ProducerOption};
use rocketmq::model::message::{Message, MessageBuilder, MessageView};
use rocketmq::model::transaction::{Transaction, TransactionResolution};
use rocketmq::Producer;
use serde_json::json;
use tokio::task::JoinSet;

use crate::command::{described, print, Command};
use crate::Outcome;

pub struct Producers {
    option: ClientOption,
    by_topic: HashMap<String, &'static Producer>,
}

impl Producers {
    pub fn new(option: ClientOption) -> Producers {
        Producers {
            option,
            by_topic: HashMap::new(),
        }
    }

    pub async fn send(&mut self, command: &Command) -> Outcome<()> {
        let by = self.of(command.text("topic")).await?;
        match command.text("how") {
            "sync" => {
                for body in command.texts("body") {
                    sent(
                        command,
                        by.send(message(command, body)?).await?.message_id(),
                    );
                }
            }
            "async" => send_together(by, command).await?,
            "transaction" => {
                for body in command.texts("body") {
                    transact(by, command, message(command, body)?).await?;
                }
            }
            other => return Err(format!("not offered: {other}").into()),
        }
        Ok(())
    }

    /// It lives as long as the process: so do tasks that send by it.
    async fn of(&mut self, topic: &str) -> Outcome<&'static Producer> {
        if let Some(made) = self.by_topic.get(topic) {
            return Ok(made);
        }
        let mut option = ProducerOption::default();
        option.set_logging_format(LoggingFormat::Terminal);
        option.set_topics(vec![topic]);
        let asked = Mutex::new(HashMap::new());
        let check = move |_, message| check(&asked, &message);
        let mut made =
            Producer::new_transaction_producer(option, self.option.clone(), Box::new(check))?;
        made.start().await?;
        let kept: &'static Producer = Box::leak(Box::new(made));
        self.by_topic.insert(topic.to_string(), kept);
        Ok(kept)
    }
}

fn check(asked: &Mutex<HashMap<String, usize>>, message: &MessageView) -> TransactionResolution {
    let words: Vec<&str> = message.properties()["check"].split(' ').collect();
    let mut asked = asked.lock().expect("nobody has failed with it");
    let times = asked.entry(message.message_id().to_string()).or_insert(0);
    let word = words[(*times).min(words.len() - 1)];
    *times += 1;
    let mut event = described("checked", message);
    event["group"] = json!(message.topic());
    event["answer"] = json!(word);
    print(&event);
    match word {
        "commit" => TransactionResolution::COMMIT,
        "rollback" => TransactionResolution::ROLLBACK,
        _ => TransactionResolution::UNKNOWN,
    }
}

/// All in flight at once.
async fn send_together(by: &'static Producer, command: &Command) -> Outcome<()> {
    let mut tasks = JoinSet::new();
    for body in command.texts("body") {
        let made = message(command, body)?;
        tasks.spawn(async move { by.send(made).await });
    }
    while let Some(end) = tasks.join_next().await {
        sent(command, end??.message_id());
    }
    Ok(())
}

async fn transact(by: &Producer, command: &Command, message: impl Message) -> Outcome<()> {
    let transaction = by.send_transaction_message(message).await?;
    sent(command, transaction.message_id());
    match command.text("outcome") {
        "commit" => transaction.commit().await?,
        "rollback" => transaction.rollback().await?,
        _ => (),
    }
    Ok(())
}

fn message(command: &Command, body: &str) -> Outcome<impl Message> {
    let mut made = MessageBuilder::builder()
        .set_topic(command.text("topic"))
        .set_body(body.as_bytes().to_vec());
    if let Some(tag) = command.find("tags") {
        made = made.set_tag(tag);
    }
    if let Some(keys) = command.find("keys") {
        made = made.set_keys(keys.split(' ').collect());
    }
    let own: HashMap<&str, &str> = ["colour", "check"]
        .into_iter()
        .filter_map(|name| command.find(name).map(|value| (name, value)))
        .collect();
    made = made.set_properties(own);
    if let Some(group) = command.find("shard") {
        made = made.set_message_group(group);
    }
    if command.find("deliver").is_some() {
        made = made.set_delivery_timestamp(command.number("deliver") as i64 / 1000);
    }
    if command.text("how") == "transaction" {
        made = made.enable_transaction();
    }
    Ok(made.build()?)
}

fn sent(command: &Command, id: &str) {
    print(&json!({"event": "sent", "id": command.text("id"), "msgId": id}));
}
