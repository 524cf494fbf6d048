import { useEffect, useRef, useState } from 'preact/hooks';
import type { FollowStatus, Workspace } from '../../../log-view/model/workspace-state.ts';
import { formatCount } from '../../../ui/format.ts';

/** Minimum time between announcements to screen readers. */
const EVERY_MS = 5000;

/** Announces new records to screen readers. */
export function LiveSummary({ workspace }: { workspace: Workspace }) {
  const [text, setText] = useState('');
  const announced = useRef({ key: '', errors: 0, records: 0 });
  useEffect(() => {
    const timer = setInterval(() => setText(summarize(workspace, announced.current)), EVERY_MS);
    return () => clearInterval(timer);
  }, [workspace]);
  return (
    <p class="sr-only" role="status" aria-live="polite">
      {text}
    </p>
  );
}

interface Announced {
  key: string;
  errors: number;
  records: number;
}

function summarize({ state }: Workspace, announced: Announced): string {
  const { records, errors } =
    state.follow.state === 'live' ? sinceLast(state.rows, announced) : waiting(state.follow, announced);
  if (records === 0) return '';
  const lines = `${formatCount(records)} new ${records === 1 ? 'line' : 'lines'}`;
  return errors === 0 ? lines : `${lines}, ${formatCount(errors)} ${errors === 1 ? 'error' : 'errors'}`;
}

/** Rows after the one that was last at the previous announcement. */
function sinceLast(rows: Workspace['state']['rows'], announced: Announced): { records: number; errors: number } {
  let records = 0;
  let errors = 0;
  for (const row of rows.toReversed()) {
    if (row.key === announced.key) break;
    if (row.kind !== 'record') continue;
    records++;
    if (row.record.level === 'ERROR' || row.record.level === 'FATAL') errors++;
  }
  const isFirst = announced.key === '';
  announced.key = rows.at(-1)?.key ?? '';
  return isFirst ? { records: 0, errors: 0 } : { records, errors };
}

function waiting({ newRecords, newErrors }: FollowStatus, announced: Announced): { records: number; errors: number } {
  const more = {
    records: Math.max(0, newRecords - announced.records),
    errors: Math.max(0, newErrors - announced.errors),
  };
  announced.records = newRecords;
  announced.errors = newErrors;
  return more;
}
