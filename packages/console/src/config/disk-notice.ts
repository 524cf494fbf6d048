import type { NodeSettings } from '@porthole/client';

export interface DiskNotice {
  text: string;
  /** What to know beyond it: which keys, or why. */
  detail: string | null;
}

/** Keys named in a notice before the rest is counted. */
const MAX_NAMED = 8;

/** What is to be said of the file on disk; `null` where it is what the node runs with, or there is none. */
export function diskNotice({ file, disk }: Pick<NodeSettings, 'file' | 'disk'>): DiskNotice | null {
  switch (disk.state) {
    case 'none':
    case 'same':
      return null;
    case 'changed':
      return { text: `file on disk differs: ${countKeys(disk.differs.length)}restart needed`, detail: nameKeys(disk) };
    case 'broken':
      return { text: 'file on disk is not valid: the node could not start with it', detail: disk.detail };
    case 'missing':
      return { text: 'file on disk is gone', detail: disk.detail ?? file };
  }
}

/** Changes of a comment, or of what is masked the same, name no key. */
function countKeys(count: number): string {
  if (count === 0) return '';
  return count === 1 ? '1 key, ' : `${count} keys, `;
}

function nameKeys({ differs, detail }: NodeSettings['disk']): string | null {
  if (differs.length === 0) return detail;
  const rest = differs.length - MAX_NAMED;
  return differs.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
