import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { NodeConfig } from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { requestJson, requestProblem, sendRequest } from '../testing/send-request.ts';
import { shareTestNode, startTestNode } from '../testing/test-node.ts';

const LINES = 'first line\nsecond line\nthird line\n';

const lines = shareTestNode({ files: { 'a.log': LINES } });

describe('config', () => {
  it('is the running configuration as TOML, each setting with its meaning, default and variable', async () => {
    const { port } = await startTestNode({ settings: { http: { maxStreams: 77 } } });
    const { config } = await requestJson<NodeConfig>(port, '/api/v1/config');
    expect(parse(config)).toMatchObject({ http: { 'max-streams': 77 } });
    expect(config).toContain('# Maximum number of concurrent responses that read logs.');
    expect(config).toContain('# Default: 128. Environment: PORTHOLE_HTTP_MAX_STREAMS.');
  });

  it("of a sidecar is the service's own file, comments kept and secrets masked", async () => {
    const dir = tempDir();
    const configFile = join(dir, 'broker.toml');
    writeFileSync(configFile, '# the broker\n[user]\nname = "admin" # who\npassword = "hunter2-hunter2"\n');
    const { port } = await startTestNode({ settings: { service: { configFile } } });
    const { config } = await requestJson<NodeConfig>(port, '/api/v1/config');
    expect(config).toMatch(/^# the broker\n\[user\]\nname = "admin" # who\npassword = /);
    expect(config).not.toContain('hunter2');
  });
});

describe('node', () => {
  it('reports the bound ports, the bound address and a fixed time', async () => {
    const before = Date.now();
    const { port, running } = await startTestNode({ settings: { node: { hostName: 'db-1' } } });
    const { node } = await requestJson<NodeConfig>(port, '/api/v1/config');
    expect(node).toEqual({ ...running.node, hostIp: '127.0.0.1', hostName: 'db-1', httpPort: port, version: '0.1.0' });
    expect(node.grpcPort).toBeGreaterThan(0);
    expect(node.onlineTime).toBeGreaterThanOrEqual(before);
    expect((await requestJson<NodeConfig>(port, '/api/v1/config')).node.onlineTime).toBe(node.onlineTime);
  });

  it('reports the version of the service that embeds it', async () => {
    const { port } = await startTestNode({ version: 'lindb 9.9' });
    expect((await requestJson<NodeConfig>(port, '/api/v1/config')).node.version).toBe('lindb 9.9');
  });
});

describe('list', () => {
  it('has one entry per regular file, ordered by code units, and nothing else', async () => {
    const { port, logDir, dir } = await startTestNode({ files: { b: '12', B: '1', 'é.log': '', 'a.log': LINES } });
    mkdirSync(join(logDir, 'folder'));
    writeFileSync(join(dir, 'outside'), 'secret');
    symlinkSync('a.log', join(logDir, 'inside-link'));
    symlinkSync('../outside', join(logDir, 'outside-link'));
    symlinkSync('nowhere', join(logDir, 'dangling'));
    const server = createServer().listen(join(logDir, 'socket'));
    try {
      expect(await requestJson(port, '/api/v1/log/list')).toEqual([
        { name: 'B', size: 1 },
        { name: 'a.log', size: LINES.length },
        { name: 'b', size: 2 },
        { name: 'inside-link', size: LINES.length },
        { name: 'é.log', size: 0 },
      ]);
    } finally {
      server.close();
    }
  });

  it('of an empty or missing directory is empty', async () => {
    const { port, logDir } = await startTestNode();
    expect(await requestJson(port, '/api/v1/log/list')).toEqual([]);
    rmSync(logDir, { recursive: true });
    expect(await requestJson(port, '/api/v1/log/list')).toEqual([]);
  });
});

describe('view size', () => {
  it('counts bytes; absent or empty it is 1048576', async () => {
    const text = `${'x'.repeat(99)}\n`.repeat(20_000);
    const { port } = await startTestNode({ files: { 'a.log': text } });
    for (const query of ['file=a.log', 'file=a.log&size=', 'file=a.log&size=1048576']) {
      const { body } = await sendRequest(port, `/api/v1/log/view?${query}`);
      expect(body.length).toBe(1_048_500);
    }
  });

  it.each([
    '0',
    '-1',
    '1.5',
    '1e3',
    '%2B5',
    '+5',
    '%205',
    '5%20',
    'abc',
    '0x10',
    'NaN',
    'Infinity',
    '00',
    '%D9%A3',
    '%00',
  ])('of %s is refused as 400', async (size) => {
    const { port } = lines;
    const { status, code } = await requestProblem(port, `/api/v1/log/view?file=a.log&size=${size}`);
    expect({ status, code }).toEqual({ status: 400, code: 'SIZE_INVALID' });
  });

  it.each(['99999999999999999999', '9'.repeat(400), '9007199254740993', '34', '35', '0000034'])(
    'of %s, not smaller than the file, gives the whole file',
    async (size) => {
      const { port } = lines;
      expect((await sendRequest(port, `/api/v1/log/view?file=a.log&size=${size}`)).body.toString()).toBe(LINES);
    },
  );
});

describe('view cut', () => {
  it.each([
    { size: 11, text: 'third line\n', why: 'the byte before the window is a newline' },
    { size: 12, text: 'third line\n', why: 'of the line before, only the newline is in the window' },
    { size: 15, text: 'third line\n', why: 'the first line is cut and dropped' },
    { size: 23, text: 'second line\nthird line\n', why: 'two whole lines fit' },
    { size: 5, text: 'line\n', why: 'no complete line fits, so the bytes come as they are' },
    { size: 1, text: '\n', why: 'one byte is one byte' },
  ])('$size bytes: $why', async ({ size, text }) => {
    const { port } = lines;
    expect((await sendRequest(port, `/api/v1/log/view?file=a.log&size=${size}`)).body.toString()).toBe(text);
  });

  it('starts at a UTF-8 boundary where no line start is in the window', async () => {
    const { port } = await startTestNode({ files: { 'a.log': 'żółw'.repeat(100) } });
    const { body } = await sendRequest(port, '/api/v1/log/view?file=a.log&size=6');
    expect(body.toString()).toBe('ółw');
  });

  it('of an empty file is empty, and of no other', async () => {
    const { port } = await startTestNode({ files: { empty: '', newline: '\n' } });
    expect((await sendRequest(port, '/api/v1/log/view?file=empty')).headers['content-length']).toBe('0');
    expect((await sendRequest(port, '/api/v1/log/view?file=newline&size=1')).body.toString()).toBe('\n');
  });
});

describe('view bytes', () => {
  it('pass through as they are: CRLF, NUL, invalid UTF-8, no last newline, lines of any length', async () => {
    const long = randomBytes(3_000_000).map((byte) => (byte === 10 ? 0 : byte));
    const bytes = Buffer.concat([Buffer.from('a\r\nb\0c\n\xff\xfe\n', 'latin1'), long]);
    const { port } = await startTestNode({ files: { 'a.bin': bytes } });
    const { body } = await sendRequest(port, '/api/v1/log/view?file=a.bin&size=9999999');
    expect(body.equals(bytes)).toBe(true);
  });
});

describe('.gz files', () => {
  it('give the tail of the uncompressed text', async () => {
    const { port } = await startTestNode({ files: { 'a.log.gz': gzipSync(LINES) } });
    const { body, headers } = await sendRequest(port, '/api/v1/log/view?file=a.log.gz&size=23');
    expect(body.toString()).toBe('second line\nthird line\n');
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('that are damaged are reported with 422, and are still available raw', async () => {
    const { port } = await startTestNode({ files: { 'a.log.gz': 'this is not gzip' } });
    const { status, code } = await requestProblem(port, '/api/v1/log/view?file=a.log.gz');
    expect({ status, code }).toEqual({ status: 422, code: 'LOG_FILE_CORRUPT' });
    expect((await sendRequest(port, '/api/v1/log/raw?file=a.log.gz')).body.toString()).toBe('this is not gzip');
  });
});

describe('content type', () => {
  it('of a view is text that no browser guesses at and no one keeps', async () => {
    const { port } = await startTestNode({ files: { 'a.html': '<script>alert(1)</script>\n' } });
    const { headers } = await sendRequest(port, '/api/v1/log/view?file=a.html');
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-length': '26',
    });
  });
});

describe('query parameters', () => {
  it('that are unknown are ignored', async () => {
    const { port } = lines;
    const query = 'target=http%3A%2F%2Fevil%2F&path=..%2F..%2Fetc%2Fpasswd&file=a.log&File=b&__proto__=1';
    expect((await sendRequest(port, `/api/v1/log/view?${query}`)).body.toString()).toBe(LINES);
    expect((await sendRequest(port, '/api/v1/log/list?target=x&path=%2F')).status).toBe(200);
    expect((await sendRequest(port, '/api/v1/config?target=x&path=%2F')).status).toBe(200);
  });

  it.each(['file=a.log&file=b.log', 'file=a.log&file=a.log', 'file=a.log&size=1&size=2'])(
    'given twice are refused: %s',
    async (query) => {
      const { port } = lines;
      const { status, code, detail } = await requestProblem(port, `/api/v1/log/view?${query}`);
      expect({ status, code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
      expect(detail).toContain('2 times');
    },
  );
});

describe('the file', () => {
  it.each(['', '?size=5', '?file=', '?file', '?=a.log', '?FILE=a.log'])(
    'is asked for where the query %j names none',
    async (query) => {
      const { port } = lines;
      const { status, code } = await requestProblem(port, `/api/v1/log/view${query}`);
      expect({ status, code }).toEqual({ status: 400, code: 'FILE_NAME_MISSING' });
    },
  );

  it.each([
    '..',
    '.',
    '%2e%2e',
    '/etc/passwd',
    '../own/porthole.log',
    '..%2Foutside',
    '..%5Coutside',
    'a%00.log',
    'a.log%00',
    'x'.repeat(256),
    '%C3%A9'.repeat(128),
  ])('named %j is refused with 400 before the disk is touched', async (name) => {
    const { port } = lines;
    const { status, code } = await requestProblem(port, `/api/v1/log/view?file=${name}`);
    expect({ status, code }).toEqual({ status: 400, code: 'FILE_NAME_INVALID' });
  });

  it('that is absent is a 404 that names close matches', async () => {
    const { port } = await startTestNode({ files: { 'broker.log': LINES, 'storage.log': LINES } });
    const { status, code, detail } = await requestProblem(port, '/api/v1/log/view?file=brokr.log');
    expect({ status, code }).toEqual({ status: 404, code: 'LOG_FILE_NOT_FOUND' });
    expect(detail).toContain('did you mean "broker.log"?');
    expect(detail).not.toContain('storage');
  });

  it('that is a directory, a link out of it or nothing is a 404', async () => {
    const { port, logDir, dir } = await startTestNode();
    mkdirSync(join(logDir, 'folder'));
    writeFileSync(join(dir, 'outside'), 'secret');
    symlinkSync('../outside', join(logDir, 'leaves'));
    symlinkSync('nowhere', join(logDir, 'dangling'));
    for (const name of ['folder', 'leaves', 'dangling', 'absent', 'x'.repeat(255)]) {
      const { status, code } = await requestProblem(port, `/api/v1/log/view?file=${name}`);
      expect({ name, status, code }).toEqual({ name, status: 404, code: 'LOG_FILE_NOT_FOUND' });
    }
  });
});
