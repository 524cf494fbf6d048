import { useEffect, useRef, useState } from 'preact/hooks';
import type { FollowStatus, Workspace } from '../../../log-view/model/workspace-state.ts';
import { formatCount } from '../../../ui/format.ts';

/** A screen reader is told at most this often. */
const EVERY_MS = 5000;

/** Says now and then how much came, for those who do not see it. */
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

function summarize({ state }: Workspace, told: Announced): string {
  const { records, errors } = state.follow.state === 'live' ? sinceLast(state.rows, told) : waiting(state.follow, told);
  if (records === 0) return '';
  const lines = `${formatCount(records)} new ${records === 1 ? 'line' : 'lines'}`;
  return errors === 0 ? lines : `${lines}, ${formatCount(errors)} ${errors === 1 ? 'error' : 'errors'}`;
}

/** Rows behind the one that was last when it was told before. */
function sinceLast(rows: Workspace['state']['rows'], told: Announced): { records: number; errors: number } {
  let records = 0;
  let errors = 0;
  for (const row of rows.toReversed()) {
    if (row.key === told.key) break;
    if (row.kind !== 'record') continue;
    records++;
    if (row.record.level === 'ERROR' || row.record.level === 'FATAL') errors++;
  }
  const isFirst = told.key === '';
  told.key = rows.at(-1)?.key ?? '';
  return isFirst ? { records: 0, errors: 0 } : { records, errors };
}

function waiting({ newRecords, newErrors }: FollowStatus, told: Announced): { records: number; errors: number } {
  const more = { records: Math.max(0, newRecords - told.records), errors: Math.max(0, newErrors - told.errors) };
  told.records = newRecords;
  told.errors = newErrors;
  return more;
}
