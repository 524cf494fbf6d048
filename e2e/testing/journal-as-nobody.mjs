/* Prints why an ordinary user cannot read a journal. By the built package, which loads quickly. */
import { JournalSpool } from '../../packages/server/dist/journal/index.js';

/** Debian's "nobody". */
const NOBODY = 65534;

const [, , directory = '', dir = ''] = process.argv;
const selection = { directory, unit: undefined };
const spool = await JournalSpool.open({ dir, fileName: 'all.log', selection, maxBytes: 8 * 1024 ** 2 });
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
try {
  await spool.catchUp();
  process.stdout.write(JSON.stringify(spool.status));
} catch (error) {
  process.stdout.write(JSON.stringify({ code: error.code, message: error.message }));
}
await spool.close();
