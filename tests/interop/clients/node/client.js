'use strict';

// The Node client, told on standard input what to do: see features/program.py for the commands and
// the events. Arguments: the name server's address, a name for this process. The environment may
// have credentials, ACCESS_KEY and SECRET_KEY.

const readline = require('readline');
const { Consumer, Producer, Message } = require('ali-ons');

const [nameSrv, processName] = process.argv.slice(2);
// It is handed to the client, which asks nothing of it when it is told a name server.
const httpclient = { request: async () => ({ status: 404, data: '' }) };
const logger = { debug() {}, info() {}, warn: console.error, error: console.error };
const common = { httpclient, logger, nameSrv };
if (process.env.ACCESS_KEY) {
  common.accessKey = process.env.ACCESS_KEY;
  common.secretKey = process.env.SECRET_KEY;
}

const producer = new Producer({
  ...common,
  producerGroup: `interop-${processName}`,
  instanceName: processName,
});
producer.on('error', error => console.error(error));

const consumers = new Map();

function print(event) {
  process.stdout.write(JSON.stringify(event) + '\n');
}

function message(command, body) {
  const made = new Message(command.get('topic'), command.get('tags'), body);
  if (command.has('keys')) made.keys = command.get('keys').split(' ');
  if (command.has('colour')) made.properties.colour = command.get('colour');
  if (command.has('level')) made.delayTimeLevel = Number(command.get('level'));
  if (command.has('shard')) made.shardingKey = command.get('shard');
  return made;
}

async function sendOne(command, body) {
  const result = await producer.send(message(command, body));
  print({
    event: 'sent',
    id: command.get('id'),
    status: result.sendStatus,
    msgId: result.msgId,
    queueId: Number(result.messageQueue.queueId),
    queueOffset: Number(result.queueOffset),
  });
}

async function send(command) {
  const bodies = command.getAll('body');
  switch (command.get('how')) {
    case 'async':
      await Promise.all(bodies.map(body => sendOne(command, body)));
      break;
    case 'sync':
    case 'ordered':
      for (const body of bodies) await sendOne(command, body);
      break;
    default:
      throw new Error(`not offered: ${command.get('how')}`);
  }
}

async function subscribe(command) {
  const name = command.get('consumer');
  const consumer = new Consumer({
    ...common,
    consumerGroup: command.get('group'),
    instanceName: `${processName}-${name}`,
    isBroadcast: command.get('model') === 'broadcasting',
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
    maxReconsumeTimes: Number(command.get('retries') || 16),
  });
  consumer.on('error', error => console.error(error));
  const wanted = command.has('sql')
    ? { expressionType: 'SQL92', subString: command.get('sql') }
    : command.get('expression') || '*';
  consumer.subscribe(command.get('topic'), wanted, async received => {
    print({
      event: 'received',
      consumer: name,
      topic: received.topic,
      body: received.body.toString(),
      tags: received.tags,
      keys: received.keys,
      colour: received.properties.colour,
      queueId: received.queueId,
      queueOffset: Number(received.queueOffset),
      reconsumeTimes: received.reconsumeTimes,
      bornTimestamp: Number(received.bornTimestamp),
      storeTimestamp: Number(received.storeTimestamp),
      time: Date.now(),
    });
    // ACTION_RETRY is heeded the first time only; an error is every time.
    if (command.get('verdict') === 'retry') throw new Error('not wanted');
  });
  await consumer.ready();
  consumers.set(name, consumer);
}

async function close(command) {
  const name = command.get('consumer');
  await consumers.get(name).close();
  consumers.delete(name);
}

const verbs = { send, subscribe, close };

async function obey(line) {
  const command = new URLSearchParams(line);
  const id = command.get('id');
  try {
    const verb = verbs[command.get('do')];
    if (!verb) throw new Error(`not offered: ${command.get('do')}`);
    await verb(command);
    print({ event: 'done', id });
  } catch (error) {
    print({ event: 'failed', id, error: String(error) });
  }
}

let last = producer.ready();
readline
  .createInterface({ input: process.stdin })
  .on('line', line => { last = last.then(() => obey(line)); })
  .on('close', () => last.then(() => process.exit(0)));
