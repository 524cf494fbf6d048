import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@porthole/client';
import type { ClusterState, MemberReport, NodeState } from '@porthole/contract';
import type { CaseFiles } from '@porthole/contract/testing';
import type { RunningNode } from '@porthole/server';
import { freePorts, startWithSharedThreads, testSettings } from '@porthole/server/testing';

/** Members. The files of the cases are divided among all but the last, which has none. */
const MEMBERS = 4;

/** A cluster that has the files of the cases. */
export interface GroupedNodes {
  /** Asked directly, and through helpers. */
  direct: ClusterState;
  tree: ClusterState;
  /** How many groups helpers have asked so far. */
  groupsAsked(): Promise<number>;
  close(): Promise<void>;
}

export async function openGroupedNodes(files: CaseFiles): Promise<GroupedNodes> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-grouped-')));
  const ports = await freePorts(MEMBERS);
  const members = ports.map((port, index) => `n${index}=http://127.0.0.1:${port}`);
  const start = (nodeId: string, { port = 0, dir = nodeId, own = {}, treeFrom = 0 }): Promise<RunningNode> => {
    const logDir = join(root, dir, 'logs');
    mkdirSync(logDir, { recursive: true });
    for (const [name, content] of Object.entries<string | Uint8Array>(own)) writeFileSync(join(logDir, name), content);
    const tree = { treeFrom, groupSize: MEMBERS };
    // Nothing is collected in the background, and nobody is late on a busy machine.
    const patience = { refreshMs: 86_400_000, memberTimeoutMs: 60_000, firstBatchTimeoutMs: 60_000 };
    return startWithSharedThreads({
      settings: testSettings(join(root, dir), {
        http: { port },
        node: { timeZone: 'Europe/Berlin', hostName: 'case' },
        search: { maxIndexBytes: 0 },
        cluster: { nodeId, members, lastWordsMaxBytes: 0, ...patience, ...tree },
      }),
    });
  };
  const divided = divideFiles(files);
  const nodes = await Promise.all(ports.map((port, index) => start(`n${index}`, { port, own: divided[index] ?? {} })));
  // The same id: what they report is compared.
  const direct = await start('y-asked', { dir: 'direct' });
  const tree = await start('y-asked', { dir: 'tree', treeFrom: 1 });
  return {
    direct: createClient({ url: direct.url, retries: 0 }).cluster,
    tree: createClient({ url: tree.url, retries: 0 }).cluster,
    groupsAsked: () => countGroups(nodes),
    async close() {
      await Promise.all([...nodes, direct, tree].map((node) => node.stop()));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** All files of a family are on the same member. */
function divideFiles(files: CaseFiles): CaseFiles[] {
  const families = [...new Set(Object.keys(files).map(familyOf))];
  const divided: Record<string, string | Uint8Array>[] = Array.from({ length: MEMBERS }, () => ({}));
  for (const [name, content] of Object.entries(files)) {
    const own = divided[families.indexOf(familyOf(name)) % (MEMBERS - 1)];
    if (own) own[name] = content;
  }
  return divided;
}

function familyOf(name: string): string {
  return name.replace(/\.log.*$/, '');
}

async function countGroups(nodes: readonly RunningNode[]): Promise<number> {
  const texts = await Promise.all(nodes.map(async ({ url }) => (await fetch(new URL('metrics', url))).text()));
  const lines = texts.join('\n').split('\n');
  const counts = lines.filter((line) => /requests_total\{.*clusterGroup/.test(line));
  return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const MEMBER_IDS = { nodes: ['n*'] };

/** What a cluster has of a node: its questions about records. Everything else is asked of one member, without helpers. */
export function asNode(cluster: ClusterState): NodeState {
  const questions: Partial<NodeState> = {
    // Cases read of an end what both have.
    searchLogs: (request, options) =>
      cluster.searchLogs({ ...request, ...MEMBER_IDS }, options) as AsyncIterable<unknown> as NodeItems,
    async *searchLogLines(request, options) {
      for await (const items of cluster.searchLogs({ ...request, ...MEMBER_IDS }, options))
        yield Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    },
    logHistogram: async (request, options) =>
      withEnd(await cluster.logHistogram({ ...request, ...MEMBER_IDS }, options)),
    logDigest: async (request, options) => withEnd(await cluster.logDigest({ ...request, ...MEMBER_IDS }, options)),
    logFields: async (request, options) => withEnd(await cluster.logFields({ ...request, ...MEMBER_IDS }, options)),
    logTop: async (request, options) => withEnd(await cluster.logTop({ ...request, ...MEMBER_IDS }, options)),
  };
  return questions as NodeState;
}

/** The checks of cases read how many records were counted from the end. */
function withEnd<T extends { members: readonly MemberReport[] }>(counts: T): T & { end: NodeEnd } {
  return { ...counts, end: { records: counts.members.reduce((sum, { count }) => sum + count, 0) } as NodeEnd };
}

type NodeItems = ReturnType<NodeState['searchLogs']>;
type NodeEnd = Awaited<ReturnType<NodeState['logHistogram']>>['end'];
