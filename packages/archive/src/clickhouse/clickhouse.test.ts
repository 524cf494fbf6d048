import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { quote, quoteName } from './quote.ts';

let server: TestClickHouse;

beforeAll(async () => {
  server = await startClickHouse({
    users: { writer: { password: 'right' }, reader: { password: '', profile: 'readonly' } },
  });
});

afterAll(() => server.stop());

describe('statements', () => {
  it('return rows, and 64-bit integers as numbers', async () => {
    const rows = await server.connect().query('SELECT toUInt64(number) AS n, toString(number) AS text FROM numbers(3)');
    expect(rows).toEqual([0, 1, 2].map((n) => ({ n, text: String(n) })));
  });

  it('insert rows that are compressed; what was changed on its way, or is not whole, is refused', async () => {
    const clickhouse = server.connect();
    await clickhouse.execute('CREATE TABLE packed (n UInt32, text String) ENGINE = MergeTree ORDER BY n');
    const rows = [...Array(400).keys(), 300_000].map((n) => ({ n, text: randomText(n) }));
    const packed = gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { level: 1 });
    const insert = (body: Buffer) => clickhouse.insert('INSERT INTO packed FORMAT JSONEachRow', { body, isGzip: true });
    const damaged = gzipSync('{"n":1,"text":"abcdefghijklmnop"}\n', { level: 0 });
    damaged[damaged.indexOf('abc')] = 0x78;
    await expect(insert(damaged)).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' });
    await expect(insert(packed.subarray(0, -9))).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' });
    expect(await clickhouse.query('SELECT n FROM packed')).toEqual([]);
    await insert(packed);
    expect(await clickhouse.query('SELECT n, text FROM packed ORDER BY n')).toEqual(rows);
  });

  it.each([
    ['SELECT * FROM missing', 'ARCHIVE_SCHEMA', 60],
    ['SELEC 1', 'ARCHIVE_FAILED', 62],
    ['SELECT nothing', 'ARCHIVE_SCHEMA', 47],
  ])('%s fails with %s', async (sql, code, serverCode) => {
    await expect(server.connect().query(sql)).rejects.toMatchObject({ code, serverCode });
  });

  it('an error behind the first rows is an error, not the end of the result', async () => {
    const sql = 'SELECT throwIf(number = 3000000) AS thrown, number FROM numbers(10000000)';
    const received: number[] = [];
    const read = async () => {
      for await (const lines of server.connect().stream(sql, { settings: { max_block_size: 1000 } })) {
        received.push(lines.length);
        expect(lines.at(-1)).toBe(10);
      }
    };
    await expect(read()).rejects.toMatchObject({ name: 'ArchiveError' });
    expect(received.length).toBeGreaterThan(0);
  });

  it('a result that is too large is an error', async () => {
    const result = server.connect().query('SELECT number FROM numbers(100000)', { maxBytes: 10_000 });
    await expect(result).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' });
  });

  it('a query that takes too long is stopped by the server', async () => {
    const slow = 'SELECT count() AS n FROM numbers(100000000000) WHERE NOT ignore(sipHash64(number))';
    const result = server.connect().query(slow, { settings: { max_execution_time: 1 } });
    await expect(result).rejects.toMatchObject({ code: 'ARCHIVE_TIMEOUT' });
  });

  it('the signal ends a request', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(server.connect().query('SELECT 1', { signal })).rejects.toThrow('enough');
  });
});

describe('quote', () => {
  it('keeps every text as it is', async () => {
    const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
    const texts = [all, "'; DROP TABLE x; --", '\\', "\\'", '%_*?', '😀\u2028', '`"$${}', ''];
    const [row] = await server.connect().query<{ texts: string[] }>(`SELECT [${texts.map(quote).join(', ')}] AS texts`);
    expect(row?.texts).toEqual(texts);
  });

  it('keeps every name as it is', async () => {
    const name = 'a`b\'c\\d e"f';
    expect(await server.connect().query(`SELECT 1 AS ${quoteName(name)}`)).toEqual([{ [name]: 1 }]);
  });
});

describe('failures', () => {
  it('a server that is away', async () => {
    const clickhouse = server.connect({ url: 'http://127.0.0.1:1' });
    await expect(clickhouse.query('SELECT 1')).rejects.toMatchObject({ code: 'ARCHIVE_UNREACHABLE' });
  });

  it('a server that does not respond', async () => {
    await server.pause();
    try {
      const result = server.connect({ timeoutMs: 200 }).query('SELECT 1');
      await expect(result).rejects.toMatchObject({ code: 'ARCHIVE_TIMEOUT' });
    } finally {
      server.resume();
    }
  });

  it('a wrong password, until its file has the right one', async () => {
    const passwordFile = join(server.dir, 'password');
    writeFileSync(passwordFile, 'wrong\n');
    const clickhouse = server.connect({ user: 'writer', passwordFile });
    await expect(clickhouse.query('SELECT 1')).rejects.toMatchObject({ code: 'ARCHIVE_DENIED', serverCode: 193 });
    writeFileSync(passwordFile, 'right\n');
    expect(await clickhouse.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('a password file that is missing is named', async () => {
    const clickhouse = server.connect({ user: 'writer', passwordFile: '/nowhere/password' });
    await expect(clickhouse.query('SELECT 1')).rejects.toThrow('/nowhere/password');
  });

  it('a user that may only read', async () => {
    const made = server.connect({ user: 'reader' }).execute('CREATE TABLE t (n UInt8) ENGINE = Memory');
    await expect(made).rejects.toMatchObject({ code: 'ARCHIVE_DENIED' });
  });
});

/** Hardly anything in it repeats, and always the same. */
function randomText(length: number): string {
  let state = length + 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return String.fromCharCode(33 + ((state >>> 24) % 90));
  }).join('');
}
