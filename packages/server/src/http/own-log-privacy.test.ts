import { readFileSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { getMemberRoute, getRoute, MEMBER_ROUTE_IDS, ROUTE_IDS, searchItems } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { connectNode } from '../grpc/testing/connect.ts';
import type { LogMethod } from '../own-log/own-log.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';
import { RequestLog } from '../transport/request-log.ts';

/** What someone searches for, and nobody else may learn of. */
const MARKER = 'Zq7Marker';

const HEADERS = {
  'user-agent': MARKER,
  referer: `http://${MARKER.toLowerCase()}/`,
  cookie: `a=${MARKER}`,
  'x-forwarded-for': MARKER,
  'x-request-id': MARKER,
  'porthole-via': MARKER,
  'if-none-match': `"${MARKER}"`,
  'last-event-id': MARKER,
  accept: `text/${MARKER}`,
};

interface Sent {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Every route with the marker wherever a client can put something: one request for each parameter, and one for all. */
function requests(): Sent[] {
  const routes = [...ROUTE_IDS.map(getRoute), ...MEMBER_ROUTE_IDS.map(getMemberRoute)];
  const sent: Sent[] = routes.flatMap(({ path, parameters }) => {
    const filled = path.replace(/\{[^}]*\}/g, MARKER);
    const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    const all = names.map((name) => `${name}=${MARKER}`).join('&');
    return [
      { path: filled },
      { path: `${filled}?${all}` },
      { path: `${filled}?unknown=${MARKER}&${MARKER}=1` },
      { path: `${filled}?${all}`, method: 'POST', body: `q=${MARKER}` },
      ...['PUT', 'DELETE', 'HEAD', 'OPTIONS'].map((method) => ({ path: filled, method })),
      ...names.map((name) => ({ path: `${filled}?${name}=${MARKER}` })),
    ];
  });
  return [
    ...sent,
    { path: `/${MARKER}` },
    { path: `/api/v1/${MARKER}?q=${MARKER}` },
    { path: `/api/v1/log/search?regex=(${MARKER}` },
    { path: `/api/v1/log/search?q=${MARKER}&from=${MARKER}` },
    { path: `/api/v1/log/view?file=../${MARKER}` },
    { path: `/${MARKER.repeat(1000)}` },
    { path: '/api/v1/log/list', headers: { authorization: `Bearer ${MARKER}` } },
    { path: '/api/v1/log/list', headers: { host: MARKER } },
  ];
}

async function send({ port }: TestNode, { path, method = 'GET', headers = {}, body }: Sent): Promise<void> {
  const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...HEADERS, ...type, ...headers },
    ...(body !== undefined && { body }),
  });
  await response.body?.cancel();
}

/** Not understood by the parser of HTTP. */
async function sendGarbage({ port }: TestNode): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.end(`GET /${MARKER} ${MARKER}\r\n${MARKER}\r\n\r\n`);
  await new Promise((resolve) => socket.on('close', resolve).on('error', resolve).resume());
}

/** Names of files and texts in calls, and a method that is made up. */
async function sendCalls({ running }: TestNode): Promise<void> {
  const { grpcPort } = running.node;
  const node = connectNode(grpcPort);
  const failures: unknown[] = [];
  const note = (error: unknown) => failures.push(error);
  await node.viewLog({ file: MARKER, sizeBytes: 10 }).catch(note);
  await node.openLog({ file: MARKER }).catch(note);
  const search = async (more: object) => {
    const query = { order: 'newest', limit: 5, before: 0, after: 0, terms: [MARKER], ...more } as const;
    for await (const items of searchItems(node, query)) expect(items).toBeDefined();
  };
  await search({}).catch(note);
  await search({ src: [`=${MARKER}`] }).catch(note);
  await search({ regex: `(${MARKER}` }).catch(note);
  expect(failures.length).toBeGreaterThan(3);
  const session = connectHttp2(`http://127.0.0.1:${grpcPort}`);
  const call = session.request({
    ...{ ':method': 'POST', ':path': `/x.${MARKER}/${MARKER}`, te: 'trailers' },
    ...{ 'content-type': 'application/grpc', 'x-marker': MARKER, authorization: `Bearer ${MARKER}` },
  });
  call.end(Buffer.alloc(5));
  await new Promise((resolve) => call.on('close', resolve).on('error', resolve).resume());
  session.close();
}

const readOwnLog = ({ dir, running }: TestNode) => {
  running.flushLogSync();
  return readFileSync(join(dir, 'own', 'porthole.log'), 'utf8');
};

describe('at debug level the own log', () => {
  it.each(['open to all', 'with tokens'])('holds nothing that clients have sent to a node %s', async (kind) => {
    const tokenFile = join(tempDir(), 'tokens');
    writeFileSync(tokenFile, `${createToken('ann', ['viewer']).line}\n`);
    const auth = kind === 'with tokens' ? { tokenFile, maxFailuresPerMinute: 0 } : { allowAnonymous: true };
    const node = await startTestNode({
      settings: { logging: { level: 'debug', access: 'all' }, auth },
      files: { 'a.log': `2026-11-15T10:00:00.000Z INFO ${MARKER}\n` },
    });
    const all = requests();
    for (const request of all) await send(node, request);
    await sendGarbage(node);
    await sendCalls(node);
    await eventually(() => {
      const answered = readOwnLog(node).match(/: answered\t/g) ?? [];
      expect(answered.length).toBeGreaterThanOrEqual(all.length);
    });
    const lines = readOwnLog(node).split('\n');
    expect(lines.filter((line) => line.toLowerCase().includes(MARKER.toLowerCase()))).toEqual([]);
    // What was sent is where nobody looks without the machine.
    if (kind === 'open to all')
      await eventually(() => expect(readFileSync(join(node.dir, 'own', 'access.log'), 'utf8')).toContain(MARKER));
  });

  it('names a request by its id, method, route and outcome, and the access log has the same id', async () => {
    const settings = { logging: { level: 'debug', access: 'all' }, auth: { allowAnonymous: true } } as const;
    const node = await startTestNode({ settings });
    await send(node, { path: '/api/v1/log/view?file=missing.log' });
    await eventually(() => {
      const [line] = readOwnLog(node)
        .split('\n')
        .filter((text) => text.includes(': answered'));
      const context = JSON.parse(line?.split('\t').at(-1) ?? '{}') as Record<string, unknown>;
      expect(context).toMatchObject({ method: 'GET', route: '/api/v1/log/view', status: 404 });
      expect(Object.keys(context).sort()).toEqual(['bytes', 'id', 'method', 'ms', 'route', 'status']);
      expect(readFileSync(join(node.dir, 'own', 'access.log'), 'utf8')).toContain(`"id":"${context.id}"`);
    });
  });
});

describe('of a failure', () => {
  it('the location in the code is logged and the message is not', () => {
    const written: unknown[] = [];
    const write: LogMethod = (...record) => written.push(record);
    const log = new RequestLog({ debug: write, info: write, warn: write, error: write, isEnabled: () => true });
    const request = { id: log.newId(), method: 'GET', route: '/api/v1/log/view' };
    const cause = Object.assign(new Error(`${MARKER}\n    at ${MARKER}`), {
      code: 'ENOENT',
      syscall: 'open',
      path: MARKER,
    });
    const error = Object.assign(new TypeError(`no such file: ${MARKER}`, { cause }), { code: MARKER });
    log.failed(request, error);
    log.cut(request, error, 7);
    log.unfinished(request, error);
    error.message = 'another';
    log.failed(request, error);
    log.failed(request, MARKER);
    const text = JSON.stringify(written);
    expect(text).not.toContain(MARKER);
    expect(text).toContain('TypeError');
    expect(text).toContain('ENOENT');
    expect(text).toContain('own-log-privacy.test.ts');
  });
});
