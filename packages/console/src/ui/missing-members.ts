import type { MemberOutcome, MemberReport } from '@porthole/client';

const OUTCOMES: Readonly<Record<MemberOutcome, string>> = {
  ok: 'up',
  refused: 'no connection',
  timeout: 'timed out',
  tls: 'certificate not trusted',
  auth: 'rejected our token',
  'not supported': 'not supported',
  version: 'invalid response',
  failed: 'failed',
  gone: 'lease expired',
  left: 'left the cluster',
};

/** Why a member's data is missing, in a few words. */
export function outcomeText(outcome: MemberOutcome): string {
  return OUTCOMES[outcome];
}

/** A node that is no longer listed: only the archive knows it. */
export function isPastNode({ outcome, archive, sinceMs = null }: MemberReport): boolean {
  return outcome === 'left' && archive !== undefined && sinceMs === null;
}

/** Members whose data is missing or incomplete, with a short reason and the full detail. */
export function missingMembers(members: readonly MemberReport[]): { id: string; why: string; detail: string | null }[] {
  return members
    .filter(({ outcome, isPartial }) => isPartial || (outcome !== 'ok' && outcome !== 'left'))
    .map(({ id, outcome, detail }) => ({ id, why: outcome === 'ok' ? (detail ?? '') : outcomeText(outcome), detail }));
}
