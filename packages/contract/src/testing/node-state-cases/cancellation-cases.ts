import type { FollowItem } from '@porthole/logs/types';
import { expect } from 'vitest';
import type { NodeState, SearchOptions } from '../../node-state.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { searchQuery } from './responses.ts';

const REASON = new Error('cancelled by the test');

/** The outcome of a cancelled call. */
type CancelResult = 'completed' | 'ended as cancelled' | 'threw the reason';

/** Completes or throws the reason of the signal, nothing else. */
async function runCancelled(call: () => Promise<unknown>): Promise<CancelResult> {
  try {
    return (await call()) === 'cancelled' ? 'ended as cancelled' : 'completed';
  } catch (error) {
    if (error !== REASON) throw error;
    return 'threw the reason';
  }
}

/** The reason of the end of a search whose signal fires before it, or at its first batch. */
async function searchEnd(node: NodeState, when: 'before' | 'during'): Promise<unknown> {
  const controller = new AbortController();
  if (when === 'before') controller.abort(REASON);
  let reason: unknown;
  for await (const item of node.search(searchQuery({ limit: 10_000 }), { signal: controller.signal })) {
    controller.abort(REASON);
    if (item.type === 'end') reason = item.reason;
  }
  return reason;
}

const NO_COVERAGE = 'only the node knows the coverage of a cancelled search: the reason is thrown';
const NOT_SENT = 'a request that is cancelled before it is sent is not sent: the reason is thrown';
const ABORTED = { signal: AbortSignal.abort(REASON) } satisfies SearchOptions;

type Calls = readonly [string, (node: NodeState) => Promise<unknown>][];

/** The local node responds at once, without checking the signal. */
const IMMEDIATE_CALLS: Calls = [
  ['a description', (node) => node.describe(ABORTED)],
  ['a configuration', (node) => node.config(ABORTED)],
  ['a list of settings', (node) => node.settings(ABORTED)],
  ['a list of logs', (node) => node.listLogs(ABORTED)],
  ['a view', async (node) => (await node.viewLog({ file: 'text.log', sizeBytes: 10 }, ABORTED)).close()],
  ['an opened log', async (node) => (await node.openLog({ file: 'text.log' }, ABORTED)).close()],
];

/** Their closing record has the reason `cancelled`. */
const CALLS_WITH_END: Calls = [
  ['a histogram', async (node) => (await node.logHistogram({ buckets: 10 }, ABORTED)).end.reason],
  ['a digest', async (node) => (await node.logDigest({ limit: 10 }, ABORTED)).end.reason],
  ['a list of fields', async (node) => (await node.logFields({ limit: 10 }, ABORTED)).end.reason],
  ['a count by value', async (node) => (await node.logTop({ by: 'level', limit: 10 }, ABORTED)).end.reason],
  ['a search', (node) => searchEnd(node, 'before')],
];

/** Calls that are cancelled by their signal. */
export const CANCELLATION_CASES: readonly NodeStateCase[] = [
  ...IMMEDIATE_CALLS.map(([what, call]) =>
    nodeCase<CancelResult>({
      name: `${what} that is cancelled before it starts completes, or fails with the reason`,
      run: (node) => runCancelled(() => call(node)),
      differs: { http: NOT_SENT, grpc: NOT_SENT },
    }),
  ),
  nodeCase<CancelResult>({
    name: 'a list of details that is cancelled before it starts fails with the reason',
    run: (node) => runCancelled(() => node.logFiles(ABORTED)),
    check: (left) => expect(left).toBe('threw the reason'),
  }),
  ...CALLS_WITH_END.map(([what, call]) =>
    nodeCase<CancelResult>({
      name: `${what} that is cancelled before it starts ends as cancelled, or with the reason`,
      run: (node) => runCancelled(() => call(node)),
      check: (left) => expect(left).not.toBe('completed'),
      differs: { http: NOT_SENT, grpc: NOT_SENT },
    }),
  ),
  nodeCase<CancelResult>({
    name: 'a search that is cancelled after it started ends as cancelled, or with the reason',
    run: (node) => runCancelled(() => searchEnd(node, 'during')),
    check: (left) => expect(left).not.toBe('completed'),
    differs: { http: NO_COVERAGE, grpc: NO_COVERAGE },
  }),
  nodeCase<FollowItem[]>({
    name: 'a follow that is cancelled before it starts emits only its end',
    run: async (node) => {
      const items: FollowItem[] = [];
      for await (const batch of node.followLogs({ start: { back: 5 } }, ABORTED)) items.push(...batch);
      return items;
    },
    check: (items) => expect(items).toEqual([{ type: 'end', reason: 'cancelled' }]),
  }),
  ...(['view', 'open'] as const).map((way) =>
    nodeCase<CancelResult>({
      name: `reads that are cancelled fail with the reason (${way})`,
      files: { 'a.log': '' },
      run: async (node, dir) => {
        dir.truncate('a.log', 64 * 1024 ** 2);
        const controller = new AbortController();
        const { signal } = controller;
        const whole = { file: 'a.log', sizeBytes: 64 * 1024 ** 2 };
        const opened =
          way === 'view' ? await node.viewLog(whole, { signal }) : await node.openLog({ file: whole.file });
        const chunks = 'chunks' in opened ? opened.chunks : opened.read(0, whole.sizeBytes, { signal });
        const left = await runCancelled(async () => {
          for await (const _ of chunks) controller.abort(REASON);
        });
        await opened.close();
        return left;
      },
      check: (left) => expect(left).toBe('threw the reason'),
    }),
  ),
];
