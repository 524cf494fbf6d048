import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startTestEtcd } from '@porthole/cluster/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { ClusterProcess } from './testing/cluster-process.ts';
import { runToEnd } from './testing/program.ts';

interface Received {
  path: string;
  node: string;
  kind: string;
  fields: { member?: string };
}

async function startReceiver() {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      received.push({ path: request.url ?? '', ...(JSON.parse(body) as Omit<Received, 'path'>) });
      response.writeHead(request.url === '/refuses' ? 403 : 200).end('no\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

it('a loss is sent once by the cluster, also if the node that sends is the lost one', async () => {
  const receiver = await startReceiver();
  const etcd = await startTestEtcd();
  const webhook = JSON.stringify({ name: 'ops', url: `${receiver.url}/hook`, kinds: ['member-lost', 'killed'] });
  const flags = ['--cluster-etcd', etcd.url, '--notify-webhook', webhook];
  const dirs = new Map(['n1', 'n2', 'n3'].map((id) => [id, tempDir()]));
  const start = (id: string) => ClusterProcess.start(id, { flags, cwd: dirs.get(id) ?? '' });
  const [n1, , n3] = await Promise.all([start('n1'), start('n2'), start('n3')]);
  const sent = () => receiver.received.map(({ node, kind, fields }) => `${node} ${kind} ${fields.member ?? ''}`);
  const written = async () => (await n1.request('/api/v1/events?kind=member-lost')).body.includes('"member":"n3"');
  await n1.hearsFromAll();
  await n3.kill();
  await eventually(() => expect(sent()).toEqual(['n1 member-lost n3']));
  expect(await written()).toBe(true);
  await start('n3');
  await eventually(() => expect(sent()).toEqual(['n1 member-lost n3', 'n3 killed ']));
  await n1.kill();
  await eventually(() => expect(sent().slice(2)).toEqual(['n2 member-lost n1']));
});

it('a test event says of each webhook whether it works, and keeps its secrets', async () => {
  const receiver = await startReceiver();
  const cwd = tempDir();
  writeFileSync(join(cwd, 'url'), `${receiver.url}/secret-path\n`, { mode: 0o600 });
  const file = `
[[notify.webhook]]
name = "chat"
url-file = "url"

[[notify.webhook]]
name = "refuses"
url = "${receiver.url}/refuses"
`;
  writeFileSync(join(cwd, 'porthole.toml'), file);
  const { code, stdout, stderr } = await runToEnd(['notify', 'test', '--config', 'porthole.toml'], cwd);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(
    /^WEBHOOK +RESULT +TIME +DETAIL\nchat +delivered +\d+ ms +status 200\nrefuses +failed +\d+ ms +status 403: no\n$/,
  );
  expect(stdout).not.toContain('secret-path');
  expect(receiver.received.map(({ path, kind }) => `${path} ${kind}`).toSorted()).toEqual([
    '/refuses test',
    '/secret-path test',
  ]);
  const nothing = await runToEnd(['notify', 'test'], cwd);
  expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining('notify.webhook is not set') });
});
