import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, scaled } from '@porthole/logs/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ClickHouse } from './clickhouse.ts';

/* A server that misbehaves in the middle of a response. An error that nobody owns would fail this file as unhandled. */

const ROWS = '{"n":1}\n{"n":2}\n';
const LENGTH = `HTTP/1.1 200 OK\r\nContent-Length: ${ROWS.length}\r\n\r\n${ROWS}`;
const CHUNKED = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${ROWS.length.toString(16)}\r\n${ROWS}\r\n0\r\n\r\n`;
const REFUSED = `HTTP/1.1 500 Internal Server Error\r\nContent-Length: 40\r\n\r\nCode: 60. DB::Exception: no table. (X)\r\n`;
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** How a response stops. */
const STOPS = {
  reset: (socket: Socket) => socket.resetAndDestroy(),
  end: (socket: Socket) => socket.end(),
  stall: () => {},
} as const;

type Stop = keyof typeof STOPS;

interface RawServer {
  url: string;
  sockets: Set<Socket>;
  stop(): Promise<void>;
}

let raw: RawServer | undefined;

afterEach(async () => {
  await raw?.stop();
  raw = undefined;
});

/** Sends these bytes in response to whatever it is sent, then stops. */
async function startRaw(respond: () => { bytes: string; stop: Stop }): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    socket.on('data', () => {
      const { bytes, stop } = respond();
      // A reset drops what is not yet sent: the client must have read it before.
      socket.write(bytes, () => setImmediate(() => STOPS[stop](socket)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    sockets,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const IDLE_MS = scaled(100);

async function connectTo(bytes: string, stop: Stop): Promise<ClickHouse> {
  raw = await startRaw(() => ({ bytes, stop }));
  return new ClickHouse({ url: raw.url, database: 'x', timeoutMs: IDLE_MS });
}

describe.each([
  ['with a length', LENGTH],
  ['in chunks', CHUNKED],
])('a response %s', (_kind, whole) => {
  it.each(['reset', 'end'] as const)('that is cut at any byte (%s) is an error of the archive', async (stop) => {
    let bytes = '';
    raw = await startRaw(() => ({ bytes, stop }));
    const clickhouse = new ClickHouse({ url: raw.url, database: 'x', timeoutMs: 5000 });
    for (let end = 0; end < whole.length; end++) {
      bytes = whole.slice(0, end);
      await expect(clickhouse.query('SELECT n'), `cut at ${end}`).rejects.toMatchObject({ name: 'ArchiveError' });
      await expect(clickhouse.execute('SELECT n'), `cut at ${end}`).rejects.toMatchObject({ name: 'ArchiveError' });
    }
    bytes = whole;
    expect(await clickhouse.query('SELECT n')).toEqual([{ n: 1 }, { n: 2 }]);
    clickhouse.close();
  });

  it.each([
    ['the head', 20],
    ['the body', -6],
  ])('that stalls in %s fails after the idle time, and its connection is closed', async (_where, end) => {
    const clickhouse = await connectTo(whole.slice(0, end), 'stall');
    await expect(clickhouse.query('SELECT n')).rejects.toMatchObject({ code: 'ARCHIVE_TIMEOUT' });
    await expect(clickhouse.execute('SELECT n')).rejects.toMatchObject({ code: 'ARCHIVE_TIMEOUT' });
    await eventually(() => expect(raw?.sockets.size).toBe(0));
  });

  it('that stalls is ended by the signal, with its reason', async () => {
    const clickhouse = await connectTo(whole.slice(0, -6), 'stall');
    const leaving = new AbortController();
    const inserted = clickhouse.insert('INSERT', { body: Buffer.from('x'), timeoutMs: 60_000, signal: leaving.signal });
    const rejected = expect(inserted).rejects.toThrow('enough');
    await eventually(() => expect(raw?.sockets.size).toBe(1));
    leaving.abort(new Error('enough'));
    await rejected;
    await eventually(() => expect(raw?.sockets.size).toBe(0));
  });
});

describe('an error', () => {
  it.each(['reset', 'end'] as const)('that is cut in its body (%s) is an error of the archive', async (stop) => {
    for (const end of [-42, -41, -20, -1]) {
      const clickhouse = await connectTo(REFUSED.slice(0, end), stop);
      await expect(clickhouse.query('SELECT n')).rejects.toMatchObject({ name: 'ArchiveError' });
      await raw?.stop();
    }
  });

  it('that stalls in its body fails after the idle time', async () => {
    const clickhouse = await connectTo(REFUSED.slice(0, -1), 'stall');
    await expect(clickhouse.query('SELECT n')).rejects.toMatchObject({ code: 'ARCHIVE_TIMEOUT' });
  });

  it('that does not end is read to its limit', async () => {
    const head = 'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 10000000\r\n\r\n';
    const clickhouse = await connectTo(`${head}${'x'.repeat(100_000)}`, 'stall');
    await expect(clickhouse.query('SELECT n')).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' });
    await eventually(() => expect(raw?.sockets.size).toBe(0));
  });
});

it('a server that switches to another protocol is an error of the archive', async () => {
  const clickhouse = await connectTo(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'stall',
  );
  await expect(clickhouse.query('SELECT n')).rejects.toMatchObject({ code: 'ARCHIVE_UNREACHABLE' });
});

it('a reader that takes its time does not make the server late', async () => {
  const lines = '{"n":1}\n'.repeat(100_000);
  const clickhouse = await connectTo(`HTTP/1.1 200 OK\r\nContent-Length: ${lines.length}\r\n\r\n${lines}`, 'stall');
  let bytes = 0;
  for await (const chunk of clickhouse.stream('SELECT n')) {
    if (bytes === 0) await delay(3 * IDLE_MS); // pause: the slowness of a reader
    bytes += chunk.length;
  }
  expect(bytes).toBe(lines.length);
  clickhouse.close();
});

it('a connection that was closed while it was idle is replaced', async () => {
  let requests = 0;
  raw = await startRaw(() => ({ bytes: ++requests === 2 ? '' : EMPTY, stop: requests === 2 ? 'reset' : 'stall' }));
  const clickhouse = new ClickHouse({ url: raw.url, database: 'x', timeoutMs: 5000 });
  await clickhouse.execute('SELECT 1');
  await clickhouse.execute('SELECT 1');
  expect(requests).toBe(3);
  clickhouse.close();
});
