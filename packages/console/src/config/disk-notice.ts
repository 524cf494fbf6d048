import type { NodeSettings } from '@porthole/client';

export interface DiskNotice {
  text: string;
  /** Which keys changed, or why the file is invalid. */
  detail: string | null;
}

/** Keys listed by name; the rest is a count. */
const MAX_NAMED = 8;

/** The notice about the file on disk; `null` if the file has not changed since start, or there is none. */
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
      return { text: 'File on disk is invalid: the node could not start with it', detail: disk.detail };
    case 'missing':
      return { text: 'File on disk is missing', detail: disk.detail ?? file };
  }
}

/** Whether a service has reloaded its file is unknown; the node itself never does. */
function changedText(observes: NodeSettings['observes'], count: number): string {
  const keys = count === 0 ? '' : count === 1 ? ': 1 key' : `: ${count} keys`;
  if (observes === 'self') return `File on disk differs${keys} · restart needed`;
  return `File changed since start${keys} · the service runs with the old values until it is restarted`;
}

function nameKeys({ differs, detail }: NodeSettings['disk']): string | null {
  if (differs.length === 0) return detail;
  const rest = differs.length - MAX_NAMED;
  return differs.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
