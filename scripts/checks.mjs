import { spawnSync } from 'node:child_process';
import { ROOT } from './steps.mjs';

/** What holds for the whole source, without running it. The floors are a test of their own because they read imports. */
export const CHECKS = [
  { name: 'format and lint', command: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', '.'] },
  { name: 'types', command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.check.json'] },
  {
    name: 'types of the console',
    command: ['node_modules/typescript/bin/tsc', '-p', 'packages/console/tsconfig.json'],
  },
  { name: 'proto', command: ['node_modules/@bufbuild/buf/bin/buf', 'lint', 'proto'] },
  { name: 'proto of etcd', command: ['node_modules/@bufbuild/buf/bin/buf', 'lint', 'packages/cluster/proto'] },
  { name: 'dead code', command: ['node_modules/knip/bin/knip.js'] },
  { name: 'floors', command: ['node_modules/vitest/vitest.mjs', 'run', 'test/floors.test.ts'] },
];

/** Runs one check; prints its output only if it fails. */
export function runCheck({ name, command }) {
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) console.error(`${stdout}${stderr}\ncheck failed: ${name}`);
  return status === 0;
}
