import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { Agent, WebSocket } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToken } from '../../auth/tokens.ts';
import { selfSigned } from '../../doctor/testing/self-signed.ts';
import { openSocket, sendRequest } from '../../testing/send-request.ts';
import { shareTestNode, startTestNode } from '../../testing/test-node.ts';

const START_MS = Date.parse('2026-11-15T05:00:00Z');
const LEVELS = ['INFO', 'INFO', 'WARN', 'ERROR'];

interface Line {
  timeMs: number;
  level: string;
  user: number;
  text: string;
}

/** A record every seven seconds, which falls on every offset from the steps of queries. */
const LINES: Line[] = Array.from({ length: 500 }, (_, index) => {
  const timeMs = START_MS + index * 7000;
  const level = LEVELS[index % 4] as string;
  const stamp = new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '');
  return {
    timeMs,
    level,
    user: index % 3,
    text: `${stamp}\t${level}\tx.go:1\t[A]: done user=u${index % 3} n=${index}`,
  };
});

const JSON_LINES = Array.from({ length: 20 }, (_, index) =>
  JSON.stringify({
    time: new Date(START_MS + index * 60_000).toISOString(),
    level: 'info',
    msg: `request ${index}`,
    user: { id: index % 4 },
    status: index % 5 === 0 ? 500 : 200,
  }),
);

const SETTINGS = { loki: { enabled: true }, node: { timeZone: 'UTC', labels: ['zone=eu-1'] } };

const node = shareTestNode({
  files: { 'a.log': LINES.map(({ text }) => `${text}\n`).join(''), 'web.log': `${JSON_LINES.join('\n')}\n` },
  settings: SETTINGS,
});

/** What the tests read of a response. */
interface Answer {
  status: string;
  warnings?: string[];
  // biome-ignore lint/suspicious/noExplicitAny: as many shapes as there are requests
  data: any;
}

async function ask(operation: string, parameters: Record<string, string>, port = node.port): Promise<Answer> {
  const { status, body } = await sendRequest(port, `/loki/api/v1/${operation}?${new URLSearchParams(parameters)}`);
  if (status !== 200) throw new Error(`${status} ${body}`);
  return JSON.parse(body.toString()) as Answer;
}

const RANGE = { start: `${START_MS}000000`, end: new Date(START_MS + 3_600_000).toISOString() };
const END = { time: String(START_MS / 1000 + 3600) };

/** By a loop over all lines, what `count_over_time` is at a time. */
function reference(timeMs: number, rangeMs: number, holds: (line: Line) => boolean): number {
  return LINES.filter((line) => holds(line) && line.timeMs >= timeMs - rangeMs && line.timeMs < timeMs).length;
}

describe('the routes of Loki', () => {
  it('do not exist unless they are enabled', async () => {
    const { port } = await startTestNode();
    const { status, body } = await sendRequest(port, '/loki/api/v1/labels');
    expect([status, body.toString()]).toEqual([404, expect.stringContaining('loki.enabled')]);
    expect((await sendRequest(port, '/loki/api/v1/tail?query={}')).status).toBe(404);
  });

  it('need the role of a viewer', async () => {
    const tokenFile = join(tempDir(), 'tokens');
    const [viewer, config] = [createToken('ann', ['viewer']), createToken('bob', ['config'])];
    writeFileSync(tokenFile, `${viewer.line}\n${config.line}\n`);
    const { port } = await startTestNode({ settings: { ...SETTINGS, auth: { tokenFile } } });
    const status = async (token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await sendRequest(port, '/loki/api/v1/labels', { headers })).status;
    };
    expect([await status(), await status(config.token), await status(viewer.token)]).toEqual([401, 403, 200]);
  });

  it('pass the check of Grafana', async () => {
    const { data } = await ask('query', { query: 'vector(1)+vector(1)', time: '4000000000', direction: 'backward' });
    expect(data).toMatchObject({ resultType: 'vector', result: [{ metric: {}, value: [4_000_000_000, '2'] }] });
    expect(await ask('status/buildinfo', {})).toMatchObject({ version: expect.any(String), goVersion: '' });
  });

  it('list labels, their values and streams', async () => {
    expect((await ask('labels', RANGE)).data).toEqual(['cluster', 'level', 'log', 'node', 'role', 'zone']);
    expect((await ask('label/log/values', RANGE)).data).toEqual(['a.log', 'web.log']);
    expect((await ask('label/log/values', { query: '{log=~"w.*"}' })).data).toEqual(['web.log']);
    expect((await ask('label/zone/values', RANGE)).data).toEqual(['eu-1']);
    expect((await ask('label/level/values', RANGE)).data).toContain('error');
    expect((await ask('series', { ...RANGE, 'match[]': '{log="a.log"}' })).data).toEqual([
      { cluster: 'porthole', node: expect.any(String), role: 'node', zone: 'eu-1', log: 'a.log' },
    ]);
    expect((await ask('series', { match: '{zone="us"}' })).data).toEqual([]);
  });

  it('estimate how much a query reads', async () => {
    expect(await ask('index/stats', { ...RANGE, query: '{log="a.log"}' })).toEqual({
      streams: 1,
      chunks: 1,
      bytes: LINES.reduce((sum, { text }) => sum + text.length + 1, 0),
    });
    const { result } = (await ask('index/volume', { ...RANGE, query: '{log=~".+"}' })).data;
    expect(result.map(({ metric }: { metric: object }) => metric)).toEqual([{ log: 'a.log' }, { log: 'web.log' }]);
    const byLabel = await ask('index/volume', {
      ...RANGE,
      query: '{log=~".+"}',
      aggregateBy: 'labels',
      targetLabels: 'zone',
    });
    expect(byLabel.data.result).toMatchObject([{ metric: { zone: '' } }]);
  });

  it('list what records have in common', async () => {
    const { data } = await ask('patterns', { ...RANGE, query: '{log="a.log"} |= "user=u1"' });
    expect(data.map(({ pattern, level }: { pattern: string; level: string }) => [pattern, level])).toEqual([
      ['<_>x.go:1<_>', 'info'],
      ['<_>x.go:1<_>', 'error'],
      ['<_>x.go:1<_>', 'warn'],
    ]);
    const counted = data.reduce((sum: number, { samples }: { samples: number[][] }) => sum + (samples[0]?.[1] ?? 0), 0);
    expect(counted).toBe(LINES.filter(({ user }) => user === 1).length);
    const { data: web } = await ask('patterns', { ...RANGE, query: '{log="web.log"}' });
    expect(web[0].pattern).toBe('<_>request <_><_>');
  });

  it('take the parameters of a form', async () => {
    const form = 'application/x-www-form-urlencoded';
    const send = (operation: string, body: string, type = form) =>
      sendRequest(node.port, `/loki/api/v1/${operation}`, { method: 'POST', body, headers: { 'content-type': type } });
    const selector = encodeURIComponent('{log="web.log"}');
    const { status, body } = await send('series', `match[]=${selector}&start=${RANGE.start}&end=${RANGE.end}`);
    expect(status, body.toString()).toBe(200);
    expect(JSON.parse(body.toString())).toMatchObject({ data: [{ log: 'web.log' }] });
    expect((await send('query_range', `query=${selector}`, 'application/json')).status).toBe(415);
    expect((await send('query_range', '{"query":1}')).body.toString()).toContain('"query" is missing');
  });
});

describe('a log query', () => {
  it('returns the newest records by stream, as their lines', async () => {
    const { data, warnings } = await ask('query_range', { ...RANGE, query: '{log="a.log"} |= "user=u1"', limit: '3' });
    expect(warnings).toBeUndefined();
    expect(data.resultType).toBe('streams');
    const values = data.result.flatMap(({ values }: { values: string[][] }) => values);
    const expected = LINES.filter(({ user }) => user === 1)
      .slice(-3)
      .reverse();
    expect(values.sort().reverse()).toEqual(expected.map(({ timeMs, text }) => [`${timeMs}000000`, text]));
    expect(data.result[0].stream).toMatchObject({ log: 'a.log', zone: 'eu-1', level: expect.any(String) });
  });

  it('returns the oldest ones of several logs', async () => {
    const { data } = await ask('query_range', {
      ...RANGE,
      query: '{log=~"a.log|web.log"}',
      limit: '4',
      direction: 'forward',
    });
    const times = data.result.flatMap(({ values }: { values: string[][] }) =>
      values.map(([time]) => Number(time) / 1e6),
    );
    expect(times.sort()).toEqual([0, 0, 7000, 14_000].map((offset) => START_MS + offset));
  });

  it('has an end that is exclusive and a start that is not', async () => {
    const query = { query: '{log="a.log"}', start: `${START_MS}000000`, end: `${START_MS + 7000}000000` };
    expect((await ask('query_range', query)).data.result[0].values).toHaveLength(1);
    const after = { ...query, start: `${START_MS}000001`, end: `${START_MS + 7000}000001` };
    expect((await ask('query_range', after)).data.result[0].values[0][0]).toBe(`${START_MS + 7000}000000`);
  });

  it('has the fields of records as labels behind a parser, and compares them', async () => {
    const query = '{log="web.log"} | json | status>=500 and user_id="0"';
    const { data } = await ask('query_range', { ...RANGE, query });
    expect(data.result).toHaveLength(1);
    expect(data.result[0].stream).toMatchObject({ log: 'web.log', level: 'info', user_id: '0', status: '500' });
    expect(data.result[0].values).toEqual([[`${START_MS}000000`, JSON_LINES[0]]]);
    const byText = await ask('query_range', { ...RANGE, query: '{log="web.log"} | json | msg="request 3"' });
    expect(byText.data.result[0].values).toEqual([[`${START_MS + 180_000}000000`, JSON_LINES[3]]]);
  });

  it('finds nothing for labels that nothing has', async () => {
    for (const query of ['{job="varlogs"}', '{node="other"}', '{log="no.log"}', '{level="none"}'])
      expect((await ask('query_range', { ...RANGE, query })).data.result, query).toEqual([]);
  });

  it('is no instant query, as in Loki', async () => {
    await expect(ask('query', { query: '{log="a.log"}' })).rejects.toThrow(/^400.*instant query type/);
  });

  it('says so if a member is missing in its result', async () => {
    const cluster = { nodeId: 'self', members: ['gone=http://127.0.0.1:1'] };
    const { port } = await startTestNode({
      files: { 'a.log': `${LINES[0]?.text}\n` },
      settings: { ...SETTINGS, cluster },
    });
    const found = await ask('query_range', { ...RANGE, query: '{log="a.log"}' }, port);
    expect(found.data.result).toHaveLength(1);
    expect(found.warnings?.join()).toContain('gone: no connection');
    const counted = await ask('query', { ...END, query: 'sum(count_over_time({log="a.log"}[2h]))' }, port);
    expect(counted.warnings?.join()).toContain('gone: no connection');
    const own = await ask('query_range', { ...RANGE, query: '{node="self"}' }, port);
    expect([own.warnings, own.data.result.length]).toEqual([undefined, 1]);
  });

  it('says so if it was limited', async () => {
    const { port } = await startTestNode({
      files: { 'a.log': LINES.map(({ text }) => `${text}\n`).join('') },
      settings: { ...SETTINGS, search: { maxRecords: 10 } },
    });
    const { warnings, data } = await ask('query_range', { ...RANGE, query: '{log="a.log"}', limit: '20' }, port);
    expect(data.result.flatMap(({ values }: { values: string[][] }) => values)).toHaveLength(10);
    expect(warnings).toEqual(['at most 10 records are returned, the limit set by search.max-records']);
  });
});

it('the nodes of a cluster are streams of their own, selected and counted by their labels', async () => {
  const files = { 'a.log': LINES.map(({ text }) => `${text}\n`).join('') };
  const other = { cluster: { nodeId: 'm' }, node: { timeZone: 'UTC', labels: ['zone=us-1'] } };
  const member = await startTestNode({ files: { 'a.log': `${LINES[3]?.text}\n` }, settings: other });
  const cluster = { nodeId: 'self', members: [`m=http://127.0.0.1:${member.port}`] };
  const { port } = await startTestNode({ files, settings: { ...SETTINGS, cluster } });
  await eventually(async () => expect((await ask('label/zone/values', {}, port)).data).toEqual(['eu-1', 'us-1']));
  const found = await ask('query_range', { ...RANGE, query: '{zone="us-1"}' }, port);
  expect(found.data.result).toMatchObject([{ stream: { node: 'm', zone: 'us-1', level: 'error' } }]);
  const count = async (labels: string) => {
    const query = `sum by (${labels}) (count_over_time({log="a.log"} |= "user=u0" [2h]))`;
    const { data } = await ask('query', { ...END, query }, port);
    const rows = data.result.map(({ metric, value }: { metric: object; value: string[] }) => [
      Object.values(metric).sort().join(),
      value[1],
    ]);
    return Object.fromEntries(rows) as Record<string, string>;
  };
  const errors = String(LINES.filter(({ level, user }) => level === 'ERROR' && user === 0).length);
  expect(await count('node')).toEqual({ self: '167', m: '1' });
  expect(await count('zone, level')).toMatchObject({ 'error,us-1': '1', 'error,eu-1': errors });
});

describe('a metric query', () => {
  it.each([
    [60, '1m'],
    [15, '5m'],
    [40, '90s'],
    [600, '30s'],
  ])('counts at steps of %i s over %s what a loop counts', async (step, range) => {
    const query = `sum by (level) (count_over_time({log="a.log"} |= "user=u2" [${range}]))`;
    const { data } = await ask('query_range', { ...RANGE, query, step: String(step) });
    const rangeMs = { '1m': 60_000, '5m': 300_000, '90s': 90_000, '30s': 30_000 }[range] as number;
    const startMs = Math.floor(START_MS / (step * 1000)) * step * 1000;
    const endMs = Math.floor((START_MS + 3_600_000) / (step * 1000)) * step * 1000;
    for (const level of ['INFO', 'WARN', 'ERROR']) {
      const expected: [number, string][] = [];
      for (let timeMs = startMs; timeMs <= endMs; timeMs += step * 1000) {
        const count = reference(timeMs, rangeMs, (line) => line.level === level && line.user === 2);
        if (count > 0) expected.push([timeMs / 1000, String(count)]);
      }
      const series = data.result.find(
        ({ metric }: { metric: { level: string } }) => metric.level === level.toLowerCase(),
      );
      expect(series.values).toEqual(expected);
    }
    expect(data.resultType).toBe('matrix');
  });

  it('is a rate by second, and the largest of several series', async () => {
    const all = await ask('query', { ...END, query: 'sum by (user) (rate({log="a.log"} | logfmt [1h]))' });
    const rate = (user: number) =>
      String(LINES.filter((line) => line.user === user && line.timeMs > START_MS).length / 3600);
    const values = all.data.result.map(({ metric, value }: { metric: { user: string }; value: string[] }) => [
      metric.user,
      value[1],
    ]);
    expect(Object.fromEntries(values)).toEqual({ u0: rate(0), u1: rate(1), u2: rate(2) });
    const top = await ask('query', { ...END, query: 'topk(1, sum by (level) (count_over_time({log="a.log"}[1h])))' });
    expect(top.data.result).toMatchObject([{ metric: { level: 'info' }, value: [START_MS / 1000 + 3600, '249'] }]);
  });

  it('has the labels of streams without an aggregation', async () => {
    const { data } = await ask('query', { ...END, query: 'count_over_time({zone="eu-1"} |~ "user" [1h])' });
    const labels = data.result.map(
      ({ metric }: { metric: { log: string; level: string } }) => `${metric.log} ${metric.level}`,
    );
    expect(labels.sort()).toEqual(['a.log error', 'a.log info', 'a.log warn', 'web.log info']);
  });

  it('counts records without the field as a series of their own', async () => {
    const { data } = await ask('query', {
      ...END,
      query: 'sum by (user, level) (count_over_time({log=~".+"} | json [2h]))',
    });
    const without = data.result.filter(({ metric }: { metric: object }) => !('user' in metric));
    expect(without).toMatchObject([
      { metric: { level: 'info' }, value: [expect.anything(), String(JSON_LINES.length)] },
    ]);
  });

  it('is what Grafana asks for the volume of logs', async () => {
    const query = 'sum by (level, detected_level) (count_over_time({log=~".+"} | drop __error__[1m]))';
    const { data } = await ask('query_range', { ...RANGE, query, step: '60' });
    expect(data.result.map(({ metric }: { metric: object }) => metric)).toEqual([
      { level: 'info' },
      { level: 'warn' },
      { level: 'error' },
    ]);
  });

  it.each([
    ['more counts than the engine makes', { query: 'rate({log="a.log"}[7s])', step: '0.013' }, 'use a larger step'],
    ['too many points', { query: 'vector(1)', step: '0.1' }, 'the step is too small'],
    ['several fields', { query: 'sum by (a, b) (rate({log="a.log"} | json [5m]))' }, 'by several fields'],
    ['all fields', { query: 'rate({log="a.log"} | json [5m])' }, 'use sum by'],
  ])('with %s is refused', async (_, parameters, detail) => {
    await expect(ask('query_range', { ...RANGE, ...(parameters as Record<string, string>) })).rejects.toThrow(detail);
  });
});

it('detected fields are those of the engine, by the names of labels', async () => {
  const { fields } = (await ask('detected_fields', { ...RANGE, query: '{log="web.log"}' })) as unknown as {
    fields: { label: string; type: string; cardinality: number }[];
  };
  expect(fields).toContainEqual({ label: 'user_id', type: 'float', cardinality: 4, parsers: ['json', 'logfmt'] });
});

it.each([
  ['query_range', {}, '"query" is missing'],
  ['query_range', { query: '{log="a"}', start: 'yesterday' }, '"start" must be a time'],
  ['query_range', { query: '{log="a"}', start: '20', end: '10' }, '"end" is before "start"'],
  ['query_range', { query: '{log="a"}', limit: '-1' }, '"limit" must be a whole number'],
  ['query_range', { query: '{log="a"}', direction: 'up' }, '"direction" must be'],
  ['query_range', { query: '{log="a"}', interval: '5s' }, '"interval" is not supported'],
  ['query_range', { query: '{log="a"} | line_format "x"' }, 'not supported here: line_format'],
  ['series', {}, '"match[]" is missing'],
  ['detected_labels', {}, '404 ROUTE_NOT_FOUND: Loki\'s "detected_labels" is not supported'],
  ['label/a%2fb/values', {}, '404 ROUTE_NOT_FOUND'],
  ['index/volume_range', { step: '1', limit: '100000' }, '404 ROUTE_NOT_FOUND'],
  ['push', {}, '404 ROUTE_NOT_FOUND'],
])('%s %j is refused', async (operation, parameters, detail) => {
  await expect(ask(operation, parameters as Record<string, string>)).rejects.toThrow(detail);
});

/** A WebSocket of another implementation, and what it has received. */
function openTail(port: number, parameters: Record<string, string>) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/loki/api/v1/tail?${new URLSearchParams(parameters)}`);
  const messages: { streams: { values: string[][] }[]; dropped_entries: unknown }[] = [];
  const codes: number[] = [];
  socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
  socket.addEventListener('close', ({ code }) => codes.push(code));
  onTestFinished(() => socket.close());
  const lines = () =>
    messages.flatMap(({ streams }) => streams.flatMap(({ values }) => values.map(([, line]) => line)));
  return { socket, messages, codes, lines };
}

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

/** What the node sends for a handshake and the bytes after it, up to the end of the connection or a moment of silence. */
async function exchangeFrames(
  port: number,
  frames: Buffer,
  { headers = '', query = '{log="a.log"}' } = {},
): Promise<Buffer> {
  const socket = openSocket(port);
  const target = `/loki/api/v1/tail?limit=1&query=${encodeURIComponent(query)}`;
  socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${UPGRADE}${KEY}${headers}\r\n`);
  socket.write(frames);
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function maskedFrame(first: number, payload: string): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const bytes = Buffer.from(payload).map((byte, at) => byte ^ (mask[at % 4] as number));
  return Buffer.concat([Buffer.from([first, 0x80 | bytes.length]), mask, bytes]);
}

describe('tail', () => {
  it('sends earlier records and what is written from then on', async () => {
    const { port, logDir } = await startTestNode({
      files: { 'a.log': LINES.map(({ text }) => `${text}\n`).join(''), 'b.log': '' },
      settings: SETTINGS,
    });
    const { lines, messages, socket, codes } = openTail(port, { query: '{log="a.log"} |= "user=u1"', limit: '2' });
    const earlier = LINES.filter(({ user }) => user === 1).slice(-2);
    await eventually(() => expect(lines().sort()).toEqual(earlier.map(({ text }) => text)));
    appendFileSync(join(logDir, 'a.log'), '2026-11-15 06:00:00.000\tWARN\tx.go:1\t[A]: late user=u1\n');
    appendFileSync(join(logDir, 'a.log'), '2026-11-15 06:00:01.000\tWARN\tx.go:1\t[A]: late user=u2\n');
    await eventually(() => expect(lines().at(-1)).toContain('late user=u1'));
    expect(messages[0]?.dropped_entries).toBeNull();
    socket.close();
    await eventually(() => expect(codes).toEqual([1000]));
  });

  it('is also one over TLS', async () => {
    const { certFile, keyFile } = selfSigned(tempDir(), { days: 2 });
    const tls = { certFile, keyFile };
    const { port } = await startTestNode({ files: { 'a.log': `${LINES[0]?.text}\n` }, settings: { ...SETTINGS, tls } });
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    const query = new URLSearchParams({ query: '{log="a.log"}' });
    const socket = new WebSocket(`wss://127.0.0.1:${port}/loki/api/v1/tail?${query}`, { dispatcher });
    onTestFinished(() => socket.close());
    const message = new Promise<string>((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => resolve(String(data)));
      socket.addEventListener('error', ({ error }) => reject(error));
    });
    expect(await message).toContain('user=u0');
  });

  it('ends with a reason when the node stops', async () => {
    const { port, running } = await startTestNode({ files: { 'a.log': `${LINES[0]?.text}\n` }, settings: SETTINGS });
    const { codes, messages } = openTail(port, { query: '{log="a.log"}' });
    await eventually(() => expect(messages).toHaveLength(1));
    await running.stop();
    await eventually(() => expect(codes).toEqual([1001]));
  });

  it('refuses what it cannot follow before it is a WebSocket', async () => {
    for (const query of ['{log="no.log"}', 'rate({log="a.log"}[5m])', '{log='])
      expect((await exchangeFrames(node.port, Buffer.alloc(0), { query })).toString(), query).toMatch(
        /^HTTP\/1.1 400 /,
      );
    const { status, body } = await sendRequest(
      node.port,
      '/loki/api/v1/tail?query={log="a.log"}'.replaceAll('"', '%22'),
    );
    expect([status, body.toString()]).toEqual([400, expect.stringContaining('WebSocket')]);
  });

  it('is not opened for a page of another origin, which could read it', async () => {
    const headers = 'Origin: http://elsewhere.example\r\n';
    expect((await exchangeFrames(node.port, Buffer.alloc(0), { headers })).toString()).toMatch(/^HTTP\/1.1 403 /);
    const own = `Origin: http://127.0.0.1:${node.port}\r\n`;
    const close = maskedFrame(0x88, '');
    expect((await exchangeFrames(node.port, close, { headers: own })).toString('latin1')).toMatch(/^HTTP\/1.1 101 /);
  });

  it.each([
    ['a close', maskedFrame(0x88, '\x03\xe8'), 1000],
    ['a frame without a mask', Buffer.from([0x81, 1, 65]), 1002],
    ['a fragment of a ping', maskedFrame(0x09, 'x'), 1002],
    ['a frame that is too long', Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0]), 1009],
    ['a medium frame that is too long', Buffer.from([0x81, 0xfe, 0xff, 0xff]), 1009],
  ])('closes the connection after %s', async (_, frame, code) => {
    const received = await exchangeFrames(node.port, frame);
    expect(received.toString('latin1')).toContain('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(received.subarray(-4)).toEqual(Buffer.from([0x88, 2, code >> 8, code & 0xff]));
  });

  it('answers pings, and ignores what else a client says', async () => {
    const frames = [maskedFrame(0x81, 'hello'), maskedFrame(0x89, 'are you there'), maskedFrame(0x88, '')];
    const received = (await exchangeFrames(node.port, Buffer.concat(frames))).toString('latin1');
    expect(received).toContain('\x8a\x0dare you there');
  });
});

it('a request that offers another protocol is served as if it did not, with its body', async () => {
  const { port } = node;
  const headers = {
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
  };
  expect((await sendRequest(port, '/health/live', { headers })).status).toBe(200);
  const post = {
    method: 'POST',
    body: '{"file":"a.log","limit":1}',
    headers: { ...headers, 'content-type': 'application/json' },
  };
  expect((await sendRequest(port, '/api/v1/log/search', post)).body.toString()).toContain('n=499');
});
