import { tryNode } from './host.mjs';

/* global test */
test('a node', async () => {
  process.stdout.write(`${JSON.stringify(await tryNode())}\n`);
}, 120_000);
