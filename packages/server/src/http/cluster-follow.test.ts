import type { IncomingMessage } from 'node:http';
import { type ClusterFollowItem, PATHS } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { openRequest, requestProblem, sendRequest } from '../testing/send-request.ts';
import { CLUSTER_END, clusterRecord } from './testing/cluster-responses.ts';
import { FakeCluster } from './testing/fake-cluster.ts';
import { schemaProblems } from './testing/schema-problems.ts';
import { serveCluster } from './testing/serve-cluster.ts';

const FOLLOW = `${PATHS.logFollow}?nodes=*`;

const [report] = CLUSTER_END.members.slice(1);
if (!report) throw new Error('the example has no second member');

const EVENTS: ClusterFollowItem[] = [
  { type: 'member', node: 'b', report },
  { type: 'rotated', family: 'a.log', from: 'a.log.1', to: 'a.log', node: 'a' },
  { type: 'truncated', file: 'a.log', lostBytes: null, node: 'a' },
  { type: 'gap', family: 'a.log', reason: 'slow', bytes: 10, after: 'c1', until: null, node: 'a' },
  { type: 'behind', behindBytes: 2_000_000, node: 'a' },
  { type: 'missing', family: 'a.log', node: 'a' },
  { type: 'reconnecting', reason: 'lost', waitMs: 100, node: 'b' },
  { type: 'end', reason: 'cancelled' },
];

function readText(response: IncomingMessage): { text: string; ended: boolean } {
  const read = { text: '', ended: false };
  response.on('data', (part: Buffer) => {
    read.text += part.toString();
  });
  response.once('end', () => {
    read.ended = true;
  });
  response.once('error', () => {});
  return read;
}

describe('a follow of the cluster', () => {
  it('sends records as events with their time by this node as the id, and everything else without one', async () => {
    const cluster = new FakeCluster();
    const timed = clusterRecord(1, { atMs: 1234.75 });
    const { atMs: _, ...untimed } = clusterRecord(2);
    const items = [timed, untimed, ...EVENTS];
    cluster.followed.push([], items).end();
    const { port } = await serveCluster(cluster);
    const { headers, body } = await sendRequest(port, `${PATHS.logFollow}?nodes=a&level=warn&back=3`);
    expect(headers['content-type']).toBe('text/event-stream');
    const frames = items.map(
      (item) => `event: ${item.type}\n${item === timed ? 'id: 1234\n' : ''}data: ${JSON.stringify(item)}\n\n`,
    );
    expect(body.toString()).toBe(`retry: 1000\n\n${frames.join('')}`);
    expect(cluster.last?.request).toEqual({ nodes: ['a'], minLevel: 'WARN', start: { back: 3 } });
  });

  it.each([clusterRecord(1), ...EVENTS])('has events of the schema: $type', (item) => {
    expect(schemaProblems(item, 'ClusterFollowItem')).toEqual([]);
  });

  it('that reconnects resumes shortly before the last event seen, whatever its parameters are', async () => {
    const cluster = new FakeCluster();
    cluster.followed.push([]).end();
    const { port } = await serveCluster(cluster);
    await sendRequest(port, `${FOLLOW}&back=3`, { headers: { 'Last-Event-ID': '1794740005000' } });
    expect(cluster.last?.request).toEqual({ start: { timeMs: 1_794_740_000_000 } });
  });

  it('takes no cursor and no id of another kind: they name a place at one node', async () => {
    const { port } = await serveCluster(new FakeCluster());
    expect(await requestProblem(port, `${FOLLOW}&cursor=c1`)).toMatchObject({ code: 'PARAMETER_INVALID' });
    const headers = { 'Last-Event-ID': 'c1' };
    expect(await requestProblem(port, FOLLOW, { headers })).toMatchObject({ status: 400, code: 'CURSOR_INVALID' });
  });

  it('sends a heartbeat after each silence', async () => {
    const cluster = new FakeCluster();
    cluster.followed.push([]);
    const { port } = await serveCluster(cluster, { heartbeatMs: 10 });
    const response = await openRequest(port, FOLLOW);
    const read = readText(response);
    await eventually(() => expect(read.text).toContain(': still here\n\n: still here\n\n'));
    response.destroy();
    await eventually(() => expect(cluster.followed.closed).toBe(true));
  });

  it('ends with an end when the node stops, and leaves the members', async () => {
    const cluster = new FakeCluster();
    cluster.followed.push([], [clusterRecord(1)]);
    const { port, stop, slots } = await serveCluster(cluster);
    const read = readText(await openRequest(port, FOLLOW));
    await eventually(() => expect(read.text).toContain('event: record'));
    await stop();
    await eventually(() => expect(read.ended).toBe(true));
    expect(read.text).toMatch(/event: end\ndata: \{"type":"end","reason":"stopping"\}\n\n$/);
    await eventually(() => expect([cluster.followed.closed, slots.taken]).toEqual([true, 0]));
  });

  it('that a client leaves is closed', async () => {
    const cluster = new FakeCluster();
    cluster.followed.push([], [clusterRecord(1)]);
    const { port, slots } = await serveCluster(cluster);
    const response = await openRequest(port, FOLLOW);
    const read = readText(response);
    await eventually(() => expect(read.text).toContain('event: record'));
    response.destroy();
    await eventually(() => expect([cluster.followed.closed, slots.taken]).toEqual([true, 0]));
  });
});
