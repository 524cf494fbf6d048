import type { HandleCache } from '../file/handle-cache.ts';
import type { SharedReads } from '../file/shared/shared-reads.ts';
import { LogError } from '../log-error.ts';
import type { UserFormat } from '../parse/user-format.ts';
import type { Zone } from '../parse/zone.ts';
import type { FileSummary } from './file-details.ts';

interface SummaryDeps {
  handles: HandleCache;
  reads: SharedReads;
  zone: Zone;
  formats: readonly UserFormat[] | undefined;
}

/** Format and times of a file; of one that cannot be read, why. */
export async function summarizeFile(name: string, { handles, reads, ...parsing }: SummaryDeps): Promise<FileSummary> {
  try {
    const handle = await handles.acquire(name);
    try {
      const { describeFile } = await import('./describe-file.ts');
      return { ...(await describeFile({ handle, reads }, parsing, {})), problem: null };
    } finally {
      handle.release();
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    return { format: 'unreadable', firstTimeMs: null, lastTimeMs: null, problem: error.message };
  }
}
