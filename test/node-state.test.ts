import { isDeepStrictEqual } from 'node:util';
import { maskTimings, NODE_STATE_CASES, type NodeStateCase, SHARED } from '@porthole/contract/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CaseFixture, openFixture } from './testing/case-world.ts';
import { type Connected, IMPLEMENTATIONS, type Implementation, LOCAL } from './testing/implementations.ts';

let shared: CaseFixture;
let connected: Map<Implementation, Connected>;

beforeAll(async () => {
  shared = await openFixture(SHARED);
  connected = new Map();
  for (const implementation of IMPLEMENTATIONS)
    connected.set(implementation, await implementation.connect(shared.running));
});

afterAll(async () => {
  for (const { close } of connected.values()) await close();
  await shared.close();
});

for (const implementation of IMPLEMENTATIONS) {
  describe(implementation.name, () => {
    for (const given of selectCases(implementation)) {
      it(given.name, async () => {
        const model = await referenceResult(given);
        const answer = referenceFor(given) === implementation ? model : await runAlone(given, implementation);
        given.check?.(answer);
        const isSame = given.differs?.[implementation.id] === undefined;
        if (isSame && answer === model) return;
        const [actual, expected] = [maskTimings(answer), maskTimings(model)];
        if (!isSame) expect(actual, 'needs its reason no more').not.toStrictEqual(expected);
        // `expect` takes longer than many of the cases: it is called only for what will fail.
        else if (!isDeepStrictEqual(actual, expected)) expect(actual).toStrictEqual(expected);
      });
    }
  });
}

function selectCases({ id, every = 1 }: Implementation): readonly NodeStateCase[] {
  return NODE_STATE_CASES.filter(({ notRun: notAsked }, index) => notAsked?.[id] === undefined && index % every === 0);
}

/** The local node, or the first remote one where that cannot be asked. */
function referenceFor(given: NodeStateCase): Implementation {
  return IMPLEMENTATIONS.find(({ id }) => given.notRun?.[id] === undefined) ?? LOCAL;
}

const referenceResults = new Map<NodeStateCase, Promise<unknown>>();

/** Asked once, for all that are compared with it. */
function referenceResult(given: NodeStateCase): Promise<unknown> {
  const answer = referenceResults.get(given) ?? runAlone(given, referenceFor(given));
  referenceResults.set(given, answer);
  return answer;
}

/** Asks in the shared world, or in one of its own. */
async function runAlone(given: NodeStateCase, implementation: Implementation): Promise<unknown> {
  const inShared = connected.get(implementation);
  if (!given.files && inShared) return given.run(inShared.node, shared.dir);
  const world = await openFixture(given);
  const { node, close } = await implementation.connect(world.running);
  try {
    return await given.run(node, world.dir);
  } finally {
    await close();
    await world.close();
  }
}
