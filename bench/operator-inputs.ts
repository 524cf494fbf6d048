import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { ensureFile } from './input-files.ts';
import { FIRST_TIME_MS, MS_PER_LINE } from './log-lines.ts';
import { runProgram } from './program.ts';
import { ensureCopy, middleMinute, type SearchFolder } from './search-files.ts';

/** The same records in two forms, and as a journal. */
export interface OperatorInput {
  name: 'text' | 'gz';
  /** Of which a node serves nothing else. */
  dir: string;
  path: string;
}

export interface OperatorInputs {
  inputs: readonly OperatorInput[];
  journal: Journal;
  /** A minute in the middle of the log, as its lines write it. */
  minute: string;
  size: string;
}

/** The same records in a journal, and what it took to import them. */
interface Journal {
  dir: string;
  importMs: number;
  sizeBytes: number;
}

/** In folders of their own for each size. */
export async function ensureOperatorInputs(context: BenchContext, folder: SearchFolder): Promise<OperatorInputs> {
  const base = join('operator', folder.size.replace(' ', '-').toLowerCase());
  const makeInput = (name: OperatorInput['name'], file: string): OperatorInput => {
    const dir = context.dataDir(join(base, name));
    return { name, dir, path: join(dir, file) };
  };
  const text = makeInput('text', 'broker.log');
  const gz = makeInput('gz', 'broker.log.1.gz');
  await ensureCopy(text.path, { from: folder.path, sizeBytes: folder.sizeBytes });
  await ensureFile(context, gz.path, undefined, async (handle) => {
    context.log(`  compressing ${folder.size} (kept for the next run)`);
    await runProgram(['gzip', '-c', folder.path], context.cleanup, { stdio: ['ignore', handle.fd, 'pipe'] });
  });
  return {
    inputs: [text, gz],
    journal: await ensureJournal(context, folder, join(base, 'journal')),
    minute: middleMinute(folder),
    size: folder.size,
  };
}

/** Makes entries of lines: https://systemd.io/JOURNAL_EXPORT_FORMATS */
const TO_EXPORT = `BEGIN { FS = "\\t"; level["ERROR"] = 3; level["WARN"] = 4; level["INFO"] = 6 }
{ us = first + (NR - 1) * 1000 * each
  printf "__REALTIME_TIMESTAMP=%.0f\\n__MONOTONIC_TIMESTAMP=%.0f\\n_BOOT_ID=0123456789abcdef0123456789abcdef\\n", us, us
  printf "PRIORITY=%d\\nSYSLOG_IDENTIFIER=%s\\nMESSAGE=%s %s\\n\\n", level[$2], $3, $4, $5 }`;

/** Imported by `systemd-journal-remote`, the way a journal of another machine is. */
async function ensureJournal(context: BenchContext, { path, size }: SearchFolder, name: string): Promise<Journal> {
  const dir = context.dataDir(name);
  const note = join(dir, 'import-ms');
  await ensureFile(context, note, undefined, async (handle) => {
    context.log(`  importing ${size} into a journal (kept for the next run)`);
    const times = `-v first=${FIRST_TIME_MS}000 -v each=${MS_PER_LINE}`;
    const importer = '"$3" --output="$4"/system.journal - 2>/dev/null';
    const script = `"$1" ${times} "$2" "$5" | ${importer}`;
    const programs = [context.peer('mawk'), TO_EXPORT, context.peer('systemd-journal-remote')];
    const startedAt = performance.now();
    await runProgram(['sh', '-c', script, 'sh', ...programs, dir, path], context.cleanup);
    await handle.writeFile(String(performance.now() - startedAt));
  });
  const sizes = readdirSync(dir).map((file) => statSync(join(dir, file)).size);
  return { dir, importMs: Number(await readFile(note, 'utf8')), sizeBytes: sizes.reduce((sum, size) => sum + size, 0) };
}
