import type { ScanReport, TimesJob } from '../jobs.ts';
import { PartScan, type ScanTools } from './scan-part.ts';

/** The earliest and the latest time of the records that start in a part. */
export function scanTimes(job: TimesJob, tools: ScanTools): ScanReport {
  const scan = new PartScan(job, tools);
  let [minMs, maxMs] = [Infinity, -Infinity];
  for (const block of scan.blocks()) {
    const { count, starts, times } = scan.records(block);
    for (let index = 0; index < count; index++) {
      const time = times[index] ?? Number.NaN;
      if (!scan.isInside(starts[index] ?? 0)) continue;
      if (time < minMs) minMs = time;
      if (time > maxMs) maxMs = time;
    }
  }
  return { ...scan.report, minMs, maxMs };
}
