import { join } from 'node:path';
import { BROKER_MIX } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { ensureFile } from './input-files.ts';
import { logLines } from './log-lines.ts';
import { ensureSearchFolder, type SearchFolder } from './search-files.ts';

const MIB = 1024 ** 2;

/** Of a log in which each record has another `trace`: a bit more than a million. */
const TRACED_BYTES = 192 * MIB;

export interface CountFolder extends SearchFolder {
  /** The same records as JSON. */
  jsonFile: string;
}

/** The log of a broker in the contract's format and as JSON. */
export async function ensureCountFolder(context: BenchContext): Promise<CountFolder> {
  const folder = await ensureSearchFolder(context);
  const jsonFile = folder.file.replace('broker-', 'broker-as-json-');
  await ensureFile(context, join(folder.dir, jsonFile), undefined, async (handle) => {
    let left = folder.sizeBytes;
    for (const block of logLines(folder.sizeBytes, BROKER_MIX)) {
      const lines = Buffer.from(block.toString('latin1').replace(/.+/g, toJson), 'latin1');
      await handle.write(lines);
      left -= lines.length;
      if (left <= 0) return;
    }
  });
  return { ...folder, jsonFile };
}

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

/** As zap writes a line: the context behind the columns, on the same level. */
function toJson(line: string): string {
  const [ts = '', level = '', caller = '', msg = '', context = '{}'] = line.split('\t');
  const columns = JSON.stringify({ ts: `${ts.replace(' ', 'T')}Z`, level: level.toLowerCase(), caller, msg });
  return `${columns.slice(0, -1)}${context.length > 2 ? ',' : ''}${context.slice(1)}`;
}
