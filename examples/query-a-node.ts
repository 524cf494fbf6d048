/*
 * What went wrong on a node lately, and what does it say now? Ends with Ctrl-C.
 *
 *   npx tsx examples/query-a-node.ts http://127.0.0.1:7300 [TOKEN]
 */
import { type ClientOptions, codeOf, createClient, type FoundRecord } from '@porthole/client';

const [url = 'http://127.0.0.1:7300', token] = process.argv.slice(2);
const options: ClientOptions = token === undefined ? { url } : { url, token };
const node = createClient(options);

const leaving = new AbortController();
process.once('SIGINT', () => leaving.abort());
process.once('SIGTERM', () => leaving.abort());

const { node: self } = await node.config();
console.log(`${self.hostName} ${self.version}, since ${new Date(self.onlineTime).toISOString()}`);

try {
  const { groups } = await node.digest({ minLevel: 'WARN', limit: 5 });
  for (const { count, level, sample } of groups) console.log(`${count} times ${level}: ${sample.message}`);
  for await (const items of node.follow({ start: { back: 5 } }, { signal: leaving.signal })) {
    for (const item of items) {
      if (item.type === 'record') show(item);
      else console.log(`(${item.type})`);
    }
  }
} catch (error) {
  // A node that only speaks the contract has no more than this.
  if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  for (const { name, size } of await node.listLogs()) console.log(`${name}: ${size} bytes`);
}

function show({ timeMs = 0, file, level, message }: FoundRecord): void {
  console.log(`${new Date(timeMs).toISOString()} ${file} ${level ?? '-'} ${message}`);
}
