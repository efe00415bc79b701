'use strict';

// The Node client of gRPC, told on standard input what to do: see features/program.py for the
// commands and the events. Arguments: the address of the server's gRPC, a name for this process.

const readline = require('readline');
const {
  ConsumeResult, FilterExpression, Producer, PushConsumer, SimpleConsumer,
} = require('rocketmq-client-nodejs');
const { FilterType, TransactionResolution } =
  require('rocketmq-client-nodejs/proto/apache/rocketmq/v2/definition_pb');

const BATCH = 16;
const [endpoints] = process.argv.slice(2);
const logger = { debug() {}, info() {}, warn: console.error, error: console.error };
const common = { endpoints, namespace: '', logger, requestTimeout: 10000 };

const producers = new Map();
const consumers = new Map();
const taken = new Map();
const asked = new Map();

function print(event) {
  process.stdout.write(JSON.stringify(event) + '\n');
}

function described(name, message) {
  return {
    event: name,
    topic: message.topic,
    body: message.body.toString(),
    tags: message.tag,
    keys: message.keys.join(' '),
    colour: message.properties.get('colour'),
    messageGroup: message.messageGroup,
    msgId: message.messageId,
    attempt: message.deliveryAttempt,
    bornTimestamp: message.bornTimestamp && message.bornTimestamp.getTime(),
    time: Date.now(),
  };
}

// A message says itself what is answered when the broker asks about its transaction: the words of
// its property `check` one after the other, the last one from then on.
async function check(message) {
  const words = message.properties.get('check').split(' ');
  const times = asked.get(message.messageId) || 0;
  asked.set(message.messageId, times + 1);
  const answer = words[Math.min(times, words.length - 1)];
  print({ ...described('checked', message), group: message.topic, answer });
  return resolution(answer);
}

function resolution(word) {
  switch (word) {
    case 'commit': return TransactionResolution.COMMIT;
    case 'rollback': return TransactionResolution.ROLLBACK;
    default: return TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED;
  }
}

async function producerOf(topic) {
  if (!producers.has(topic)) {
    const producer = new Producer({ ...common, topics: [topic], checker: { check } });
    await producer.startup();
    producers.set(topic, producer);
  }
  return producers.get(topic);
}

function message(command, body) {
  const made = { topic: command.get('topic'), body: Buffer.from(body), properties: new Map() };
  if (command.has('tags')) made.tag = command.get('tags');
  if (command.has('keys')) made.keys = command.get('keys').split(' ');
  for (const name of ['colour', 'check']) {
    if (command.has(name)) made.properties.set(name, command.get(name));
  }
  if (command.has('shard')) made.messageGroup = command.get('shard');
  if (command.has('deliver')) made.deliveryTimestamp = new Date(Number(command.get('deliver')));
  return made;
}

function sent(command, receipt) {
  print({
    event: 'sent',
    id: command.get('id'),
    msgId: receipt.messageId,
    recallHandle: receipt.recallHandle,
  });
}

async function transact(producer, command, body) {
  const transaction = producer.beginTransaction();
  sent(command, await producer.send(message(command, body), transaction));
  if (command.get('outcome') === 'commit') await transaction.commit();
  if (command.get('outcome') === 'rollback') await transaction.rollback();
}

async function send(command) {
  const producer = await producerOf(command.get('topic'));
  const sendOne = async body => sent(command, await producer.send(message(command, body)));
  const bodies = command.getAll('body');
  switch (command.get('how')) {
    case 'async':
      await Promise.all(bodies.map(sendOne));
      break;
    case 'sync':
      for (const body of bodies) await sendOne(body);
      break;
    case 'transaction':
      for (const body of bodies) await transact(producer, command, body);
      break;
    default:
      throw new Error(`not offered: ${command.get('how')}`);
  }
}

async function recall(command) {
  const producer = await producerOf(command.get('topic'));
  const receipt = await producer.recallMessage(command.get('topic'), command.get('handle'));
  print({ event: 'recalled', id: command.get('id'), msgId: receipt.messageId });
}

function consumerOptions(command) {
  const expression = command.has('sql')
    ? new FilterExpression(command.get('sql'), FilterType.SQL)
    : new FilterExpression(command.get('expression') || '*');
  return {
    ...common,
    consumerGroup: command.get('group'),
    subscriptions: new Map([[command.get('topic'), expression]]),
  };
}

async function start(command, consumer) {
  await consumer.startup();
  consumers.set(command.get('consumer'), consumer);
}

async function subscribe(command) {
  const name = command.get('consumer');
  const verdict = command.get('verdict');
  const consume = async received => {
    print({ ...described('received', received), consumer: name });
    if (verdict === 'none') await new Promise(() => {});
    const hold = Number(command.get('hold') || 0);
    if (hold) await new Promise(resolve => { setTimeout(resolve, hold); });
    return verdict === 'retry' ? ConsumeResult.FAILURE : ConsumeResult.SUCCESS;
  };
  const options = { ...consumerOptions(command), messageListener: { consume } };
  await start(command, new PushConsumer(options));
}

async function open(command) {
  await start(command, new SimpleConsumer({ ...consumerOptions(command), awaitDuration: 5000 }));
}

async function close(command) {
  const name = command.get('consumer');
  await consumers.get(name).shutdown();
  consumers.delete(name);
}

async function take(command) {
  const consumer = consumers.get(command.get('consumer'));
  const end = Date.now() + Number(command.get('wait'));
  let left = Number(command.get('count'));
  while (left > 0 && Date.now() < end) {
    const found =
      await consumer.receive(Math.min(left, BATCH), Number(command.get('invisible')));
    left -= found.length;
    for (const one of found) {
      taken.set(one.messageId, one);
      print({ ...described('found', one), id: command.get('id') });
    }
  }
}

async function ack(command) {
  const consumer = consumers.get(command.get('consumer'));
  for (const wanted of command.getAll('wanted')) await consumer.ack(taken.get(wanted));
}

async function postpone(command) {
  const consumer = consumers.get(command.get('consumer'));
  const invisible = Number(command.get('invisible'));
  for (const wanted of command.getAll('wanted')) {
    await consumer.changeInvisibleDuration(taken.get(wanted), invisible);
  }
}

const verbs = { send, recall, subscribe, open, close, take, ack, postpone };

async function obey(line) {
  const command = new URLSearchParams(line);
  const id = command.get('id');
  try {
    const verb = verbs[command.get('do')];
    if (!verb) throw new Error(`not offered: ${command.get('do')}`);
    await verb(command);
    print({ event: 'done', id });
  } catch (error) {
    console.error(error);
    print({ event: 'failed', id, error: String(error) });
  }
}

let last = Promise.resolve();
readline
  .createInterface({ input: process.stdin })
  .on('line', line => { last = last.then(() => obey(line)); })
  .on('close', () => last.then(() => process.exit(0)));
