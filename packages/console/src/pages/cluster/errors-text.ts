import type { ClusterNode } from '@porthole/client';
import { formatCount } from '../../ui/format.ts';

/** Errors of the nodes that counted, and how many those are. */
export interface CountedErrors {
  errors: number;
  counted: number;
}

/** `3 errors on 4 of 5 nodes`. Never "no errors" for nodes that did not count. */
export function errorsText(
  nodes: readonly Pick<ClusterNode, 'state'>[],
  counts: CountedErrors | null,
): { text: string; isAlarm: boolean } {
  const expected = nodes.filter(({ state }) => state !== 'left').length;
  if (counts === null)
    return { text: expected === 1 ? 'Errors on this node' : 'Errors across the cluster', isAlarm: false };
  const { errors, counted } = counts;
  const isAll = counted >= expected;
  const all = expected === 1 ? 'on this node' : `on all ${expected} nodes`;
  const where = isAll ? all : `on ${counted} of ${expected} nodes`;
  if (errors > 0)
    return { text: `${formatCount(errors)} ${errors === 1 ? 'error' : 'errors'} ${where}`, isAlarm: true };
  if (counted === 0)
    return { text: expected === 1 ? 'Errors not counted' : 'Errors not counted on any node', isAlarm: true };
  return { text: `No errors ${where}`, isAlarm: !isAll };
}
