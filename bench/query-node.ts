import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';

export interface QueryNodeOptions {
  logDir: string;
  /** The others, as `cluster.members` has them. */
  members: readonly string[];
  flags?: readonly string[];
}

/** None is given up because the machine is busy. */
const PATIENT = ['--cluster-first-batch-timeout', '1m', '--cluster-member-timeout', '1m'];

/** A node that knows these members, besides itself. Nobody of them has to know it. */
export function startQueryNode(context: BenchContext, options: QueryNodeOptions): Promise<PortholeServer> {
  const { logDir, members, flags = [] } = options;
  const dir = context.tempDir();
  const file = join(dir, 'cluster.toml');
  const toml = [
    '[cluster]',
    'node-id = "asked"',
    `record-dir = ${JSON.stringify(join(dir, 'recorded'))}`,
    `members = ${JSON.stringify(members)}`,
    '',
  ].join('\n');
  writeFileSync(file, toml);
  context.recordFile(`cluster.toml with ${members.length} members`, toml);
  return startPorthole(context, logDir, ['--config', file, ...PATIENT, ...flags]);
}
