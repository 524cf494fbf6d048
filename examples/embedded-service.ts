/*
 * A small service that carries its own window: its configuration and its log can be read over HTTP.
 *
 *   npx tsx examples/embedded-service.ts
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startNode } from 'porthole';

const settings = { orders: { perSecond: 5 }, database: 'postgres://shop:secret@db.example.org/orders' };

const node = await startNode({
  version: '2.4.0',
  settings: { http: { port: 0 }, grpc: { port: 0 }, logging: { dir: await mkdtemp(join(tmpdir(), 'shop-log-')) } },
  // Asked for whenever someone looks, so it shows what the service runs with. Secrets in it are masked.
  config: () => `database = "${settings.database}"\n\n[orders]\nper-second = ${settings.orders.perSecond}\n`,
});
const log = node.logger('orders');
console.log(`the shop is open; look into it at ${node.url}`);

const closing = new AbortController();
process.once('SIGTERM', () => closing.abort());
process.once('SIGINT', () => closing.abort());
for (let order = 1; !closing.signal.aborted; order++) {
  log.info('order', 'an order was taken', { order, amount: (order * 7) % 100 });
  await wait(1000 / settings.orders.perSecond, undefined, { signal: closing.signal }).catch(() => {});
}
await node.stop();
