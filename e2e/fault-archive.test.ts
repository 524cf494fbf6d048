import { type AddressInfo, createServer } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';

it.each(['reset', 'end'] as const)('a node lives through an archive that cuts its responses (%s)', async (cut) => {
  let requests = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      requests++;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"n":', () =>
        setTimeout(() => (cut === 'reset' ? socket.resetAndDestroy() : socket.end()), 50),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const env = { PORTHOLE_ARCHIVE_URL: `http://127.0.0.1:${port}` };
  const node = await AttackedNode.start({ files: { 'a.log': '2026-11-15 12:00:00.000\tINFO\ta\n' }, env });
  await eventually(() => expect(requests).toBeGreaterThan(2));
  const found = await node.request('api/v1/cluster/log/search?store=archive');
  expect(found.status).toBeGreaterThanOrEqual(500);
  await node.expectHealthy();
});
