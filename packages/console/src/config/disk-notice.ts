import type { NodeSettings } from '@porthole/client';

export interface DiskNotice {
  text: string;
  /** What to know beyond it: which keys, or why. */
  detail: string | null;
}

/** Keys named in a notice before the rest is counted. */
const MAX_NAMED = 8;

/** What is to be said of the file on disk; `null` where it is as it was at start, or there is none. */
export function diskNotice({
  observes,
  file,
  disk,
}: Pick<NodeSettings, 'observes' | 'file' | 'disk'>): DiskNotice | null {
  switch (disk.state) {
    case 'none':
    case 'same':
      return null;
    case 'changed':
      return { text: changedText(observes, disk.differs.length), detail: nameKeys(disk) };
    case 'broken':
      return { text: 'File on disk is not valid: the node could not start with it', detail: disk.detail };
    case 'missing':
      return { text: 'File on disk is missing', detail: disk.detail ?? file };
  }
}

/** Whether a service has read its file again is not known; the node itself has not. */
function changedText(observes: NodeSettings['observes'], count: number): string {
  const keys = count === 0 ? '' : count === 1 ? ': 1 key' : `: ${count} keys`;
  if (observes === 'self') return `File on disk differs${keys} · restart needed`;
  return `File changed since start${keys} · a service that was not restarted runs with the values at start`;
}

function nameKeys({ differs, detail }: NodeSettings['disk']): string | null {
  if (differs.length === 0) return detail;
  const rest = differs.length - MAX_NAMED;
  return differs.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
