import { type CallOptions, codeOf } from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { FollowItem, FollowQuery } from '@porthole/logs/types';
import { nameOnNode } from './mirror-dir.ts';
import type { MissedPart, TailMirror } from './tail-mirror.ts';

/**
 * Poll interval for the list of files. Each request is a line in the access log of a LinDB node: a follow adds one per second,
 * and two if something was written.
 */
const POLL_MS = 1000;

/** Listing may fail during rotation; after this many consecutive failures, or one timeout, the node counts as down. */
const MAX_FAILURES = 3;

/**
 * Follows the files of a node by polling their newest parts; a part that was written but not read is a `gap`. Throws when
 * the node no longer responds.
 */
export async function* followTails(
  mirror: TailMirror,
  query: FollowQuery,
  { signal, pollMs = POLL_MS }: CallOptions & { pollMs?: number } = {},
): AsyncGenerator<FollowItem[], void, undefined> {
  const { file, family } = query;
  const selection = { ...(file !== undefined && { file }), ...(family !== undefined && { family }) };
  await mirror.refresh(selection, signal ? { signal } : {});
  const { dir, release } = mirror.use();
  const controller = new AbortController();
  const leave = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted) leave();
  const gaps: FollowItem[] = [];
  const forget = mirror.onMissed((missed) => {
    if (isFollowed(missed, query)) gaps.push(toGap(missed));
  });
  const polling = new Polling(() => mirror.refresh(selection), { signal: controller.signal, pollMs });
  const batches = dir.logs.follow(query, { signal: controller.signal })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await polling.orFailure(batches.next());
      if (gaps.length > 0) yield gaps.splice(0);
      if (next.done) return;
      const items = next.value.flatMap(toNodeItems);
      if (items.length > 0 || next.value.length === 0) yield items;
    }
  } finally {
    forget();
    signal?.removeEventListener('abort', leave);
    controller.abort();
    await batches.return?.();
    release();
  }
}

/** Polls the files of the node until the signal aborts. */
class Polling {
  readonly #failed: Promise<never>;

  constructor(refresh: () => Promise<void>, { signal, pollMs }: { signal: AbortSignal; pollMs: number }) {
    this.#failed = new Promise<never>((_resolve, reject) => {
      let failures = 0;
      const poll = async () => {
        try {
          await refresh();
          failures = 0;
        } catch (error) {
          failures++;
          if (failures >= MAX_FAILURES || codeOf(error) === 'DEADLINE_EXCEEDED') return reject(error);
        }
        if (!signal.aborted) timer = setTimeout(poll, pollMs);
      };
      let timer = setTimeout(poll, pollMs);
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
    this.#failed.catch(() => {}); // orFailure() reports it
  }

  orFailure<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#failed]);
  }
}

/** Omits events that happened in the mirror only. */
function toNodeItems(item: FollowItem): FollowItem[] {
  if (item.type === 'record') {
    const file = nameOnNode(item.file);
    return [file === item.file ? item : { ...item, file }];
  }
  if (item.type !== 'rotated') return [item];
  return nameOnNode(item.from) === nameOnNode(item.to) ? [] : [item];
}

function isFollowed({ file }: MissedPart, { file: wanted, family }: FollowQuery): boolean {
  if (wanted !== undefined) return file === wanted;
  return family === undefined || familyName(file) === family;
}

function toGap({ file, bytes }: MissedPart): FollowItem {
  return { type: 'gap', family: familyName(file), reason: 'gone', bytes, after: null, until: null };
}

function familyName(file: string): string {
  return groupFamilies([file])[0]?.name ?? file;
}
