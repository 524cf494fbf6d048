import { createClient } from '@porthole/client';
import { expect } from 'vitest';
import { checkRefusal, fuzz } from './testing/fuzz.ts';

const RECORD =
  '{"type":"record","file":"a.log","offset":0,"bytes":5,"timeMs":1,"level":"INFO","message":"m","cursor":"c"}';
const END =
  '{"type":"end","reason":"exhausted","records":1,"scannedBytes":5,"skippedBytes":0,"elapsedMs":1,"cursor":null}';

/** A client whose node answers these bytes, in pieces. */
function fakeClient(bytes: Buffer, contentType: string) {
  const pieces = [bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)];
  const body = () =>
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) if (piece.length > 0) controller.enqueue(piece);
        controller.close();
      },
    });
  const answer = async () => new Response(body(), { headers: { 'content-type': contentType } });
  return createClient({ url: 'http://node', retries: 0, fetch: answer, maxItemBytes: 4096 });
}

async function readAll(items: AsyncIterable<readonly { type: string }[]>): Promise<void> {
  try {
    for await (const batch of items) for (const item of batch) expect(item.type).toBeTypeOf('string');
  } catch (error) {
    checkRefusal(error);
  }
}

fuzz('answers of a search', {
  corpus: [`${RECORD}\n${END}\n`, `${END}\n`, `\n\n${RECORD}\r\n`, '{"type":"problem","code":"INTERNAL"}\n'],
  runs: 1000,
  check: (input) =>
    readAll(fakeClient(input, 'application/x-ndjson').search({ order: 'newest', limit: 10, before: 0, after: 0 })),
});

fuzz('events of a follow', {
  corpus: [
    `retry: 1000\n\nid: c\ndata: ${RECORD}\n\n`,
    `: heartbeat\n\nevent: end\ndata: {"type":"end","reason":"stopping"}\n\n`,
    `data: {"type":\ndata: "gap","bytes":1}\n\n`,
  ],
  runs: 500,
  async check(input) {
    const leaving = new AbortController();
    const client = fakeClient(input, 'text/event-stream');
    // A stream that ends is followed again from its position; here, once is enough.
    const once = (async function* () {
      for await (const items of client.follow({ start: 'end' }, { signal: leaving.signal })) {
        yield items;
        leaving.abort();
      }
    })();
    const timer = setTimeout(() => leaving.abort(), 200);
    await readAll(once).catch((error) => {
      if (!leaving.signal.aborted) throw error;
    });
    clearTimeout(timer);
  },
});

fuzz('answers in JSON', {
  corpus: [
    '{"node":{"hostIp":"::1"},"clockMs":1}',
    '[{"name":"a.log","size":1}]',
    '{"config":"a = 1","node":{}}',
    'null',
  ],
  runs: 1000,
  async check(input) {
    const client = fakeClient(input, 'application/json');
    for (const ask of [() => client.listLogs(), () => client.config(), () => client.describe()])
      await ask().catch(checkRefusal);
  },
});
