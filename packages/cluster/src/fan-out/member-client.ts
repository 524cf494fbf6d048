import { createClient, type NodeClient } from '@porthole/client';
import type { FetchFunction } from '@porthole/contract';
import type { SharedBudget } from './response-budget.ts';

/** Retry delays of a follow, doubling; other requests are not retried. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

interface MemberClientOptions {
  selfId: string;
  /** Timeout until the response head. */
  timeoutMs: number;
  /** Shared by the responses of all members. */
  responses: SharedBudget;
}

/** How this node asks a member. */
export function clientFor(
  url: string,
  fetch: FetchFunction,
  { selfId, timeoutMs, responses }: MemberClientOptions,
): NodeClient {
  return createClient({
    url,
    // Members are near: compressing would take longer than sending, and no member can make this node inflate its response.
    headers: { 'porthole-via': selfId, 'accept-encoding': 'identity' },
    fetch,
    remoteTexts: 'hide',
    timeoutMs,
    responseBudget: responses,
    retries: 0,
    backoffMs: FIRST_WAIT_MS,
    maxBackoffMs: LONGEST_WAIT_MS,
  });
}
