import type { FollowItem } from '@porthole/logs/types';
import { expect } from 'vitest';
import type { NodeState, SearchOptions } from '../../node-state.ts';
import { searchQuery } from './answers.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';

const REASON = new Error('nobody wants to know any more');

/** What is left of a question that was given up. */
type Left = 'answered' | 'told as cancelled' | 'threw the reason';

/** Any answer, or the signal's reason, but nothing else. */
async function leftOf(ask: () => Promise<unknown>): Promise<Left> {
  try {
    return (await ask()) === 'cancelled' ? 'told as cancelled' : 'answered';
  } catch (error) {
    if (error !== REASON) throw error;
    return 'threw the reason';
  }
}

/** The reason of the end of a search whose signal fires before it, or at its first batch. */
async function searchEnd(node: NodeState, when: 'before' | 'during'): Promise<unknown> {
  const leaving = new AbortController();
  if (when === 'before') leaving.abort(REASON);
  let reason: unknown;
  for await (const batch of node.searchLogs(searchQuery({ limit: 10_000 }), { signal: leaving.signal })) {
    leaving.abort(REASON);
    for (const item of batch) if (item.type === 'end') reason = item.reason;
  }
  return reason;
}

async function linesEnd(node: NodeState, when: 'before' | 'during'): Promise<unknown> {
  const leaving = new AbortController();
  if (when === 'before') leaving.abort(REASON);
  let text = '';
  for await (const piece of node.searchLogLines(searchQuery({ limit: 10_000 }), { signal: leaving.signal })) {
    leaving.abort(REASON);
    text += Buffer.from(piece).toString();
  }
  return /"reason":"cancelled"/.test(text) ? 'cancelled' : text;
}

const NO_RECEIPT = 'what a search had covered when it was given up is known to the node alone: the reason is thrown';
const NOT_ASKED = 'a request that was given up before it was sent is not sent: the reason is thrown';
const GONE = { signal: AbortSignal.abort(REASON) } satisfies SearchOptions;

type Questions = readonly [string, (node: NodeState) => Promise<unknown>][];

/** What the local node has at hand is not worth a look at the signal. */
const AT_HAND: Questions = [
  ['a description', (node) => node.describe(GONE)],
  ['a configuration', (node) => node.config(GONE)],
  ['a list of settings', (node) => node.settings(GONE)],
  ['a list of logs', (node) => node.listLogs(GONE)],
  ['a view', async (node) => (await node.viewLog({ file: 'text.log', sizeBytes: 10 }, GONE)).close()],
  ['an opened log', async (node) => (await node.openLog({ file: 'text.log' }, GONE)).close()],
];

/** Their closing record says that they were given up. */
const WITH_AN_END: Questions = [
  ['a histogram', async (node) => (await node.logHistogram({ buckets: 10 }, GONE)).end.reason],
  ['a digest', async (node) => (await node.logDigest({ limit: 10 }, GONE)).end.reason],
  ['a search', (node) => searchEnd(node, 'before')],
  ['a search by lines', (node) => linesEnd(node, 'before')],
];

/** Questions that are given up by their signal. */
export const LEAVING_CASES: readonly NodeStateCase[] = [
  ...AT_HAND.map(([what, ask]) =>
    nodeCase<Left>({
      name: `${what} that is given up before it is asked for is answered, or fails with the reason`,
      ask: (node) => leftOf(() => ask(node)),
      differs: { http: NOT_ASKED, grpc: NOT_ASKED },
    }),
  ),
  nodeCase<Left>({
    name: 'a list of details that is given up before it is asked for fails with the reason',
    ask: (node) => leftOf(() => node.logFiles(GONE)),
    check: (left) => expect(left).toBe('threw the reason'),
  }),
  ...WITH_AN_END.map(([what, ask]) =>
    nodeCase<Left>({
      name: `${what} that is given up before it is asked for ends as cancelled, or with the reason`,
      ask: (node) => leftOf(() => ask(node)),
      check: (left) => expect(left).not.toBe('answered'),
      differs: { http: NOT_ASKED, grpc: NOT_ASKED },
    }),
  ),
  ...([searchEnd, linesEnd] as const).map((ask) =>
    nodeCase<Left>({
      name: `a search that is given up when it has begun ends as cancelled, or with the reason (${ask.name})`,
      ask: (node) => leftOf(() => ask(node, 'during')),
      check: (left) => expect(left).not.toBe('answered'),
      differs: { http: NO_RECEIPT, grpc: NO_RECEIPT },
    }),
  ),
  nodeCase<FollowItem[]>({
    name: 'a follow that is given up before it has begun only tells its end',
    ask: async (node) => {
      const items: FollowItem[] = [];
      for await (const batch of node.followLogs({ start: { back: 5 } }, GONE)) items.push(...batch);
      return items;
    },
    check: (items) => expect(items).toEqual([{ type: 'end', reason: 'cancelled' }]),
  }),
  ...(['view', 'open'] as const).map((way) =>
    nodeCase<Left>({
      name: `bytes that are given up while they are read fail with the reason (${way})`,
      files: { 'a.log': '' },
      ask: async (node, dir) => {
        dir.truncate('a.log', 64 * 1024 ** 2);
        const leaving = new AbortController();
        const { signal } = leaving;
        const whole = { file: 'a.log', sizeBytes: 64 * 1024 ** 2 };
        const opened = way === 'view' ? await node.viewLog(whole, { signal }) : await node.openLog(whole);
        const chunks = 'chunks' in opened ? opened.chunks : opened.read(0, whole.sizeBytes, { signal });
        const left = await leftOf(async () => {
          for await (const _ of chunks) leaving.abort(REASON);
        });
        await opened.close();
        return left;
      },
      check: (left) => expect(left).toBe('threw the reason'),
    }),
  ),
];
