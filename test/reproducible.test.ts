import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { copyCheckout } from './testing/copy-checkout.ts';

const execute = promisify(execFile);

/** Two builds from nothing, one after the other on each of two cores. */
const TWO_BUILDS_MS = 120_000;

/** The folder of a release made in a fresh copy, started from there and under an umask of its own. */
async function release(depth: string, { from, umask }: { from: string; umask: string }): Promise<string> {
  const checkout = copyCheckout(depth, { umask });
  const script = join(checkout, 'scripts/pack.mjs');
  const command = 'umask "$1" && exec "$2" "$3"';
  const cwd = join(checkout, from);
  await execute('sh', ['-c', command, 'sh', umask, process.execPath, script], { cwd }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => expect.fail(`${stdout}${stderr}`),
  );
  return join(checkout, 'release');
}

it(
  'two builds of the same sources give the same packages, wherever, from wherever and by whomever they are built',
  async () => {
    const [one, other] = await Promise.all([
      release('one', { from: '.', umask: '022' }),
      release('a/deeper/other place', { from: 'packages/cli', umask: '077' }),
    ]);
    const hashes = readFileSync(join(one, 'SHA256SUMS'), 'utf8');
    expect(readFileSync(join(other, 'SHA256SUMS'), 'utf8')).toBe(hashes);
    expect(hashes.match(/\S+$/gm)).toEqual([
      'package-lock.json',
      'package.json',
      `porthole-${manifest.version}.tgz`,
      `porthole-client-${manifest.version}.tgz`,
      'porthole-client.cdx.json',
      'porthole.cdx.json',
    ]);
    // The hashes are those of the files: anyone can compare what they have got.
    await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: other });
  },
  TWO_BUILDS_MS,
);
