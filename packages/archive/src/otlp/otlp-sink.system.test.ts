import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseHeaders } from './parse-headers.ts';
import { OtlpReceiver, type ReceivedRequest, respond } from './testing/otlp-receiver.ts';
import { OtlpSetting, type OtlpTestOptions } from './testing/otlp-setting.ts';

const line = (index: number) =>
  `${new Date(Date.UTC(2026, 5, 1) + index * 10).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:7\tline ${index}\n`;
const lines = (count: number, from = 0) => Array.from({ length: count }, (_, index) => line(from + index)).join('');
const bodies = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `line ${from + index}`);

const isJson = ({ headers }: ReceivedRequest) => headers['content-type'] === 'application/json';

/** Ships ten lines to a receiver that does something else at first. */
async function meet(
  misbehave: (request: ReceivedRequest, response: ServerResponse, count: number) => 'handled' | undefined,
  options: OtlpTestOptions = {},
) {
  const setting = await OtlpSetting.create();
  let count = 0;
  setting.receiver.behaviour = (request, response) => misbehave(request, response, ++count);
  writeFileSync(setting.path, lines(10));
  const shipper = await setting.start(options);
  return { setting, shipper, receiver: setting.receiver };
}

const status = (response: ServerResponse, code: number, headers: Record<string, string> = {}, body = '') => {
  response.writeHead(code, headers).end(body);
  return 'handled' as const;
};

describe('what is sent again', () => {
  it.each([
    ['status 429', (response: ServerResponse) => status(response, 429), 'OTLP_BUSY'],
    ['status 502', (response: ServerResponse) => status(response, 502), 'OTLP_BUSY'],
    ['status 503', (response: ServerResponse) => status(response, 503), 'OTLP_BUSY'],
    ['status 504', (response: ServerResponse) => status(response, 504), 'OTLP_BUSY'],
    ['status 500, which may be over soon', (response: ServerResponse) => status(response, 500), 'OTLP_FAILED'],
    [
      'a page, as of a proxy',
      (response: ServerResponse) => status(response, 200, { 'content-type': 'text/html' }, '<p>'),
      'OTLP_FAILED',
    ],
    [
      'a connection that is reset',
      (response: ServerResponse) => {
        response.socket?.resetAndDestroy();
        return 'handled' as const;
      },
      'OTLP_UNREACHABLE',
    ],
    [
      'a response that is cut',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '10' }).write('x', () => response.socket?.destroy());
        return 'handled' as const;
      },
      'OTLP_UNREACHABLE',
    ],
  ])('after %s', async (_name, misbehave, code) => {
    const problems: (string | undefined)[] = [];
    const { receiver, shipper } = await meet(
      (_request, response, count) => (count <= 2 ? misbehave(response) : undefined),
      {
        report: (problem) => problems.push(problem?.code),
      },
    );
    await eventually(() => expect(receiver.bodies).toEqual(bodies(10)));
    await eventually(() => expect(shipper.status()).toMatchObject({ problem: null, retries: 2, refusedRecords: 0 }));
    expect(problems).toEqual([code, undefined]);
    // The very same bytes.
    const [first, ...others] = receiver.requests.slice(0, 3).map(({ bytes }) => bytes.toString('latin1'));
    expect(others).toEqual([first, first]);
  });

  it('no earlier than the receiver asks for, and later from time to time', async () => {
    const { setting, receiver } = await meet((_request, response, count) =>
      count <= 6 ? status(response, 503, count === 2 ? { 'retry-after': '7' } : {}) : undefined,
    );
    await eventually(() => expect(receiver.bodies).toEqual(bodies(10)));
    const [first = 0, asked = 0, ...others] = setting.waits.filter((ms) => ms >= 300);
    expect(first).toBeLessThan(1000);
    expect(asked).toBeGreaterThanOrEqual(7000);
    expect(asked).toBeLessThanOrEqual(10_500);
    expect(Math.max(...others)).toBeGreaterThan(5000);
  });

  it('a date in the far future is not waited for longer than an hour', async () => {
    const { setting, receiver } = await meet((_request, response, count) =>
      count === 1 ? status(response, 429, { 'retry-after': 'Fri, 31 Dec 2100 23:59:59 GMT' }) : undefined,
    );
    await eventually(() => expect(receiver.bodies).toEqual(bodies(10)));
    expect(Math.max(...setting.waits)).toBeGreaterThanOrEqual(3_600_000);
    expect(Math.max(...setting.waits)).toBeLessThanOrEqual(5_400_000);
  });

  it('what is not answered in time, also if bytes trickle', async () => {
    const { receiver, shipper } = await meet(
      (_request, response, count) => {
        if (count > 2) return undefined;
        if (count === 2) response.writeHead(200, { 'content-length': '1000' });
        const timer = setInterval(() => count === 2 && response.write('x'), 5);
        response.on('close', () => clearInterval(timer));
        return 'handled';
      },
      { timeoutMs: 300 },
    );
    await eventually(() => expect(new Set(receiver.bodies)).toEqual(new Set(bodies(10))));
    expect(shipper.status().retries).toBeGreaterThanOrEqual(2);
  });

  it('everything that was written and rotated while the receiver was down, in order', async () => {
    const setting = await OtlpSetting.create();
    const { path, receiver } = setting;
    writeFileSync(path, lines(10));
    const shipper = await setting.start();
    await eventually(() => expect(receiver.bodies).toEqual(bodies(10)));
    await receiver.stop();
    appendFileSync(path, lines(10, 10));
    await eventually(() => expect(shipper.status().problem?.code).toBe('OTLP_UNREACHABLE'));
    renameSync(path, `${path}.1`);
    writeFileSync(path, lines(10, 20));
    renameSync(`${path}.1`, `${path}.2`);
    renameSync(path, `${path}.1`);
    writeFileSync(path, lines(10, 30));
    await eventually(() => expect(shipper.status().logs[0]?.lagBytes).toBeGreaterThan(0));
    await receiver.listen();
    await eventually(() => expect(receiver.bodies).toEqual(bodies(40)));
    await eventually(() => expect(shipper.status().logs[0]).toMatchObject({ lagMs: 0, lagBytes: 0 }));
  });

  it('one batch is in flight and one waits, however much there is', async () => {
    let release: (() => void) | undefined;
    const { setting, shipper, receiver } = await meet(
      (request, response, count) => {
        if (count > 1) return undefined;
        release = () => respond(response, isJson(request), {});
        return 'handled';
      },
      { batchRows: 100 },
    );
    await eventually(() => expect(receiver.requests.length).toBe(1));
    appendFileSync(setting.path, lines(5000, 10));
    const polls = setting.waits.length;
    await eventually(() => expect(setting.waits.length).toBeGreaterThan(polls + 300));
    expect(receiver.requests.length).toBe(1);
    const { lagBytes = 0 } = shipper.status().logs[0] ?? {};
    expect(lagBytes).toBeGreaterThan(lines(4800, 200).length);
    release?.();
    // Of the first ten, the last one was not complete until another one followed.
    await eventually(() => expect(receiver.bodies).toEqual(bodies(5001, 9)));
  });
});

describe('what is not sent again', () => {
  it.each([400, 422])('records that are refused with %i are counted, and those after them are sent', async (code) => {
    const { setting, shipper, receiver } = await meet((_request, response, count) =>
      count === 1 ? status(response, code, { 'content-type': 'text/plain' }, 'bad\n\u001b[31m data') : undefined,
    );
    await eventually(() => expect(shipper.status().refusedRecords).toBeGreaterThan(0));
    expect(setting.refusals[0]).toMatchObject({ detail: `status ${code}: bad [31m data` });
    const { refusedRecords } = shipper.status();
    appendFileSync(setting.path, lines(5, 10));
    await eventually(() => expect(receiver.bodies).toEqual(bodies(15 - refusedRecords, refusedRecords)));
    expect(receiver.requests.filter(({ bytes }) => bytes.equals(receiver.requests[0]?.bytes ?? bytes))).toHaveLength(1);
  });

  it.each(['protobuf', 'json'] as const)('the part that a receiver has refused of a batch (%s)', async (encoding) => {
    const { setting, shipper, receiver } = await meet(
      (request, response, count) => {
        if (count > 1) return undefined;
        respond(response, isJson(request), { partialSuccess: { rejectedLogRecords: 3, errorMessage: 'too old' } });
        return 'handled';
      },
      { encoding },
    );
    await eventually(() => expect(shipper.status()).toMatchObject({ refusedRecords: 3, problem: null }));
    expect(setting.refusals).toEqual([{ records: 3, detail: 'too old' }]);
    await eventually(() => expect(shipper.status().shippedRecords + receiver.bodies.length).toBeGreaterThanOrEqual(7));
  });

  it.each([
    ['garbage', 'application/x-protobuf', '\u0007\u0007\u0007'],
    ['half of an object', 'application/json', '{"partialSuccess":'],
    ['a text', 'text/plain', 'ok, thanks'],
  ])('a batch that was taken with %s for a response', async (_name, type, body) => {
    const { setting, shipper, receiver } = await meet((_request, response, count) =>
      count === 1 ? status(response, 200, { 'content-type': type }, body) : undefined,
    );
    await eventually(() =>
      expect(setting.refusals[0]).toEqual({ records: 0, detail: 'the response is not one of OTLP' }),
    );
    await eventually(() => expect(shipper.status()).toMatchObject({ retries: 0, refusedRecords: 0 }));
    expect(receiver.requests.filter(({ bytes }) => bytes.equals(receiver.requests[0]?.bytes ?? bytes))).toHaveLength(1);
  });

  it.each([403, 500, 501])('a batch that only %i comes of, when an empty one is taken', async (code) => {
    const poison = (request: ReceivedRequest) => request.bytes.includes('line 3');
    const { setting, shipper, receiver } = await meet(
      (request, response) => (poison(request) ? status(response, code) : undefined),
      { batchRows: 1 },
    );
    appendFileSync(setting.path, lines(2, 10));
    await eventually(() => expect(receiver.bodies).toEqual(bodies(12).filter((body) => body !== 'line 3')));
    expect(shipper.status().refusedRecords).toBe(1);
    expect(setting.refusals).toEqual([{ records: 1, detail: `status ${code}` }]);
    expect(receiver.requests.filter(poison).length).toBe(6);
  });
});

it.each(['protobuf', 'json'] as const)(
  'a batch that is too large is sent in parts, and the next ones are smaller (%s)',
  async (encoding) => {
    for (const compression of ['gzip', 'none'] as const) {
      const { setting, shipper, receiver } = await meet(
        (request, response) => (request.bytes.length > 8000 ? status(response, 413) : undefined),
        { encoding, compression },
      );
      appendFileSync(setting.path, `${lines(500, 10)}`);
      appendFileSync(setting.path, `2026-06-02 10:00:00.000\tINFO\ta.go:7\t${'x'.repeat(9000)}\n${line(2_000_000)}`);
      await eventually(() => expect(receiver.bodies).toEqual([...bodies(510), 'line 2000000']));
      expect(shipper.status()).toMatchObject({ refusedRecords: 1, problem: null });
      const refused = receiver.requests.length - receiver.taken.length;
      appendFileSync(setting.path, lines(500, 2_000_001));
      await eventually(() => expect(receiver.bodies.length).toBe(1011));
      // Not each of them is sent twice.
      expect(receiver.requests.length - receiver.taken.length - refused).toBeLessThanOrEqual(2);
      await setting.stop();
    }
  },
);

describe('credentials', () => {
  it('a receiver that refuses everything is waited for, until the file has the right token', async () => {
    const headersFile = join(tempDir(), 'headers');
    writeFileSync(headersFile, '# a token\nAuthorization: Bearer wrong\nX-Scope-OrgID: team\n');
    const { shipper, receiver } = await meet(
      ({ headers }, response) => (headers.authorization === 'Bearer right' ? undefined : status(response, 401)),
      { headersFile },
    );
    await eventually(() => expect(shipper.status().problem?.code).toBe('OTLP_DENIED'));
    expect(JSON.stringify(shipper.status())).not.toContain('wrong');
    writeFileSync(headersFile, 'Authorization: Bearer right\r\nX-Scope-OrgID: team\r\n');
    await eventually(() => expect(receiver.bodies).toEqual(bodies(10)));
    expect(receiver.taken[0]?.headers['x-scope-orgid']).toBe('team');
    expect(shipper.status().refusedRecords).toBe(0);
  });

  it('a file of headers that is missing or broken is a problem that names it, and not what is in it', async () => {
    const headersFile = join(tempDir(), 'headers');
    const { shipper, receiver } = await meet(() => undefined, { headersFile });
    await eventually(() => expect(shipper.status().problem?.detail).toContain(`cannot read ${headersFile}`));
    writeFileSync(headersFile, 'secret-without-name\n');
    await eventually(() =>
      expect(shipper.status().problem?.detail).toContain(`line 1 of ${headersFile} is not a header`),
    );
    expect(shipper.status().problem?.detail).not.toContain('secret-without-name');
    writeFileSync(headersFile, '');
    await eventually(() => expect(receiver.bodies).toEqual(bodies(10)));
  });

  it.each(['Content-Length: 1', 'host: x', 'Transfer-Encoding: chunked', 'a b: c', ': x', 'x: \u0001'])(
    'the header %j is refused',
    (text) => {
      expect(() => parseHeaders(text, 'f')).toThrow(/^(?:line 1 of f is not a header|f has the header)/);
    },
  );

  it('a certificate is checked with the authority of the settings, and shown if one is asked for', async () => {
    const dir = tempDir();
    // programs: openssl
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' });
    for (const name of ['one', 'other'])
      openssl(
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        '-addext',
        'subjectAltName=IP:127.0.0.1',
        '-keyout',
        `${name}.key`,
        '-out',
        `${name}.crt`,
      );
    const read = (name: string) => readFileSync(join(dir, name));
    const tls = {
      cert: read('one.crt'),
      key: read('one.key'),
      ca: read('one.crt'),
      requestCert: true,
      rejectUnauthorized: true,
    };
    const receiver = await OtlpReceiver.start(tls);
    onTestFinished(() => receiver.stop());
    const setting = await OtlpSetting.create();
    writeFileSync(setting.path, lines(3));
    const caFile = join(dir, 'ca.crt');
    writeFileSync(caFile, read('other.crt'));
    const own = { certFile: join(dir, 'one.crt'), keyFile: join(dir, 'one.key') };
    const shipper = await setting.start({ url: `https://127.0.0.1:${receiver.port}/otlp/`, caFile, ...own });
    await eventually(() => expect(shipper.status().problem).toMatchObject({ code: 'OTLP_DENIED' }));
    expect(receiver.requests).toEqual([]);
    // Replaced while the node runs.
    writeFileSync(caFile, read('one.crt'));
    await eventually(() => expect(receiver.bodies).toEqual(bodies(3)));
    expect(receiver.taken[0]?.url).toBe('/otlp/v1/logs');
  });
});
