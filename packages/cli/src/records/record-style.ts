import type { Zone } from '@porthole/logs';
import type { Invocation } from '../invocation.ts';
import { marksPattern, type RecordFormat, type RecordStyle } from '../output/format-record.ts';
import type { LogSource } from '../sources/log-source.ts';

/** The output style according to flags and terminal. */
export function recordStyle(invocation: Invocation, sources: readonly LogSource[], zone: Zone): RecordStyle {
  const { colors, isTty } = invocation.terminal;
  const format = (invocation.text('output') as RecordFormat | undefined) ?? (isTty ? 'pretty' : 'raw');
  const [first] = sources;
  const isMany = sources.length > 1 || first?.isCluster || first?.selection.file === undefined;
  const choice = invocation.text('prefix') ?? 'auto';
  const prefix = choice === 'always' || (choice === 'auto' && format === 'pretty' && isMany);
  const marks = marksPattern(invocation.texts('grep').filter(Boolean), invocation.isOn('case-sensitive'));
  return { format, colors, zone, isTty, prefix, marks };
}

/** Number of context records before and after each match. */
export function contextCounts(invocation: Invocation): { before: number; after: number } {
  const around = invocation.number('context') ?? 0;
  return {
    before: invocation.number('before-context') ?? around,
    after: invocation.number('after-context') ?? around,
  };
}
