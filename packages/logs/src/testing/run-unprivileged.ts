import { spawnSync } from 'node:child_process';

/**
 * Runs a script of Node.js as an ordinary user, whose files have permissions that count, and returns what it prints. Root
 * gives up its capabilities and stays who it is: another user may not be allowed to enter the clone, or the directory for
 * temporary files.
 */
export function runUnprivileged(script: string, ...args: readonly string[]): string {
  const isRoot = process.getuid?.() === 0;
  const [program = '', ...words] = [
    ...(isRoot ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []),
    process.execPath,
    script,
    ...args,
  ];
  const { stdout, stderr, error, status } = spawnSync(program, words, { encoding: 'utf8' });
  if (error !== undefined || status !== 0) throw new Error(`${program} failed: ${stderr}`, { cause: error });
  return stdout;
}
