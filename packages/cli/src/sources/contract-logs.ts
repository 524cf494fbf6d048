import type { Client } from '@porthole/client';
import type { CallOptions, FileRequest, LogFilesOptions, ResponseClock } from '@porthole/contract';
import { createZone, groupFamilies, type LogFileDetails, type WorkerPool } from '@porthole/logs';
import { ContractNode } from '@porthole/server/contract-node';
import type { Invocation } from '../invocation.ts';
import type { FileHolder } from './log-source.ts';
import { localFormats } from './source-flags.ts';

/** For a node that serves only the ends of its files: some ten thousand records of each. */
const LIMITS = {
  tailBytes: 5 * 1024 ** 2,
  maxTotalBytes: 512 * 1024 ** 2,
  maxFiles: 1000,
  maxFileBytes: 64 * 1024 ** 2,
};

/** What the list of such a node does not say of a file. */
const UNKNOWN = { format: '-', modifiedMs: 0, firstTimeMs: null, lastTimeMs: null, problem: null } as const;

export interface ContractLogsOptions {
  /** Of its responses. */
  clock: ResponseClock;
  threads: WorkerPool;
}

/** A node that only implements the contract serves the ends of its files: this process copies and reads these. */
export async function openContractLogs(
  invocation: Invocation,
  client: Client,
  { clock, threads }: ContractLogsOptions,
): Promise<ContractLogs> {
  const named = invocation.text('log-zone');
  const zone = createZone(named);
  return new ContractLogs({
    node: client,
    tails: {
      clock,
      listLogs: (options) => client.listLogs(options),
      viewLog: (request, options) => client.viewLog(request, options),
    },
    threads,
    zone,
    memberZone: named === undefined ? undefined : zone,
    formats: await localFormats(invocation),
    limits: LIMITS,
  });
}

export class ContractLogs extends ContractNode implements FileHolder {
  /** Names and sizes, without reading anything; of a single file what its end shows. */
  override async logFiles(options: LogFilesOptions = {}): Promise<LogFileDetails[]> {
    if (options.src !== undefined) return super.logFiles(options);
    const sizes = new Map((await this.listLogs(options)).map(({ name, size }) => [name, size]));
    return groupFamilies([...sizes.keys()]).flatMap(({ name: family, files }) =>
      files.map((file) => ({ ...UNKNOWN, ...file, family, size: sizes.get(file.name) ?? 0 })),
    );
  }

  /** Offsets of records are those of the copy. */
  override openLog(request: FileRequest, options?: CallOptions) {
    return this.openTail(request, options);
  }
}
