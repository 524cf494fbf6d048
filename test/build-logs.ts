import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Scanning threads run the built package, also under tests of the source: what is built must be what is tested. The
 * source itself needs what is made from proto/. `npm test` has made both just before.
 */
export function setup(): void {
  if (process.env.TEST_IS_BUILT) return;
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, ['scripts/proto.mjs'], { cwd: root, stdio: 'inherit' });
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', '--noCheck', 'packages/logs'], {
    cwd: root,
    stdio: 'inherit',
  });
  execFileSync(process.execPath, ['scripts/bundle-workers.mjs'], { cwd: root, stdio: 'inherit' });
}
