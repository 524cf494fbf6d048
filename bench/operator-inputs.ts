import { readdirSync, statSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { ensureFieldFolder } from './field-files.ts';
import { ensureFile } from './input-files.ts';
import { FIRST_TIME_MS, MS_PER_LINE } from './log-lines.ts';
import { runProgram } from './program.ts';
import { runPeer } from './run-peer.ts';
import { middleMinute, type SearchFolder } from './search-files.ts';

/** The same records in four forms, and as a journal. */
export interface OperatorInput {
  name: 'text' | 'JSON' | 'gz' | '20 rotated files';
  /** Of which a node serves nothing else. */
  dir: string;
  /** What the programs are given, oldest first. */
  files: readonly string[];
  sizeBytes: number;
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

const ROTATED_FILES = 20;

const LF = 10;

/** Made once, and kept for later runs. */
export async function ensureOperatorInputs(context: BenchContext): Promise<OperatorInputs> {
  const folder = await ensureFieldFolder(context);
  const base = `operator/${folder.size.replace(' ', '-').toLowerCase()}`;
  const made = async (name: OperatorInput['name'], files: readonly string[]): Promise<OperatorInput> => {
    const dir = context.dataDir(join(base, name.replaceAll(' ', '-').toLowerCase()));
    return { name, dir, files: files.map((file) => join(dir, file)), sizeBytes: folder.sizeBytes };
  };
  const text = await made('text', ['broker.log']);
  const json = await made('JSON', ['broker.log']);
  const gz = await made('gz', ['broker.log.1.gz']);
  const numbers = Array.from({ length: ROTATED_FILES }, (_, index) => ROTATED_FILES - 1 - index);
  const rotated = await made(
    '20 rotated files',
    numbers.map((number) => (number === 0 ? 'broker.log' : `broker.log.${number}`)),
  );
  await ensureCopy(text.files[0] ?? '', folder.path);
  await ensureCopy(json.files[0] ?? '', join(folder.dir, folder.jsonFile));
  await ensureFile(context, gz.files[0] ?? '', undefined, async (handle) => {
    await runProgram(['gzip', '-c', folder.path], context.cleanup, { stdio: ['ignore', handle.fd, 'pipe'] });
  });
  await ensureRotated(context, folder, rotated.files);
  return {
    inputs: [text, json, gz, rotated],
    journal: await ensureJournal(context, folder, join(base, 'journal')),
    minute: middleMinute(folder),
    size: folder.size,
  };
}

async function ensureCopy(path: string, from: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.size !== statSync(from).size) await copyFile(from, path);
}

/** Parts of whole lines, as if each had been the live file once. */
async function ensureRotated(context: BenchContext, { path, sizeBytes }: SearchFolder, files: readonly string[]) {
  if (files.every((file) => statSync(file, { throwIfNoEntry: false }))) return;
  const bytes = await readFile(path);
  let start = 0;
  for (const [number, file] of files.entries()) {
    const end = bytes.indexOf(LF, Math.floor((sizeBytes * (number + 1)) / files.length) - 1) + 1;
    await ensureFile(context, file, end - start, (handle) => handle.writeFile(bytes.subarray(start, end)));
    start = end;
  }
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

/** So that nothing of them is in the page cache. */
export async function dropFromCache(context: BenchContext, files: readonly string[]): Promise<void> {
  for (const file of files) await runPeer(context, 'dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none']);
}
