import { spawn } from 'node:child_process';
import { bundleProgram, eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { startTestEtcd } from './testing/etcd.ts';
import { joinEtcd, memberIds } from './testing/members.ts';

/** Joins as `killed` and stays until it is killed. */
const PROGRAM = `
  import { createEtcdMembers } from './etcd-members.ts';
  const node = { hostIp: '10.0.0.1', hostName: 'h', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 0 };
  const self = { id: 'killed', role: 'node', labels: {}, url: 'http://10.0.0.1:2', node };
  const log = { info() {}, warn() {} };
  const endpoints = [process.env.ETCD_URL];
  await createEtcdMembers({ self, endpoints, cluster: 'test', leaseSeconds: 1, log }).start();
`;

it('a process that is killed is no member any more when its lease has ended', async () => {
  const etcd = await startTestEtcd();
  const member = await joinEtcd('a', etcd.url);
  const child = spawn(process.execPath, [bundleProgram(PROGRAM, import.meta.dirname)], {
    env: { ...process.env, ETCD_URL: etcd.url },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await eventually(() => expect(memberIds(member)).toEqual(['a', 'killed']));
  child.kill('SIGKILL');
  await eventually(() => expect(memberIds(member)).toEqual(['a']));
});
