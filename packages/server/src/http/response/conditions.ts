import type { IncomingHttpHeaders } from 'node:http';

/** What conditional requests are compared with. */
export interface Validators {
  etag: string;
  /** `NaN` if unknown: then it is neither newer nor older than any date. */
  modifiedMs: number;
}

export type ConditionVerdict = 'proceed' | 'not-modified' | 'failed';

/**
 * Evaluates the preconditions in the order of RFC 9110, 13.2.2. `If-Modified-Since` is ignored: dates have whole seconds
 * and can be set back, so that a changed file could be taken for unchanged. Entity tags do not have these problems.
 */
export function evaluateConditions(headers: IncomingHttpHeaders, file: Validators): ConditionVerdict {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match !== undefined) {
    if (!hasTag(match, file.etag)) return 'failed';
  } else if (isOlder(headers['if-unmodified-since'], file)) {
    return 'failed';
  }
  if (noneMatch !== undefined) return hasTag(noneMatch, file.etag, { weak: true }) ? 'not-modified' : 'proceed';
  return 'proceed';
}

/** Whether a range may be served from the current file. A date is never strong enough for a file that is being written. */
export function rangeStillHolds(ifRange: string | undefined, file: Validators): boolean {
  return ifRange === undefined || ifRange.trim() === file.etag;
}

function hasTag(list: string, etag: string, { weak = false } = {}): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some((part) => {
    const tag = part.trim();
    return tag === etag || (weak && tag === `W/${etag}`);
  });
}

function isOlder(date: string | undefined, { modifiedMs }: Validators): boolean {
  const limit = Date.parse(date ?? '');
  return wholeSeconds(modifiedMs) > limit;
}

/** HTTP dates have no fraction. */
function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}
