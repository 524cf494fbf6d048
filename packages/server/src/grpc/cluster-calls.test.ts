import { type Client, createClient } from '@porthole/client';
import type { ClusterEnd, ClusterRecord, MemberReport } from '@porthole/contract';
import { expect, it, onTestFinished } from 'vitest';
import { startTestNode } from '../testing/index.ts';
import type { NodeSelectionMessage, RecordMessage, SearchEndMessage } from './generated/messages.ts';
import { Connection } from './testing/connection.ts';

const LINES = Array.from({ length: 30 }, (_, number) => {
  const second = String(number).padStart(2, '0');
  const level = number % 3 === 0 ? 'ERROR' : 'INFO';
  return `2026-06-01 10:00:${second}.000\t${level}\ta.go:${number % 2}\t[A]: took ${number} ms\t{"shard":${number % 4}}`;
});

const SCOPE: NodeSelectionMessage = { nodes: ['*'], role: '', labels: [], store: '' };

/** A node is a cluster of one. */
async function startNode() {
  const cluster = { nodeId: 'n1', firstBatchTimeoutMs: 60_000, memberTimeoutMs: 60_000 };
  const settings = { node: { timeZone: 'UTC' }, cluster };
  const { running } = await startTestNode({ files: { 'a.log': `${LINES.join('\n')}\n` }, settings });
  const grpc = new Connection(running.node.grpcPort);
  onTestFinished(() => grpc.close());
  return { grpc, http: createClient({ url: running.url }) };
}

interface SearchRequest {
  limit?: number;
  cursor?: string;
  offset?: number;
  selection?: NodeSelectionMessage;
}

async function search(grpc: Connection, request: SearchRequest) {
  const records: RecordMessage[] = [];
  let end: SearchEndMessage | undefined;
  const asked = { order: '', cursor: '', record: '', until: '', raw: false, fields: [], selection: SCOPE, ...request };
  for await (const message of grpc.stream('SearchLogs', asked, {})) {
    for (const item of message?.items ?? []) {
      if (item.record) records.push(item.record);
      if (item.end) end = item.end;
    }
  }
  if (!end) throw new Error('the search has no end');
  return { records, end };
}

async function searchHttp(http: Client, limit: number) {
  const records: ClusterRecord[] = [];
  let end: ClusterEnd | undefined;
  for await (const items of http.search({ nodes: ['*'], order: 'newest', limit, before: 0, after: 0 })) {
    for (const item of items) {
      if (item.type === 'end') end = item;
      else records.push(item);
    }
  }
  return { records, end };
}

/** Without what differs from one request to the next. */
function reports(members: readonly MemberReport[] = []) {
  return members.map(({ id, outcome, count, state = '' }) => ({ id, outcome, count, state }));
}

const nodeCounts = (nodes: Readonly<Record<string, number>>) =>
  Object.entries(nodes).map(([id, count]) => ({ node: id, count }));

it('requests about the cluster return what the routes of the cluster do', async () => {
  const { grpc, http } = await startNode();
  // A search, page by page.
  {
    const expected = await searchHttp(http, 12);
    const first = await search(grpc, { limit: 12 });
    const short = ({ node: id, atMs, message, cursor }: ClusterRecord) => ({ node: id, atMs, message, cursor });
    expect(first.records).toMatchObject(expected.records.map(short));
    expect(first.end).toMatchObject({ reason: 'limit', records: 12, cluster: { membership: { state: 'ok' } } });
    expect(first.end.cluster?.members).toMatchObject(reports(expected.end?.members));
    const { records, end } = await search(grpc, { limit: 100, cursor: first.end.cursor ?? '' });
    expect(records.map(({ message }) => message)).toEqual(
      Array.from({ length: 18 }, (_, number) => `took ${17 - number} ms`),
    );
    expect(end).toMatchObject({ reason: 'exhausted', problems: [] });
    expect(end.cursor ?? null).toBeNull();
  }

  // Counts over time.
  {
    const counted = await grpc.call('CountLogs', { selection: SCOPE, bucketMs: 10_000 }, {});
    const expected = await http.histogram({ nodes: ['*'], bucketMs: 10_000, buckets: 60 });
    expect(counted.buckets.map(({ startMs, nodes }) => ({ startMs, nodes }))).toEqual(
      expected.buckets.map(({ startMs, nodes }) => ({ startMs, nodes: nodeCounts(nodes) })),
    );
    expect(counted.buckets[0]?.counts).toContainEqual({ level: 'LEVEL_ERROR', count: 4 });
    expect(counted.cluster?.members).toMatchObject(reports(expected.members));
    expect(counted.end ?? null).toBeNull();
  }

  // Groups.
  {
    const { groups, cluster, ...rest } = await grpc.call('DigestLogs', { selection: SCOPE, onlyNew: false }, {});
    const expected = await http.digest({ nodes: ['*'], limit: 50 });
    expect(groups.map(({ source, count, nodes, sample }) => [source, count, nodes, sample?.node])).toEqual(
      expected.groups.map(({ source, count, nodes, sample }) => [source, count, nodeCounts(nodes), sample.node]),
    );
    expect(rest).toMatchObject({ totalGroups: expected.totalGroups });
    expect(cluster?.members).toMatchObject(reports(expected.members));
  }

  // Fields.
  {
    const { fields, records, cluster } = await grpc.call('ListFields', { selection: SCOPE }, {});
    const expected = await http.fields({ nodes: ['*'], limit: 100 });
    expect(fields.map(({ name, distinct, nodes }) => [name, distinct, nodes])).toEqual(
      expected.fields.map(({ name, distinct, nodes }) => [name, distinct, nodeCounts(nodes)]),
    );
    expect(records).toBe(30);
    expect(cluster?.members).toMatchObject(reports(expected.members));
  }

  // Counts by value.
  {
    const { values, cluster } = await grpc.call('CountValues', { selection: SCOPE, by: 'shard', values: [] }, {});
    const expected = await http.top({ nodes: ['*'], by: 'shard', limit: 10 });
    expect(values.map(({ value, count, nodes }) => [value, count, nodes])).toEqual(
      expected.values.map(({ value, count, nodes }) => [value, count, nodeCounts(nodes)]),
    );
    expect(cluster?.members).toMatchObject(reports(expected.members));
  }
});

it('requests about the cluster are refused with the codes of HTTP; without a selection, the node answers alone', async () => {
  const { grpc } = await startNode();
  const refused: [SearchRequest, string][] = [
    [{ selection: { ...SCOPE, nodes: ['nobody'] } }, 'MEMBER_NOT_FOUND'],
    [{ selection: { ...SCOPE, store: 'tape' } }, 'PARAMETER_INVALID'],
    [{ selection: { ...SCOPE, store: 'archive' } }, 'NOT_SUPPORTED'],
    // It is of one file.
    [{ offset: 5 }, 'PARAMETER_INVALID'],
  ];
  for (const [request, code] of refused) await expect(search(grpc, request)).rejects.toMatchObject({ code });
  const counted = await grpc.call('CountLogs', { bucketMs: 60_000 }, {});
  expect(counted).toMatchObject({
    buckets: [{ nodes: [{ node: 'n1', count: 30 }] }],
    end: { reason: 'exhausted' },
    cluster: { members: [{ id: 'n1', outcome: 'ok' }] },
  });
});
