//! The Rust client of gRPC, told on standard input what to do: see features/program.py for the
//! commands and the events. Arguments: the address of the server's gRPC, a name for this process.

mod command;
mod producers;

use std::collections::HashMap;
use std::error::Error;
use std::time::{Duration, Instant};

use command::{described, print, Command};
use producers::Producers;
use rocketmq::conf::{ClientOption, LoggingFormat, SimpleConsumerOption};
use rocketmq::model::common::{FilterExpression, FilterType};
use rocketmq::model::message::MessageView;
use rocketmq::SimpleConsumer;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

const BATCH: usize = 16;
// The deadline of a receive, too: Apache's proxy refuses one that leaves less than five seconds.
const AWAIT: Duration = Duration::from_secs(7);

pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// A simple consumer, and what it is asked for with every receive.
struct Opened {
    consumer: SimpleConsumer,
    topic: String,
    expression: FilterExpression,
}

struct Client {
    address: String,
    producers: Producers,
    consumers: HashMap<String, Opened>,
    taken: HashMap<String, MessageView>,
}

#[tokio::main]
async fn main() {
    let address = std::env::args()
        .nth(1)
        .expect("the address of the server's gRPC");
    let mut client = Client {
        producers: Producers::new(client_option(&address)),
        address,
        consumers: HashMap::new(),
        taken: HashMap::new(),
    };
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await.expect("standard input") {
        let command = Command::new(&line);
        let id = command.text("id");
        match client.obey(&command).await {
            Ok(()) => print(&json!({"event": "done", "id": id})),
            Err(error) => print(&json!({"event": "failed", "id": id, "error": error.to_string()})),
        }
    }
}

fn client_option(address: &str) -> ClientOption {
    let mut option = ClientOption::default();
    option.set_access_url(address);
    option.set_enable_tls(false);
    option.set_timeout(Duration::from_secs(10));
    option.set_long_polling_timeout(AWAIT);
    option
}

impl Client {
    async fn obey(&mut self, command: &Command) -> Outcome<()> {
        match command.text("do") {
            "send" => self.producers.send(command).await,
            "open" => self.open(command).await,
            "take" => self.take(command).await,
            "ack" => self.ack(command).await,
            "close" => {
                let closed = self.consumers.remove(command.text("consumer"));
                Ok(closed
                    .ok_or("no such consumer")?
                    .consumer
                    .shutdown()
                    .await?)
            }
            other => Err(format!("not offered: {other}").into()),
        }
    }

    async fn open(&mut self, command: &Command) -> Outcome<()> {
        let mut option = SimpleConsumerOption::default();
        option.set_logging_format(LoggingFormat::Terminal);
        option.set_consumer_group(command.text("group"));
        option.set_topics(vec![command.text("topic")]);
        let mut consumer = SimpleConsumer::new(option, client_option(&self.address))?;
        consumer.start().await?;
        let (kind, text) = match command.find("sql") {
            Some(sql) => (FilterType::Sql, sql),
            None => (FilterType::Tag, command.find("expression").unwrap_or("*")),
        };
        let opened = Opened {
            consumer,
            topic: command.text("topic").to_string(),
            expression: FilterExpression::new(kind, text),
        };
        self.consumers
            .insert(command.text("consumer").to_string(), opened);
        Ok(())
    }

    async fn take(&mut self, command: &Command) -> Outcome<()> {
        let from = self
            .consumers
            .get(command.text("consumer"))
            .ok_or("no such consumer")?;
        let invisible = Duration::from_millis(command.number("invisible"));
        let end = Instant::now() + Duration::from_millis(command.number("wait"));
        let mut left = command.number("count") as usize;
        while left > 0 && Instant::now() < end {
            let found = from
                .consumer
                .receive_with(
                    &from.topic,
                    &from.expression,
                    left.min(BATCH) as i32,
                    invisible,
                )
                .await?;
            left -= found.len();
            for message in found {
                let mut event = described("found", &message);
                event["id"] = json!(command.text("id"));
                print(&event);
                self.taken.insert(message.message_id().to_string(), message);
            }
        }
        Ok(())
    }

    async fn ack(&mut self, command: &Command) -> Outcome<()> {
        let by = self
            .consumers
            .get(command.text("consumer"))
            .ok_or("no such consumer")?;
        for wanted in command.texts("wanted") {
            by.consumer.ack(&self.taken[wanted]).await?;
        }
        Ok(())
    }
}
