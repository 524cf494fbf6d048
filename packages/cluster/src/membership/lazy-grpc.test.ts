import { execFileSync } from 'node:child_process';
import { bundleProgram } from '@porthole/logs/testing';
import { expect, it } from 'vitest';

/** Says whether gRPC is loaded: with all memberships there, and after one has asked an etcd. */
const PROGRAM = `
  import { createRequire } from 'node:module';
  const { cache } = createRequire(import.meta.url);
  const isLoaded = () => Object.keys(cache).some((file) => file.includes('@grpc/grpc-js'));
  const { createStaticMembers } = await import('./static-members.ts');
  const { createEtcdMembers } = await import('./etcd-members.ts');
  await import('./lindb-members.ts');
  const node = { hostIp: '', hostName: '', grpcPort: 0, httpPort: 0, version: '', onlineTime: 0 };
  const self = { id: 'a', role: 'node', labels: {}, url: 'http://a:1', node };
  await createStaticMembers({ self, members: ['http://b:1'] }).start();
  const log = { info() {}, warn() {} };
  const members = createEtcdMembers({ self, endpoints: ['127.0.0.1:1'], cluster: 'c', leaseSeconds: 1, log });
  const before = isLoaded();
  await members.start();
  await members.close();
  console.log(before, isLoaded());
`;

it('gRPC is loaded only when etcd is contacted, and nothing keeps the process alive after that', () => {
  const program = bundleProgram(PROGRAM, import.meta.dirname);
  const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' });
  expect(printed.trim()).toBe('false true');
});
