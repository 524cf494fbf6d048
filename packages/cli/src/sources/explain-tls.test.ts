import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tempDir } from '@porthole/records/testing';
import { createAuthority, issue, issueExpired, issueForNode } from '@porthole/server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { explainTlsFailure } from './explain-tls.ts';
import { createHttpFetch } from './http-fetch.ts';

const respond: RequestListener = (_request, response) => void response.end('ok');

async function listen(server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const startTls = (options: ServerOptions) => listen(createHttpsServer(options, respond));

it('a server is reached through its authority, and every mismatch is explained with the way out', async () => {
  const dir = tempDir();
  const authority = createAuthority(dir);
  const node = issueForNode(authority, dir);
  const { cert: ca } = authority;
  const trusted = createHttpFetch({ ca });
  const failure = (fetching: Promise<unknown>) =>
    fetching.then(
      () => 'none',
      (error: Error) => error.message,
    );

  const port = await startTls(node);
  expect((await trusted(`https://127.0.0.1:${port}/`)).status).toBe(200);
  expect(await failure(createHttpFetch()(`https://127.0.0.1:${port}/`))).toBe(
    `the certificate of https://127.0.0.1:${port} is not signed by a trusted authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE): pass the certificate of its authority with --ca-file`,
  );
  expect(await failure(trusted(`http://127.0.0.1:${port}/`))).toBe(
    `http://127.0.0.1:${port} expects TLS: use https://127.0.0.1:${port}`,
  );

  const plain = await listen(createHttpServer(respond));
  expect(await failure(trusted(`https://127.0.0.1:${plain}/`))).toBe(
    `https://127.0.0.1:${plain} does not speak TLS: use http://127.0.0.1:${plain} if it has none`,
  );

  const expired = await startTls(issueExpired(authority, dir, 'expired'));
  expect(await failure(trusted(`https://127.0.0.1:${expired}/`))).toMatch(
    /^the certificate of https:\/\/127\.0\.0\.1:\d+ has expired on \d{4}-\d\d-\d\d: it must be renewed$/,
  );

  const elsewhere = await startTls(issue(authority, dir, 'elsewhere', { names: 'DNS:a.example,IP:10.8.0.21' }));
  expect(await failure(trusted(`https://127.0.0.1:${elsewhere}/`))).toBe(
    `the certificate of https://127.0.0.1:${elsewhere} is for a.example, 10.8.0.21, not for 127.0.0.1: use the name it is for`,
  );

  const mutual = await startTls({ ...node, ca, requestCert: true, rejectUnauthorized: true });
  expect(await failure(trusted(`https://127.0.0.1:${mutual}/`))).toMatch(/may require a client certificate/);
  const { cert, key } = issue(authority, dir, 'client');
  expect((await createHttpFetch({ ca, cert, key })(`https://127.0.0.1:${mutual}/`)).status).toBe(200);
});

it('a refused client certificate is one, and other failures are not explained', async () => {
  const explain = (code: string) =>
    explainTlsFailure({
      url: 'https://a.example/x',
      hasCertificate: true,
      error: Object.assign(new Error('failed'), { code }),
    });
  expect(await explain('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')).toBe(
    'https://a.example refused the client certificate (ERR_SSL_TLSV1_ALERT_UNKNOWN_CA): check --cert-file',
  );
  expect(await explain('ECONNREFUSED')).toBeUndefined();
  expect(await explain('ECONNRESET')).toBeUndefined();
});
