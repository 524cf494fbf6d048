import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { parse, TomlError, type TomlTable } from 'smol-toml';
import type { SettingsProblemCode } from '../problems/settings-error.ts';
import { showText } from '../show-value.ts';

/** All settings with their comments take 8 KiB; something far larger is another file given by mistake. */
const MAX_FILE_BYTES = 256 * 1024;

/** Settings are two levels deep; the parser recurses, so it must not follow a file into the stack's end. */
const MAX_DEPTH = 32;

type SettingsFile =
  | { text: string; document: TomlTable }
  | { code: SettingsProblemCode; detail: string; line?: number; column?: number };

/** The file's text and values, or what is wrong with it. */
export async function readSettingsFile(file: string): Promise<SettingsFile> {
  let bytes: Buffer;
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer that may never come.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const unfit = await whyUnfit(handle);
    if (unfit !== undefined) return { code: 'FILE_UNREADABLE', detail: unfit };
    bytes = await handle.readFile();
  } catch (thrown) {
    return explainFailure(thrown);
  }
  return parseBytes(bytes);
}

async function whyUnfit(handle: FileHandle): Promise<string | undefined> {
  const stats = await handle.stat();
  if (stats.isDirectory()) return 'is a directory, not a file';
  if (!stats.isFile()) return 'is not a regular file';
  if (stats.size > MAX_FILE_BYTES) return `is too large for a settings file (${stats.size} of ${MAX_FILE_BYTES} bytes)`;
  return undefined;
}

function explainFailure(thrown: unknown): SettingsFile {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { code: 'FILE_MISSING', detail: 'no such file' };
  if (code === 'EACCES' || code === 'EPERM') return { code: 'FILE_UNREADABLE', detail: 'no permission to read it' };
  return { code: 'FILE_UNREADABLE', detail: `cannot be read (${showText(code)})` };
}

function parseBytes(bytes: Buffer): SettingsFile {
  let text: string;
  try {
    // Drops a byte order mark as well.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { code: 'SYNTAX', detail: 'is not UTF-8 text' };
  }
  try {
    return { text, document: parse(text, { integersAsBigInt: true, maxDepth: MAX_DEPTH }) };
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    // The rest of the parser's message quotes the lines around, which may hold secrets.
    const reason = (thrown.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '');
    const { line, column } = thrown;
    return { code: 'SYNTAX', detail: `not valid TOML: ${showText(reason)}`, line, column };
  }
}
