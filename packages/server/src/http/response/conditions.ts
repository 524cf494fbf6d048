import type { IncomingHttpHeaders } from 'node:http';

/** What a conditional request is compared with. */
export interface Validators {
  etag: string;
  /** `NaN` where no date is told: then it is neither newer nor older than any. */
  modifiedMs: number;
}

export type ConditionVerdict = 'proceed' | 'not-modified' | 'failed';

/**
 * Evaluates the preconditions in the order of RFC 9110, 13.2.2. `If-Modified-Since` is ignored: dates are of whole seconds
 * and can be set back, so that a file that was changed would be taken for the one that was. The tag has none of both.
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

/** Whether a range may be taken from the file as it is now. A date is never strong enough for a file that is written to. */
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
