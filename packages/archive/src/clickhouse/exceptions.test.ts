import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ArchiveFixture, collect } from '../query/testing/archive-fixture.ts';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { ClickHouse } from './clickhouse.ts';

const MESSAGE =
  'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 25.11.1.1 (official build))';
const TAG = 'PU1FNUFH98';
const TAGGED = `\r\n__exception__\r\n${TAG}\r\n${MESSAGE}\r\n${MESSAGE.length} ${TAG}\r\n__exception__\r\n`;

/** How servers write an exception once rows were sent. */
const FORMS: [string, string][] = [
  ['as text', `${MESSAGE}\n`],
  ['as a row', `{"exception": ${JSON.stringify(MESSAGE)}}\n`],
  ['with its tag', TAGGED],
  ['with its tag, in the middle of a row', `{"number":3,"line":"Code: 60. DB::Exception: of a log {}${TAGGED}`],
];

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('an exception behind rows', () => {
  const rows = '{"number":1}\n{"number":2}\n';

  it.each(FORMS)(
    '%s is an error with its number, however the response is cut into pieces',
    async (_form, exception) => {
      let pieceBytes = 1;
      const server = createServer(async (_request, response) => {
        response.writeHead(200, { 'x-clickhouse-exception-tag': TAG });
        const text = rows + exception;
        for (let at = 0; at < text.length; at += pieceBytes) {
          response.write(text.slice(at, at + pieceBytes));
          await nextTurn();
        }
        response.end();
      });
      const reader = new ClickHouse({ url: await listen(server), database: 'd' });
      onTestFinished(() => reader.close());
      for (pieceBytes of [7, 30, 1000]) {
        const read: string[] = [];
        const stream = async () => {
          for await (const lines of reader.stream('SELECT 1')) read.push(lines.toString());
        };
        await expect(stream()).rejects.toMatchObject({
          code: 'ARCHIVE_BUSY',
          serverCode: 241,
          message: MESSAGE.replace('Code: 241. DB::Exception', 'ClickHouse error 241'),
        });
        expect(read.join('')).toBe(rows);
      }
      await expect(reader.query('SELECT 1')).rejects.toMatchObject({ serverCode: 241 });
    },
  );
});

describe('an answer from the archive', () => {
  let server: TestClickHouse;

  beforeAll(async () => {
    server = await startClickHouse();
  });

  afterAll(() => server.stop());

  /** A server that stops in the middle of each result that is made of records, as a newer one would say it. */
  async function failing(exception: string): Promise<ArchiveFixture> {
    const database = server.newDatabase();
    let isFailing = false;
    const proxy = createServer(async (request, response) => {
      const body = await buffer(request);
      const answer = await fetch(`${server.url}${request.url}`, { method: 'POST', body: new Uint8Array(body) });
      const text = await answer.text();
      const isOfRecords = isFailing && answer.ok && / FINAL\b/.test(body.toString());
      response.writeHead(answer.status).end(isOfRecords ? text + exception : text);
    });
    const fixture = await ArchiveFixture.create(server.connect({ database, url: await listen(proxy) }));
    await fixture.insert([
      {
        cluster: 'c',
        node: 'n',
        role: 'r',
        log: 'a.log',
        file: 'a.log',
        file_id: 'f',
        mark: '0123456789abcdef.s',
        day: '2026-11-10',
        time_ms: Date.UTC(2026, 10, 10),
        has_time: 1,
        level: 'INFO',
        tags: [],
        line: 'one',
        file_offset: 1,
      },
    ]);
    isFailing = true;
    return fixture;
  }

  const COUNT = { buckets: 10, bucketMs: 3_600_000 };

  it.each(FORMS)('is refused, not made of what came before an exception %s', async (_form, exception) => {
    const { state } = await failing(exception);
    const refused = { code: 'ARCHIVE_UNAVAILABLE', message: expect.stringContaining('Memory limit exceeded') };
    await expect(state.logHistogram(COUNT)).rejects.toMatchObject(refused);
    const search = collect(state.searchLogs({ order: 'oldest', limit: 10, before: 0, after: 0 }));
    await expect(search).rejects.toMatchObject(refused);
  });

  it.each(FORMS)('says that it is not complete if the time ran out, %s', async (_form, exception) => {
    const { state } = await failing(exception.replaceAll('Code: 241', 'Code: 159'));
    const search = collect(state.searchLogs({ order: 'oldest', limit: 10, before: 0, after: 0 }));
    const late = { code: 'ARCHIVE_UNAVAILABLE', message: expect.stringContaining('did not respond within') };
    const [end, error] = await search.then(({ end }) => [end, null]).catch((thrown) => [null, thrown]);
    if (end) expect(end.reason).toBe('time budget');
    else expect(error).toMatchObject(late);
  });
});
