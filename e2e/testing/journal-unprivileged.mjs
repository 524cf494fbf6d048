/* Prints why an ordinary user cannot read a journal. By the built package, which loads quickly. */
import { JournalSpool } from '../../packages/server/dist/journal/index.js';

const [, , directory = '', dir = ''] = process.argv;
const selection = { directory, unit: undefined };
const spool = await JournalSpool.open({ dir, fileName: 'all.log', selection, maxBytes: 8 * 1024 ** 2 });
try {
  await spool.catchUp();
  process.stdout.write(JSON.stringify(spool.status));
} catch (error) {
  process.stdout.write(JSON.stringify({ code: error.code, message: error.message }));
}
await spool.close();
