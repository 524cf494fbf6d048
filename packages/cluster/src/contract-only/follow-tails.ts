import { type CallOptions, codeOf, errorMessage, LogSources } from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { FollowItem, FollowQuery } from '@porthole/logs/types';
import { FollowPosition } from './follow-position.ts';
import { nameOnNode, toNodeRecord } from './mirror-dir.ts';
import type { MissedPart, TailMirror } from './tail-mirror.ts';

/**
 * Poll interval for the list of files. Each request is a line in the access log of a LinDB node: a follow adds one per second,
 * and two if something was written.
 */
const POLL_MS = 1000;

/** Listing may fail during rotation; after this many consecutive failures, or one timeout, the node counts as down. */
const MAX_FAILURES = 3;

/**
 * Follows the files of a node by polling their newest parts; a part that was written but not read is a `gap`. While the node
 * does not respond, it is `reconnecting`, and what it has written meanwhile comes when it is back.
 */
export async function* followTails(
  mirror: TailMirror,
  query: FollowQuery,
  { signal, pollMs = POLL_MS }: CallOptions & { pollMs?: number } = {},
): AsyncGenerator<FollowItem[], void, undefined> {
  const { src } = query;
  const selection = src === undefined ? {} : { src };
  await mirror.refresh(selection, signal ? { signal } : {});
  const controller = new AbortController();
  const leave = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted) leave();
  const gaps: FollowItem[] = [];
  const followed = new LogSources(src);
  const forget = mirror.onMissed((missed) => {
    if (followed.hasFile(missed.file, familyName(missed.file))) gaps.push(toGap(missed));
  });
  const polling = new Polling(() => mirror.refresh(selection), { signal: controller.signal, pollMs });
  const position = new FollowPosition(query.start);
  try {
    let isMoved = true;
    while (isMoved) {
      isMoved = false;
      const { logs } = mirror.dir;
      const moving = new AbortController();
      const stay = mirror.onRezoned(() => moving.abort());
      const ends = AbortSignal.any([controller.signal, moving.signal]);
      const batches = logs.follow({ ...query, start: position.start() }, { signal: ends })[Symbol.asyncIterator]();
      position.started(Date.now()); // clock: where records begin that are followed
      try {
        for await (const items of polling.between(batches)) {
          isMoved = moving.signal.aborted && !controller.signal.aborted;
          if (isMoved) break;
          for (const item of items) if (item.type === 'record') position.track(item);
          if (gaps.length > 0) yield gaps.splice(0);
          const shown = items.flatMap(toNodeItems);
          if (shown.length > 0 || items.length === 0) yield shown;
        }
      } finally {
        stay();
        moving.abort();
        await batches.return?.();
      }
    }
  } finally {
    forget();
    signal?.removeEventListener('abort', leave);
    controller.abort();
  }
}

/** Polls the files of the node until the signal aborts. */
class Polling {
  /** What to say about the node. */
  #notices: FollowItem[][] = [];
  #noticed = () => {};
  readonly #pollMs: number;

  constructor(refresh: () => Promise<void>, { signal, pollMs }: { signal: AbortSignal; pollMs: number }) {
    this.#pollMs = pollMs;
    let failures = 0;
    let isDown = false;
    const poll = async () => {
      try {
        await refresh();
        if (isDown) this.#notice([]);
        [failures, isDown] = [0, false];
      } catch (error) {
        failures++;
        const isTimeout = codeOf(error) === 'DEADLINE_EXCEEDED';
        const isOut = failures >= MAX_FAILURES || isTimeout;
        if (isOut && !isDown && !signal.aborted) this.#notice([this.#reconnecting(error, isTimeout)]);
        isDown ||= isOut;
      }
      if (!signal.aborted) timer = setTimeout(poll, pollMs);
    };
    let timer = setTimeout(poll, pollMs);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  /** The batches, and between them what is to say about the node. */
  async *between(batches: AsyncIterator<FollowItem[]>): AsyncGenerator<FollowItem[], void, undefined> {
    // kept: belongs to one follow; it has a handler from birth
    let pending: Promise<IteratorResult<FollowItem[]>> | undefined;
    for (;;) {
      yield* this.#notices.splice(0);
      pending ??= batches.next();
      const noticed = new Promise<undefined>((resolve) => {
        this.#noticed = () => resolve(undefined);
      });
      const next = await Promise.race([pending, noticed]);
      if (next === undefined) continue;
      pending = undefined;
      if (next.done) return;
      yield next.value;
    }
  }

  #notice(items: FollowItem[]): void {
    this.#notices.push(items);
    this.#noticed();
  }

  #reconnecting(error: unknown, isTimeout: boolean): FollowItem {
    const reason = errorMessage(error);
    return { type: 'reconnecting', reason, waitMs: this.#pollMs, ...(isTimeout && { isTimeout }) };
  }
}

/** Omits events that happened in the mirror only. */
function toNodeItems(item: FollowItem): FollowItem[] {
  if (item.type === 'record') return [toNodeRecord(item)];
  if (item.type !== 'rotated') return [item];
  return nameOnNode(item.from) === nameOnNode(item.to) ? [] : [item];
}

function toGap({ file, bytes }: MissedPart): FollowItem {
  return { type: 'gap', family: familyName(file), reason: 'gone', bytes, after: null, until: null };
}

function familyName(file: string): string {
  return groupFamilies([file])[0]?.name ?? file;
}
