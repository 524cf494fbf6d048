import { join } from 'node:path';
import { BROKER_MIX } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { ensureFile } from './input-files.ts';
import { logLines } from './log-lines.ts';
import { ensureSearchFolder, type SearchFolder } from './search-files.ts';

/** The log of a broker in the contract's format, and the same records as JSON. */
export interface FieldFolder extends SearchFolder {
  jsonFile: string;
}

export async function ensureFieldFolder(context: BenchContext): Promise<FieldFolder> {
  const folder = await ensureSearchFolder(context);
  const jsonFile = folder.file.replace('broker-', 'broker-json-');
  await ensureFile(context, join(folder.dir, jsonFile), folder.sizeBytes, async (handle) => {
    let left = folder.sizeBytes;
    for (const block of logLines(folder.sizeBytes, BROKER_MIX)) {
      const lines = Buffer.from(block.toString('latin1').replace(/.+/g, toJson), 'latin1');
      // The rest of the last block is a line without fields.
      const fitting = lines.subarray(0, lines.lastIndexOf(10, Math.min(lines.length, left - 1)) + 1);
      await handle.write(fitting);
      left -= fitting.length;
      if (fitting.length === lines.length) continue;
      await handle.write(`${'.'.repeat(left - 1)}\n`);
      return;
    }
  });
  return { ...folder, jsonFile };
}

/** As zap writes a line: the context behind the columns, on the same level. */
function toJson(line: string): string {
  const [ts = '', level = '', caller = '', msg = '', context = '{}'] = line.split('\t');
  const columns = JSON.stringify({ ts: `${ts.replace(' ', 'T')}Z`, level: level.toLowerCase(), caller, msg });
  return `${columns.slice(0, -1)},${context.slice(1)}`;
}
