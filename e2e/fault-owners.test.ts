import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';

/* What a node depends on fails when nobody listens: the node goes on. */

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it.each(['reset', 'end'] as const)('an archive that cuts its responses in the middle (%s)', async (cut) => {
  let requests = 0;
  const port = await listen(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        requests++;
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"n":', () =>
          setTimeout(() => (cut === 'reset' ? socket.resetAndDestroy() : socket.end()), 50),
        );
      });
    }),
  );
  const env = { PORTHOLE_ARCHIVE_URL: `http://127.0.0.1:${port}` };
  const node = await AttackedNode.start({ files: { 'a.log': '2026-11-15 12:00:00.000\tINFO\ta\n' }, env });
  await eventually(() => expect(requests).toBeGreaterThan(2));
  const found = await node.request('api/v1/cluster/log/search?store=archive');
  expect(found.status).toBeGreaterThanOrEqual(500);
  await node.expectHealthy();
});

it('a member that fails when the client that asked for it has left', async () => {
  // Masking it takes long enough to leave meanwhile.
  const config = Array.from({ length: 8000 }, (_, n) => `key${n} = "a value that is long enough"`).join('\n');
  const leaving = new AbortController();
  let asked = 0;
  const port = await listen(
    createHttpServer((request, response) => {
      if (request.url?.startsWith('/api/v1/config') !== true) return void response.writeHead(404).end();
      if (++asked > 1) return void request.socket.resetAndDestroy();
      response.end(JSON.stringify({ node: {}, config }), () => setTimeout(() => leaving.abort(), 50));
    }),
  );
  const env = { PORTHOLE_CLUSTER_MEMBERS: `m=http://127.0.0.1:${port}` };
  const node = await AttackedNode.start({ env });
  const path = 'api/v1/cluster/nodes/m/log/view?file=a.log';
  await expect(fetch(`${node.url}${path}`, leaving)).rejects.toThrow();
  // Those who stay get the failure of the member.
  await eventually(async () => {
    expect((await node.request(path)).status).toBe(502);
    expect(asked).toBeGreaterThan(1);
  });
  await node.expectHealthy();
});
