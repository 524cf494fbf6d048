/* A program that embeds a node and uses what the package has in files of its own: threads that scan and mask, the console. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNode, mark } from 'porthole';

const LINE = `2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: ${'hello '.repeat(80)}\n`;

/** More than is scanned without a thread. */
const LINES = 12_000;

const EVENTS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'warning'];

export async function tryNode() {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-host-'));
  writeFileSync(join(dir, 'a.log'), LINE.repeat(LINES));
  const before = countListeners();
  const node = await createNode({
    version: '2.4.0',
    settings: { http: { basePath: '/ops' }, logging: { dir: join(dir, 'own') }, service: { logDir: dir } },
    config: () => ({
      long: Array.from({ length: 3000 }, (_, index) => `value ${index}`),
      pin: mark('13579', { secret: true }),
    }),
  });
  const get = async (path) => {
    const response = await node.fetch(new Request(`http://localhost/ops${path}`), { address: '127.0.0.1' });
    return { status: response.status, text: await response.text() };
  };
  const histogram = await get('/api/v1/log/histogram?buckets=1');
  const config = await get('/api/v1/config');
  const page = await get('/');
  const script = await get(/src="\/ops([^"]+)"/.exec(page.text)?.[1] ?? '/none');
  const missing = await get('/api/v1/log/view?file=none.log');
  const listeners = countListeners() - before;
  await node.close();
  rmSync(dir, { recursive: true });
  return {
    records: JSON.parse(histogram.text).end.records,
    config: config.status,
    hasSecret: config.text.includes('13579'),
    script: script.status,
    missing: missing.status,
    version: node.node.version,
    listeners,
  };
}

function countListeners() {
  return EVENTS.reduce((sum, event) => sum + process.listenerCount(event), 0);
}
