import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { MAX_BODY_BYTES, PATHS } from '@porthole/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type GuardedNode, startGuardedNode } from '../auth/testing/guarded-node.ts';
import { createTlsClient } from '../auth/testing/tls-client.ts';

const LINE = '2026-11-15 10:00:00.000\tINFO\ta.go:1\t[A]: hello\n';

async function serve() {
  const node = await startGuardedNode({
    files: { 'a.log': LINE.repeat(4000) },
    settings: { node: { timeZone: 'UTC' } },
  });
  return { node, session: open(node) };
}

/** As curl and browsers do it: HTTP/2 is chosen in the TLS handshake. */
function open({ port, authority }: GuardedNode, certificate?: { cert: Buffer; key: Buffer }): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, { ca: authority.cert, ...certificate });
  session.on('error', () => {}); // reported by its streams
  onTestFinished(() => session.destroy());
  return session;
}

function begin(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): ClientHttp2Stream {
  const stream = session.request(headers, { endStream: body === undefined });
  stream.on('error', () => {}); // seen as its code
  if (body !== undefined) stream.end(body);
  return stream;
}

async function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string) {
  const stream = begin(session, headers, body);
  const [head] = (await once(stream, 'response')) as [OutgoingHttpHeaders];
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return { status: head[':status'], headers: head, body: Buffer.concat(parts) };
}

describe('HTTP/2 over TLS', () => {
  it('serves the same responses as HTTP/1.1, which still works', async () => {
    const { node, session } = await serve();
    const authorization = `Bearer ${node.tokens.admin}`;
    const http1 = createTlsClient(node.port, { ca: node.authority.cert });
    for (const path of [PATHS.config, `${PATHS.logView}?file=a.log`, PATHS.logList, `${PATHS.logView}?file=none`]) {
      const { status, body } = await ask(session, { ':path': path, authorization });
      const expected = await http1(path, { headers: { authorization } });
      expect({ path, status, text: body.toString() }).toEqual({ path, status: expected.status, text: expected.body });
    }
    const head = await ask(session, { ':path': PATHS.logList, ':method': 'HEAD', authorization });
    expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
    const packed = await ask(session, {
      ':path': `${PATHS.logView}?file=a.log`,
      authorization,
      'accept-encoding': 'br',
    });
    expect(brotliDecompressSync(packed.body).toString()).toBe(LINE.repeat(4000));
    expect((await ask(session, { ':path': PATHS.config })).status).toBe(401);
    const json = { 'content-type': 'application/json', accept: 'application/json', authorization };
    const search = { ':path': PATHS.logSearch, ':method': 'POST', ...json };
    expect(JSON.parse((await ask(session, search, '{"limit":2}')).body.toString())).toMatchObject({
      end: { records: 2 },
    });
    expect((await ask(session, search, 'x'.repeat(MAX_BODY_BYTES + 1))).status).toBe(413);
  });

  it('counts all methods of no route as one, whatever a client without credentials invents', async () => {
    const { node, session } = await serve();
    const invented = Array.from({ length: 300 }, (_, n) => `INVENTED${n}`);
    const asked = invented.map((method) => ask(session, { ':path': PATHS.logList, ':method': method }));
    const statuses = (await Promise.all(asked)).map(({ status }) => Number(status));
    expect(statuses.every((status) => status >= 400 && status < 500)).toBe(true);
    const authorization = `Bearer ${node.tokens.admin}`;
    const text = (await ask(session, { ':path': PATHS.metrics, authorization })).body.toString();
    expect(text).not.toContain('INVENTED');
    const counted = text.matchAll(/^porthole_http_requests_total\{.*method="other".*\} (\d+)$/gm);
    expect([...counted].reduce((sum, [, value]) => sum + Number(value), 0)).toBe(invented.length);
  });

  it('knows clients by their certificates, and serves many requests at once', async () => {
    const { node } = await serve();
    const session = open(node, node.issueCertificate('viewer'));
    const list = await Promise.all(Array.from({ length: 50 }, () => ask(session, { ':path': PATHS.logList })));
    expect(new Set(list.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('follows a log, and ends the follow when the client leaves or the node stops', async () => {
    const { node, session } = await serve();
    const authorization = `Bearer ${node.tokens.viewer}`;
    const stream = begin(session, { ':path': `${PATHS.logFollow}?src==a.log`, authorization });
    await once(stream, 'response');
    appendFileSync(join(node.logDir, 'a.log'), LINE.replace('hello', 'later'));
    let text = '';
    for await (const part of stream) {
      text += String(part);
      if (text.includes('later')) break;
    }
    stream.close(constants.NGHTTP2_CANCEL);
    const other = begin(session, { ':path': `${PATHS.logFollow}?src==a.log`, authorization });
    await once(other, 'response');
    const ended = once(other, 'close');
    other.resume();
    await node.running.stop();
    await ended;
    expect(session.closed).toBe(true);
  });
});
