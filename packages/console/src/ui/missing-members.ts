import type { MemberOutcome, MemberReport } from '@porthole/client';

const OUTCOMES: Readonly<Record<MemberOutcome, string>> = {
  ok: 'up',
  refused: 'no connection',
  timeout: 'timed out',
  tls: 'no trust in its certificate',
  auth: 'it refuses our token',
  'not supported': 'it cannot do this',
  version: 'its answer makes no sense',
  failed: 'it failed',
  gone: 'no longer registered',
  left: 'left the cluster',
};

/** Why a member's part is not there, in a few words. */
export function outcomeText(outcome: MemberOutcome): string {
  return OUTCOMES[outcome];
}

/** Those whose part is missing or cut, and why; the detail is for who wants to know more. */
export function missingMembers(members: readonly MemberReport[]): { id: string; why: string; detail: string | null }[] {
  return members
    .filter(({ outcome, isPartial }) => isPartial || (outcome !== 'ok' && outcome !== 'left'))
    .map(({ id, outcome, detail }) => ({ id, why: outcome === 'ok' ? (detail ?? '') : outcomeText(outcome), detail }));
}
