import { join } from 'node:path';
import { BROKER_MIX } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { ensureFile } from './input-files.ts';
import { logLines } from './log-lines.ts';

const MIB = 1024 ** 2;

/** Of a log in which each record has another `trace`: a bit more than a million. */
const TRACED_BYTES = 192 * MIB;

/** A log with a million different values of `trace`. */
export async function ensureTracedLog(context: BenchContext): Promise<{ dir: string; file: string }> {
  const [dir, file] = [context.dataDir('traced'), 'traced.log'];
  await ensureFile(context, join(dir, file), undefined, async (handle) => {
    let number = 0;
    for (const block of logLines(TRACED_BYTES, BROKER_MIX)) {
      const text = block.toString('latin1').replace(/\{/g, () => `{"trace":"${toTrace(number++)}",`);
      await handle.write(Buffer.from(text, 'latin1'));
    }
  });
  return { dir, file };
}

/** Like a UUID. */
function toTrace(number: number): string {
  const hash = Math.imul(number + 1, 0x9e3779b1) >>> 0;
  return `${hash.toString(16).padStart(8, '0')}-4c21-4f7a-9b1e-0242${number.toString(16).padStart(8, '0')}`;
}
