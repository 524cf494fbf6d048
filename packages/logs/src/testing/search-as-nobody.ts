/* Prints what a search of a family returns to an ordinary user. */
import { LogDir } from '../log-dir.ts';
import { runSearch } from './run-search.ts';

/** Debian's "nobody". */
const NOBODY = 65534;

const [, , dir = '', readable = '', family = ''] = process.argv;
const logs = new LogDir(dir);
// Threads load their code when they start: that must happen before privileges are dropped.
await runSearch(logs, { file: readable });
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
process.stdout.write(JSON.stringify(await runSearch(logs, { family })));
await logs.close();
