/* Prints what a search of a family returns. By the built package, which loads quickly. */
import { toItems } from '@porthole/records';
import { LogDir } from '../../dist/log-dir.js';

const [, , dir = '', family = ''] = process.argv;
const logs = new LogDir(dir);
const items = [];
for await (const batch of toItems(logs.search({ order: 'oldest', limit: 100_000, before: 0, after: 0, family })))
  items.push(...batch);
const end = items.pop();
process.stdout.write(JSON.stringify({ records: items, end }));
await logs.close();
