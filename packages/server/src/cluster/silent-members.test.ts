import type { IncomingMessage, ServerResponse } from 'node:http';
import { startOddServer } from '@porthole/client/testing';
import type { ClusterEnd, ClusterNodes, MemberReport } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const NODE = { hostIp: '', hostName: 'm', grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };
const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: of the node itself\n';
const FOUND = { type: 'record', file: 'a.log', offset: 0, bytes: 9, cursor: 'c', message: 'of the member', timeMs: 1 };
const END = {
  ...{ type: 'end', reason: 'exhausted', records: 1, scannedBytes: 1, skippedBytes: 0, scannedFiles: 1 },
  ...{ coveredFromMs: null, coveredToMs: null, problems: [], cursor: null, elapsedMs: 0 },
};

/** A member that never answers, until it does. */
async function startMember() {
  const state = { isStopped: true };
  const held: (() => void)[] = [];
  const server = await startOddServer((request: IncomingMessage, response: ServerResponse) => {
    const answer = () => {
      const path = request.url?.split('?')[0];
      if (path === '/api/v1/log/search')
        return response
          .writeHead(200, { 'content-type': 'application/x-ndjson' })
          .end(`${JSON.stringify(FOUND)}\n${JSON.stringify(END)}\n`);
      const body = path === '/api/v1/node' ? { node: NODE, clockMs: Date.now(), capabilities: [] } : { status: 'ok' };
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (state.isStopped) held.push(answer);
    else answer();
  });
  const goOn = () => {
    state.isStopped = false;
    for (const answer of held.splice(0)) answer();
  };
  return { ...server, goOn };
}

async function search(port: number): Promise<{ messages: string[]; report: MemberReport | undefined }> {
  const { body } = await sendRequest(port, '/api/v1/cluster/log/search?order=oldest');
  const items = body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { members } = items.at(-1) as ClusterEnd;
  return { messages: items.slice(0, -1).map(({ message }) => message), report: members.find(({ id }) => id === 'm') };
}

it('a silent member costs its deadline twice, is reported in every response, and is used again when it responds', async () => {
  const member = await startMember();
  const cluster = { nodeId: 'self', members: [`m=${member.url}`], refreshMs: 86_400_000, lastWordsMaxBytes: 0 };
  const { port } = await startTestNode({
    files: { 'a.log': LINE },
    settings: { cluster: { ...cluster, firstBatchTimeoutMs: 2000, memberTimeoutMs: 4000 } },
  });
  // Loads what the node itself needs for its first search: that must not take as long as the deadline.
  await sendRequest(port, '/api/v1/log/search');
  const silent = { outcome: 'timeout', state: 'unreachable', count: 0 };
  for (let times = 0; times < 6; times++) {
    const { messages, report } = await search(port);
    expect(messages).toEqual(['of the node itself']);
    expect(report).toMatchObject(silent);
  }
  const { report } = await search(port);
  expect(report?.detail).toMatch(/^no response for \d+ s; it is asked in the background/);
  const { nodes } = await requestJson<ClusterNodes>(port, '/api/v1/cluster/nodes');
  expect(nodes.find(({ id }) => id === 'm')?.state).toBe('unreachable');
  // Each question has at most one request before it is known what the member is.
  const asked = member.requests.filter((line) => !line.includes('/health/live'));
  expect(asked.length).toBeLessThanOrEqual(4);
  // It has never responded: nothing is up by default.
  const metrics = async () => (await sendRequest(port, '/metrics')).body.toString();
  expect(await metrics()).toContain('porthole_member_up{member="m"} 0\n');
  member.goOn();
  await eventually(async () => expect((await search(port)).report).toMatchObject({ outcome: 'ok', count: 1 }));
  expect((await search(port)).messages).toEqual(['of the member', 'of the node itself']);
  await eventually(async () => expect(await metrics()).toContain('porthole_member_up{member="m"} 1\n'));
});
