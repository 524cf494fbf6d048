import type { FollowItem } from '@porthole/logs/types';
import { expect } from 'vitest';
import type { NodeState, SearchOptions } from '../../node-state.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { searchQuery } from './responses.ts';

const REASON = new Error('nobody wants to know any more');

/** What is left of a question that was given up. */
type CancelResult = 'answered' | 'told as cancelled' | 'threw the reason';

/** Any answer, or the signal's reason, but nothing else. */
async function runCancelled(ask: () => Promise<unknown>): Promise<CancelResult> {
  try {
    return (await ask()) === 'cancelled' ? 'told as cancelled' : 'answered';
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
  for await (const batch of node.searchLogs(searchQuery({ limit: 10_000 }), { signal: controller.signal })) {
    controller.abort(REASON);
    for (const item of batch) if (item.type === 'end') reason = item.reason;
  }
  return reason;
}

async function linesEnd(node: NodeState, when: 'before' | 'during'): Promise<unknown> {
  const controller = new AbortController();
  if (when === 'before') controller.abort(REASON);
  let text = '';
  for await (const piece of node.searchLogLines(searchQuery({ limit: 10_000 }), { signal: controller.signal })) {
    controller.abort(REASON);
    text += Buffer.from(piece).toString();
  }
  return /"reason":"cancelled"/.test(text) ? 'cancelled' : text;
}

const NO_COVERAGE = 'what a search had covered when it was given up is known to the node alone: the reason is thrown';
const NOT_SENT = 'a request that was given up before it was sent is not sent: the reason is thrown';
const ABORTED = { signal: AbortSignal.abort(REASON) } satisfies SearchOptions;

type Calls = readonly [string, (node: NodeState) => Promise<unknown>][];

/** What the local node has at hand is not worth a look at the signal. */
const IMMEDIATE_CALLS: Calls = [
  ['a description', (node) => node.describe(ABORTED)],
  ['a configuration', (node) => node.config(ABORTED)],
  ['a list of settings', (node) => node.settings(ABORTED)],
  ['a list of logs', (node) => node.listLogs(ABORTED)],
  ['a view', async (node) => (await node.viewLog({ file: 'text.log', sizeBytes: 10 }, ABORTED)).close()],
  ['an opened log', async (node) => (await node.openLog({ file: 'text.log' }, ABORTED)).close()],
];

/** Their closing record says that they were given up. */
const CALLS_WITH_END: Calls = [
  ['a histogram', async (node) => (await node.logHistogram({ buckets: 10 }, ABORTED)).end.reason],
  ['a digest', async (node) => (await node.logDigest({ limit: 10 }, ABORTED)).end.reason],
  ['a search', (node) => searchEnd(node, 'before')],
  ['a search by lines', (node) => linesEnd(node, 'before')],
];

/** Questions that are given up by their signal. */
export const CANCELLATION_CASES: readonly NodeStateCase[] = [
  ...IMMEDIATE_CALLS.map(([what, ask]) =>
    nodeCase<CancelResult>({
      name: `${what} that is given up before it is asked for is answered, or fails with the reason`,
      run: (node) => runCancelled(() => ask(node)),
      differs: { http: NOT_SENT, grpc: NOT_SENT },
    }),
  ),
  nodeCase<CancelResult>({
    name: 'a list of details that is given up before it is asked for fails with the reason',
    run: (node) => runCancelled(() => node.logFiles(ABORTED)),
    check: (left) => expect(left).toBe('threw the reason'),
  }),
  ...CALLS_WITH_END.map(([what, ask]) =>
    nodeCase<CancelResult>({
      name: `${what} that is given up before it is asked for ends as cancelled, or with the reason`,
      run: (node) => runCancelled(() => ask(node)),
      check: (left) => expect(left).not.toBe('answered'),
      differs: { http: NOT_SENT, grpc: NOT_SENT },
    }),
  ),
  ...([searchEnd, linesEnd] as const).map((ask) =>
    nodeCase<CancelResult>({
      name: `a search that is given up when it has begun ends as cancelled, or with the reason (${ask.name})`,
      run: (node) => runCancelled(() => ask(node, 'during')),
      check: (left) => expect(left).not.toBe('answered'),
      differs: { http: NO_COVERAGE, grpc: NO_COVERAGE },
    }),
  ),
  nodeCase<FollowItem[]>({
    name: 'a follow that is given up before it has begun only tells its end',
    run: async (node) => {
      const items: FollowItem[] = [];
      for await (const batch of node.followLogs({ start: { back: 5 } }, ABORTED)) items.push(...batch);
      return items;
    },
    check: (items) => expect(items).toEqual([{ type: 'end', reason: 'cancelled' }]),
  }),
  ...(['view', 'open'] as const).map((way) =>
    nodeCase<CancelResult>({
      name: `bytes that are given up while they are read fail with the reason (${way})`,
      files: { 'a.log': '' },
      run: async (node, dir) => {
        dir.truncate('a.log', 64 * 1024 ** 2);
        const controller = new AbortController();
        const { signal } = controller;
        const whole = { file: 'a.log', sizeBytes: 64 * 1024 ** 2 };
        const opened = way === 'view' ? await node.viewLog(whole, { signal }) : await node.openLog(whole);
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
