import type { MemberClock } from '@porthole/client';
import { recordTime } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import type { ZoneName } from '../../../state/view.ts';
import { formatDate, formatTime } from '../../../ui/format.ts';

/** The time of a record, and how much the clock of its node was put right, and how sure that is. */
export function recordTimeText(record: ShownRecord, clock: MemberClock | null, zone: ZoneName): string {
  const timeMs = recordTime(record);
  if (timeMs === undefined) return 'no time';
  const time = `${formatDate(timeMs, zone)} ${formatTime(timeMs, zone)}`;
  const correctedMs = record.timeMs === undefined ? 0 : timeMs - record.timeMs;
  const unsure = clock && clock.uncertaintyMs > 0 ? ` ± ${seconds(clock.uncertaintyMs)}` : '';
  if (correctedMs === 0) return unsure ? `${time}${unsure}` : time;
  return `${time} · ${correctedMs > 0 ? '+' : '−'}${seconds(Math.abs(correctedMs))} corrected${unsure}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}
