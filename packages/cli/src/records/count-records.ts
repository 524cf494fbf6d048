import { type AnswerFacts, absenceText } from '@porthole/contract';
import type { Histogram, Zone } from '@porthole/logs';
import { EXIT } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { Progress } from '../output/progress.ts';
import type { LogSource } from '../sources/log-source.ts';
import { openSources } from '../sources/open-sources.ts';
import { Receipt } from './receipt.ts';
import { shownZone } from './record-flags.ts';

/** The result of a node reports its coverage, that of a cluster its members. */
type Count = { end: Histogram['end'] } | (AnswerFacts & Required<Pick<AnswerFacts, 'members'>>);

export interface CountOptions<T extends Count> {
  /** All arguments, unless given. */
  targets?: readonly string[];
  query(source: LogSource, zone: Zone): Promise<T>;
  /** `target` is the argument, where there are several. */
  text(result: T, zone: Zone, target?: string): string;
  isEmpty(result: T): boolean;
  signal: AbortSignal;
}

/** Queries the sources one after the other and prints their counts. Resolves with the exit code. */
export async function countRecords<T extends Count>(
  invocation: Invocation,
  { targets = invocation.args, query, text, isEmpty, signal }: CountOptions<T>,
): Promise<number> {
  if (invocation.isOn('explain')) return (await import('./explain-filter.ts')).explainFilter(invocation);
  const { terminal } = invocation;
  const { sources, close } = await openSources(invocation, targets);
  const receipt = new Receipt();
  const startedMs = performance.now();
  const progress = new Progress(
    terminal,
    () => `counting for ${((performance.now() - startedMs) / 1000).toFixed(0)} s; Ctrl-C to stop`,
  );
  try {
    const zone = shownZone(invocation, sources);
    let isNothing = true;
    let isCut = false;
    for (const source of sources) {
      const result = await query(source, zone);
      signal.throwIfAborted();
      progress.clear();
      receipt.add('end' in result ? result.end : result, source.place);
      isNothing &&= isEmpty(result);
      isCut ||= 'end' in result && result.end.reason === 'time budget';
      if (sources.length > 1) terminal.note(`${source.label}:`);
      await terminal.write(text(result, zone, sources.length > 1 ? source.label : undefined));
    }
    progress.end();
    // Counts of a cluster do not report their bytes.
    const scanned = receipt.scannedBytes > 0 ? `; ${receipt.describe()}` : '';
    if (isNothing && terminal.isWatched) terminal.note(`${absenceText('no match', receipt.coverage)}${scanned}`);
    receipt.warn(terminal);
    if (isCut) terminal.warn('scan stopped by the time budget of the node; narrow the time range with --since');
    if (receipt.isPartial || isCut) return EXIT.partial;
    return isNothing ? EXIT.different : EXIT.ok;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    progress.end();
    await close();
  }
}
