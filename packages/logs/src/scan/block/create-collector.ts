import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import type { Format } from '../../parse/format.ts';
import type { FoundCollector, RecordsJob } from './found-lines.ts';
import { RecordLines } from './record-lines.ts';
import { RecordTexts } from './record-texts.ts';

/** Collects what a job finds, in the form it is requested in. */
export function createCollector(job: RecordsJob, tools: { kernel: ScanKernel; format: Format }): FoundCollector {
  return job.asText ? new RecordTexts(job) : new RecordLines(job, tools);
}
