/* Prints what a search of a family returns to an ordinary user. By the built package, which loads quickly. */
import { LogDir } from '../../dist/log-dir.js';

/** Debian's "nobody". */
const NOBODY = 65534;

const [, , dir = '', readable = '', family = ''] = process.argv;
const logs = new LogDir(dir);
// Threads load their code when they start: that must happen before privileges are dropped.
await runSearch({ file: readable });
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
process.stdout.write(JSON.stringify(await runSearch({ family })));
await logs.close();

async function runSearch(selection) {
  const query = { order: 'oldest', limit: 100_000, before: 0, after: 0, ...selection };
  const items = [];
  for await (const batch of logs.search(query)) items.push(...batch);
  const end = items.pop();
  return { records: items, end };
}
