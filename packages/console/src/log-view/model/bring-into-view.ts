import type { RecordKey, ShownRecord } from '../source/log-source.ts';
import { recordKey } from '../source/record-key.ts';
import { nearestRecord } from './nearest-record.ts';
import type { RowBuffer } from './row-buffer.ts';
import type { WorkspaceState } from './workspace-state.ts';

export interface ShowOptions {
  align: 'top' | 'center' | 'bottom';
  /** The record that is brought into view, or the nearest to it; else the first behind the place. */
  near?: RecordKey;
  /** Puts it in focus. */
  isFocused?: boolean;
}

interface ViewTarget {
  options: ShowOptions;
  /** The first record behind the place; `undefined` where there is none. */
  firstNewer: ShownRecord | undefined;
  generation: number;
}

/** Where new rows are scrolled to. */
export function bringIntoView(
  buffer: RowBuffer,
  { options: wish, firstNewer, generation }: ViewTarget,
): Partial<WorkspaceState> {
  const { align, near, isFocused = false } = wish;
  const record = near
    ? nearestRecord(near, buffer, firstNewer)
    : align === 'bottom'
      ? buffer.last
      : (firstNewer ?? buffer.last);
  if (record === undefined) return { generation, anchor: null };
  const key = recordKey(record);
  // Nothing is behind the place: then the end is what comes nearest to it.
  const isBehindAll = !near && align === 'top' && firstNewer === undefined;
  return {
    generation,
    anchor: { key, align: isBehindAll ? 'bottom' : align },
    ...(isFocused && { focusedKey: key }),
  };
}
