import type { MemberReport } from '@porthole/client';

/** A node that is no longer listed: only the archive knows it. */
export function isPastNode({ outcome, archive, sinceMs = null }: MemberReport): boolean {
  return outcome === 'left' && archive !== undefined && sinceMs === null;
}
