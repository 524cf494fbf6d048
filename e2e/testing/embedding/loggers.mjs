/* Logs with pino and winston, and prints what a node reads. */
import pino from 'pino';
import { createNode } from 'porthole';
import { PortholeTransport } from 'porthole/winston';
import winston from 'winston';

const dir = 'service-logs';
const worker = pino.transport({ target: 'porthole/pino', options: { dir, fileName: 'pino.log' } });
const orders = pino({ level: 'trace', name: 'orders' }, worker);
orders.trace('a trace');
orders.fatal({ err: new Error('boom'), order: 7 }, 'a fatal\nerror');
// As it is, without a transport of ours.
pino({ level: 'trace' }, pino.destination({ dest: `${dir}/json.log`, sync: true, mkdir: true })).fatal(
  { order: 8 },
  'as JSON',
);

const transport = new PortholeTransport({ dir, fileName: 'winston.log' });
const shop = winston.createLogger({ level: 'silly', defaultMeta: { service: 'shop' }, transports: [transport] });
shop.silly('silly');
shop.warn('a warning', { order: 9 });
const syslog = winston.createLogger({
  level: 'warning',
  levels: winston.config.syslog.levels,
  transports: [new PortholeTransport({ dir, fileName: 'syslog.log' })],
});
syslog.emerg('an emergency');
syslog.info('not written');

await Promise.all([shop, syslog].map((logger) => finish(logger.transports[0], () => logger.end())));
// Pino's worker does not keep the process alive.
const alive = setInterval(() => {}, 1000);
await new Promise((resolve) => {
  worker.once('close', resolve);
  worker.end();
});
clearInterval(alive);

const node = await createNode({ settings: { logging: { dir: 'own' }, service: { logDir: dir } } });
const query = { order: 'newest', limit: 100, before: 0, after: 0 };
const records = [];
for await (const items of node.state.searchLogs(query))
  for (const { type, file, level, message, context } of items)
    if (type === 'record') records.push({ file, level, message, context });
await node.close();
console.log(JSON.stringify(records));

function finish(stream, end) {
  return new Promise((resolve) => {
    stream.once('finish', resolve);
    end();
  });
}
