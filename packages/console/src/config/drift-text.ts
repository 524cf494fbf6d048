import type { MemberOutcome } from '@porthole/client';
import type { DriftMatrix } from './drift-matrix.ts';

/** What keys expected to differ mostly are, by how their name ends. */
const KINDS: readonly { pattern: RegExp; words: string }[] = [
  { pattern: /port"?$/i, words: 'ports' },
  { pattern: /(?:dir|directory|path|folder|root|mount|file|cert|socket)"?$/i, words: 'directories' },
  { pattern: /(?:id|indicator|ordinal)"?$/i, words: 'ids' },
  {
    pattern: /(?:host|hostname|ip|addr|address|interface|bind|listen|advertise|advertised|url|uri|endpoint)"?$/i,
    words: 'addresses',
  },
  { pattern: /(?:name|alias|label|instance)"?$/i, words: 'names' },
];

const OUTCOME_LABELS: Readonly<Record<MemberOutcome, string>> = {
  ok: 'answered',
  refused: 'not reachable',
  timeout: 'no answer in time',
  tls: 'TLS failed',
  auth: 'refused our token',
  'not supported': 'tells no settings',
  version: 'answer not understood',
  failed: 'failed',
  gone: 'gone',
  left: 'left the cluster',
};

/** `3 keys differ among 3 storage nodes` */
export function driftHeading({ driftCount }: Pick<DriftMatrix, 'driftCount'>, nodeCount: number, role: string): string {
  const kind = role === 'node' ? '' : `${role} `;
  if (nodeCount === 1) return `Only 1 ${kind}node`;
  const among = `among ${nodeCount} ${kind}nodes`;
  if (driftCount === 0) return `No key differs ${among}`;
  return driftCount === 1 ? `1 key differs ${among}` : `${driftCount} keys differ ${among}`;
}

/** `4 keys expected to differ (ports, directories, ids)` */
export function expectedText(keys: readonly string[]): string {
  const kinds = KINDS.filter(({ pattern }) => keys.some((key) => pattern.test(key))).map(({ words }) => words);
  const count = keys.length === 1 ? '1 key' : `${keys.length} keys`;
  return `${count} expected to differ${kinds.length > 0 ? ` (${kinds.join(', ')})` : ''}`;
}

export function outcomeLabel(outcome: MemberOutcome): string {
  return OUTCOME_LABELS[outcome];
}
