import { createClient } from '@porthole/client';
import {
  PATHS,
  parseFollowRequest,
  parseSearchRequest,
  searchItems,
  selectsMembers,
  withoutSelection,
} from '@porthole/contract';
import { CURSOR, DAY, SELECTION_CASES, SELECTION_FILES, selectionNames } from '@porthole/contract/testing';
import { GrpcNode } from '@porthole/server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CaseFixture, openFixture } from './testing/case-world.ts';

/* A parameter that has no effect and is not refused would return what was not asked for. */

const CLOCK = { nowMs: Date.UTC(2026, 10, 16), offsetMsAt: () => 0 };
const REFUSED = 'refused';

let world: CaseFixture;
let grpc: GrpcNode;
let cursor = '';

beforeAll(async () => {
  world = await openFixture({ files: SELECTION_FILES });
  grpc = new GrpcNode(world.running.node.grpcPort);
  const three = { src: ['a.log'], terms: ['three'], order: 'oldest', limit: 1, before: 0, after: 0 } as const;
  for await (const items of searchItems(world.running.state, three))
    for (const item of items) if (item.type === 'record') cursor = item.cursor;
});

afterAll(async () => {
  grpc.close();
  await world.close();
});

/** Over HTTP, where a node answers what it is asked about itself and about its cluster. */
async function overHttp(path: string, query: string): Promise<unknown> {
  const response = await fetch(new URL(`${path}?${query}`, world.running.url), {
    headers: { accept: 'application/json' },
  });
  if (!response.ok) return `${REFUSED}: ${response.status}`;
  const { records, ...counted } = (await response.json()) as { records?: unknown; members?: unknown };
  // What was read may differ while the result is the same.
  return records ?? JSON.parse(JSON.stringify(counted, (name, value) => (PROCESS.has(name) ? undefined : value)));
}

const PROCESS: ReadonlySet<string> = new Set(['end', 'members', 'coverage', 'archive']);

async function overGrpc(_path: string, query: string): Promise<unknown> {
  const request = withoutSelection(parseSearchRequest(new URLSearchParams(query), CLOCK, { maxRecords: 1000 }));
  const records: unknown[] = [];
  for await (const items of searchItems(grpc, request))
    for (const item of items) if (item.type === 'record') records.push(item);
  return records;
}

async function expectEffect(
  ask: (path: string, query: string) => Promise<unknown>,
  path: string,
  { name, more = '' }: { name: string; more?: string },
): Promise<void> {
  const known = SELECTION_CASES[name];
  if (!known) throw new Error(`"${name}" has no case in selection-cases.ts`);
  const { beside = '', given } = known;
  const without = await ask(path, `${more}&${beside}`);
  const found = await ask(path, `${more}&${beside}&${given.replace(CURSOR, cursor)}`).catch(() => REFUSED);
  expect(found).not.toEqual(without);
  expect(without).not.toEqual(expect.stringContaining(REFUSED));
}

const COUNTS = { logHistogram: '', logDigest: '', logFields: '', logTop: 'by=shard' } as const;

describe('over HTTP', () => {
  it.each(selectionNames('logSearch'))('a search heeds or refuses "%s"', async (name) => {
    await expectEffect(overHttp, PATHS.logSearch, { name });
  });

  it.each(
    (Object.keys(COUNTS) as (keyof typeof COUNTS)[]).flatMap((id) =>
      selectionNames(id).flatMap((name) => (name === 'limit' ? [] : [[id, name] as const])),
    ),
  )('%s heeds or refuses "%s"', async (id, name) => {
    await expectEffect(overHttp, PATHS[id], { name, more: COUNTS[id] });
  });
});

describe('over gRPC', () => {
  const ofCluster = ['nodes', 'role', 'label', 'store', 'floor'];
  it.each(selectionNames('logSearch').filter((name) => !ofCluster.includes(name)))(
    'a search heeds or refuses "%s"',
    async (name) => {
      await expectEffect(overGrpc, '', { name });
    },
  );
});

describe('a follow', () => {
  it.each(selectionNames('logFollow').filter((name) => name !== 'time'))('heeds or refuses "%s"', async (name) => {
    const { beside = '', given } = SELECTION_CASES[name] ?? { given: '' };
    const start = /time=|cursor=/.test(`${beside}&${given}`) ? '' : `time=${DAY}T12:00:00Z`;
    await expectEffect(followed, '', { name, more: start });
  });
});

/** What a follow emits of what is there. */
async function followed(_path: string, query: string): Promise<unknown> {
  const leaving = new AbortController();
  const request = parseFollowRequest(new URLSearchParams(query), CLOCK);
  const client = createClient({ url: world.running.url, retries: 0 });
  const options = { signal: leaving.signal, positions: true };
  const isOfCluster = selectsMembers(request);
  const follow = client.follow(isOfCluster ? request : withoutSelection(request), options);
  const records: unknown[] = [];
  for await (const items of follow) {
    for (const item of items) if (item.type === 'record') records.push({ ...item, cursor: '' });
    // Of a node that is not selected nothing comes, not even where it stands.
    if (isOfCluster || items.some(({ type }) => type === 'position')) leaving.abort();
  }
  return records;
}
