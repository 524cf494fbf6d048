import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Handler, startOddServer } from '@porthole/client/testing';
import { getMemberPath, MEMBER_ROUTE_IDS, PATHS } from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createAuthority, issue } from '../auth/testing/certificates.ts';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const SECRET = 'hunter2-of-another-service';
const NODE = { hostIp: '', hostName: 'm', grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };

const respond =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** One that says who it is, and then responds with something else. */
const known =
  (then: Handler): Handler =>
  (request, response, number) =>
    request.url === '/api/v1/node'
      ? respond(200, { node: NODE, clockMs: Date.now() })(request, response, number)
      : then(request, response, number);

/** What other services say, where a registration leads to one. */
const SERVICES: Readonly<Record<string, Handler>> = {
  'a text of an error': respond(500, SECRET),
  'an error with our code': respond(404, { code: 'LOG_FILE_NOT_FOUND', detail: SECRET, message: SECRET }),
  'an error with another code': respond(403, { code: SECRET.toUpperCase().replaceAll('-', '_'), detail: SECRET }),
  'an error that looks like ours': respond(401, { code: 'UNAUTHENTICATED', detail: SECRET, title: SECRET }),
  'a redirect': respond(302, {}, { location: `http://x.invalid/${SECRET}` }),
  'another type': respond(200, SECRET, { 'content-type': `text/${SECRET}` }),
  'plain text': (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`${SECRET}\n`.repeat(9)),
  'a page': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<b>${SECRET}</b>`),
  'lines of JSON': (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/x-ndjson' })
      .end(`{"type":"record","secret":"${SECRET}"}\n"${SECRET}"\n{"type":"${SECRET}"}\n`),
  events: (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`data: {"type":"${SECRET}"}\n\ndata: ${SECRET}\n\n`),
};

const QUERY = '?file=a.log&size=1000&limit=5&budget=1s';

/** What one that says who it is gives as the text of a log is a log; of one that does not, nothing is shown. */
const LOG_TEXT = ['logView', 'logRaw'];

it('the text of another service is not passed on, nor logged', async () => {
  const members: Record<string, string> = {};
  for (const [index, handler] of Object.values(SERVICES).entries()) {
    members[`unknown-${index}`] = (await startOddServer(handler)).url;
    members[`known-${index}`] = (await startOddServer(known(handler))).url;
  }
  const { port, dir } = await startTestNode({
    files: { 'a.log': 'own\n' },
    settings: {
      cluster: {
        nodeId: 'asking',
        members: Object.entries(members).map(([id, url]) => `${id}=${url}`),
        memberTimeoutMs: 2000,
        firstBatchTimeoutMs: 1000,
        refreshMs: 100,
      },
      logging: { level: 'debug', access: 'all' },
    },
  });
  for (const id of Object.keys(members)) {
    const routes = MEMBER_ROUTE_IDS.filter((route) => !(id.startsWith('known') && LOG_TEXT.includes(route)));
    await Promise.all(
      routes.map((route) => expectSilence(port, `${PATHS.nodes}/${id}${getMemberPath(route)}${QUERY}`)),
    );
  }
  const all = [PATHS.nodes, PATHS.settings, PATHS.configDiff, PATHS.logFiles];
  const records = [PATHS.logSearch, PATHS.logHistogram, PATHS.logDigest];
  for (const path of [...all, ...records]) await expectSilence(port, `${path}?nodes=*&limit=5`);
  await expectSilence(port, `${PATHS.logAround}?nodes=*&time=1`);
  await expectSilentFollow(port, Object.keys(members));
  const own = join(dir, 'own');
  for (const name of readdirSync(own)) expect(readFileSync(join(own, name), 'utf8')).not.toMatch(LEAKED);
});

const LEAKED = new RegExp(SECRET.replaceAll('-', '[-_]'), 'i');

async function expectSilence(port: number, path: string): Promise<void> {
  const text = await sendRequest(port, path).then(
    ({ status, headers, body }) => `${status} ${JSON.stringify(headers)} ${body}`,
    (error: unknown) => String(error), // cut: what came before is not all
  );
  expect(`${path}: ${text}`).not.toMatch(LEAKED);
}

/** Until every member was reported. */
async function expectSilentFollow(port: number, ids: readonly string[]): Promise<void> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const { body } = await fetch(`http://127.0.0.1:${port}${PATHS.logFollow}?nodes=*`, { signal: leaving.signal });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (ids.every((id) => text.includes(`"node":"${id}"`))) break;
  }
  expect(text).not.toMatch(LEAKED);
}

it('the names in a certificate that does not fit are not passed on', async () => {
  const dir = tempDir();
  const authority = createAuthority(dir);
  const { cert, key } = issue(authority, dir, 'x', { names: `DNS:${SECRET}.internal` });
  const { fingerprint256 } = new X509Certificate(cert);
  const server = createTlsServer({ cert, key }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const { port } = await startTestNode({
    settings: {
      cluster: {
        nodeId: 'asking',
        members: [`m=https://127.0.0.1:${(server.address() as AddressInfo).port}`],
        caFile: authority.certFile,
      },
    },
  });
  const { body } = await sendRequest(port, PATHS.nodes);
  expect(body.toString()).toContain('"outcome":"tls"');
  expect(body.toString()).not.toContain(SECRET);
  // Which one it is can be found out by those who have it.
  const reason = `ERR_TLS_CERT_ALTNAME_INVALID, SHA-256 ${fingerprint256}`;
  expect(body.toString()).toContain(`its certificate is not for 127.0.0.1, but for another name (${reason})`);
});
