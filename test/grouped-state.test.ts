import { isDeepStrictEqual } from 'node:util';
import { CLUSTER_CASES, maskTimings, type NodeStateCase, SHARED } from '@porthole/contract/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asNode, type GroupedNodes, openGroupedNodes } from './testing/grouped-nodes.ts';

/** One in so many cases is run: tree-search.properties.test.ts compares any searches. `MORE=2` runs all of them. */
const EVERY = Number(process.env.MORE ?? 1) > 1 ? 1 : 16;

/** What is not the same twice: times of the nodes, and what depends on how exactly clocks could be measured. */
const VARYING: ReadonlySet<string> = new Set(['elapsedMs', 'sinceMs', 'asOfMs', 'uncertaintyMs', 'isUnsure']);

/** What a page that is full knows of members depends on how fast they are, asked directly as well. */
const OF_FULL_PAGE: ReadonlySet<string> = new Set([
  ...['scannedBytes', 'skippedBytes', 'coveredFromMs', 'coveredToMs'],
  ...['problems', 'duplicates', 'detail', 'isPartial'],
]);

let nodes: GroupedNodes;

beforeAll(async () => {
  nodes = await openGroupedNodes(SHARED.files);
});

afterAll(() => nodes.close());

describe('the cases of a node, of members that are asked through helpers', () => {
  for (const given of CLUSTER_CASES.filter((_, index) => index % EVERY === 0)) {
    it(given.name, async () => {
      const answer = await run(given, nodes.tree);
      given.check?.(answer);
      const [actual, expected] = [answer, await run(given, nodes.direct)].map(comparable);
      if (!isDeepStrictEqual(actual, expected)) expect(actual).toStrictEqual(expected);
    });
  }

  it('ask helpers, and are not asked directly', async () => {
    expect(await nodes.groupsAsked()).toBeGreaterThan(0);
  });
});

function run(given: NodeStateCase, cluster: GroupedNodes['tree']): Promise<unknown> {
  return given.run(asNode(cluster), {} as Parameters<NodeStateCase['run']>[1]);
}

function comparable(answer: unknown): unknown {
  // Whether the last page is known to be the last when it is full depends on the same.
  const { ends, ...rest } = Object(answer) as { ends?: unknown };
  const value = ends === undefined ? answer : rest;
  const text = JSON.stringify(value, (key, each) => (VARYING.has(key) ? undefined : each));
  return maskTimings(JSON.parse(text, (_key, each) => (each?.reason === 'limit' ? withoutProgress(each) : each)));
}

/** What is missing beside the next page has the same reason. */
function withoutProgress(end: { members?: readonly object[] }): unknown {
  if (!end.members) return end;
  const strip = (each: object) => Object.fromEntries(Object.entries(each).filter(([key]) => !OF_FULL_PAGE.has(key)));
  return { ...strip(end), cursor: 'one', members: end.members.map(strip) };
}
