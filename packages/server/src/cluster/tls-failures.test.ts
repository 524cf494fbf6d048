import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterEnd } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type Certificate, createAuthority, issue, issueForNode } from '../auth/testing/certificates.ts';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode, startWithSharedThreads, testSettings } from '../testing/test-node.ts';

const line = (text: string) => `2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: ${text}\n`;

it('of a member whose certificate is not accepted a recording is searched, and the report says what is wrong', async () => {
  const dir = tempDir();
  const authority = createAuthority(dir);
  mkdirSync(join(dir, 'logs'));
  writeFileSync(join(dir, 'logs', 'b.log'), line('of b'));
  const start = ({ certFile, keyFile }: Certificate, port: number) =>
    startWithSharedThreads({ settings: testSettings(dir, { http: { port }, tls: { certFile, keyFile } }) });
  const member = await start(issueForNode(authority, dir), 0);
  const { httpPort } = member.node;
  const { port } = await startTestNode({
    files: { 'a.log': line('of a') },
    settings: {
      cluster: {
        ...{ nodeId: 'a', members: [`b=https://127.0.0.1:${httpPort}`], caFile: authority.certFile },
        ...{ refreshMs: 200, firstBatchTimeoutMs: 10_000, memberTimeoutMs: 20_000 },
      },
    },
  });
  const search = async () => {
    const { body } = await sendRequest(port, '/api/v1/log/search?nodes=*');
    const items = body
      .toString()
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    const { members } = items.at(-1) as ClusterEnd;
    const messages: string[] = items.slice(0, -1).map(({ message }) => message);
    return { messages: messages.toSorted(), report: members.find(({ id }) => id === 'b') };
  };
  const both = ['of a', 'of b'];
  await eventually(async () => expect(await search()).toMatchObject({ messages: both, report: { outcome: 'ok' } }));
  await eventually(async () =>
    expect((await sendRequest(port, '/api/v1/member/recordings/b/log/search')).body.toString()).toContain('of b'),
  );
  await member.stop();
  const other = await start(issue(authority, dir, 'other', { names: 'DNS:other.example' }), httpPort);
  onTestFinished(() => other.stop());
  await eventually(async () =>
    expect(await search()).toMatchObject({
      messages: both,
      report: {
        outcome: 'tls',
        asOfMs: expect.any(Number),
        isPartial: true,
        count: 1,
        detail: expect.stringContaining('its certificate is not for 127.0.0.1, but for another name'),
      },
    }),
  );
});
