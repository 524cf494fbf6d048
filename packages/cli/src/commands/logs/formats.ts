import { explainCorrection, explainFormat, type LogFilesOptions } from '@porthole/contract';
import { createZone, LogDir, type LogFileDetails } from '@porthole/logs';
import type { LearnedFormat, LinePart } from '@porthole/logs/types';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { cutEnd, displayWidth } from '../../output/fit-columns.ts';
import type { Colors, Terminal } from '../../output/terminal.ts';
import { visibleJson, visibleText } from '../../output/visible-text.ts';
import { isUrl, namesNode } from '../../sources/endpoint.ts';
import { findPath, isJournal } from '../../sources/find-path.ts';
import { openNode } from '../../sources/open-node.ts';
import { resolveNodeRef } from '../../sources/query-cluster.ts';
import { localOptions } from '../../sources/source-flags.ts';

/** More files of a directory or node are not described: each is read at both ends. */
const MOST_FILES = 20;

/** A directory or a node. */
interface Holder {
  logFiles(options?: LogFilesOptions): Promise<LogFileDetails[]>;
  close?(): Promise<void>;
}

interface Target {
  holder: Holder;
  /** `undefined`: all its files. */
  file: string | undefined;
  node?: string;
}

type Described = LogFileDetails & { target?: string; node?: string };

/** Shows what log files are read as: where time and level are, the zone, samples, and lines that do not fit. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, terminal } = invocation;
  const found: Described[] = [];
  for (const where of args.length > 0 ? args : [undefined])
    for (const { holder, file, node } of await openTargets(invocation, where)) {
      const marks = { ...(node !== undefined && { node }), ...(args.length > 1 && where && { target: where }) };
      try {
        for (const details of await describe(holder, file, terminal)) found.push({ ...details, ...marks });
      } finally {
        await holder.close?.();
      }
    }
  if (invocation.text('output') === 'json')
    await terminal.write(found.map((file) => `${visibleJson(JSON.stringify(file))}\n`).join(''));
  else await terminal.write(found.map((file) => formatFile(file, terminal, found.length === 1)).join('\n'));
  if (found.length === 0) terminal.note('no log files');
  if (found.length > 1) terminal.note('name a single file to get an example of a format for it');
  const isPartial = found.some(({ problem, learned, format }) => problem || !(learned || UNREAD[format]));
  return found.length === 0 ? EXIT.different : isPartial ? EXIT.partial : EXIT.ok;
}

async function openTargets(invocation: Invocation, where: string | undefined): Promise<Target[]> {
  if (where !== undefined && isJournal(where)) throw new ProgramError(`${where} has no files: its fields are known`);
  if (where === undefined || isUrl(where)) return [{ holder: await openNode(invocation, where), file: undefined }];
  const path = await findPath(where, namesNode(invocation));
  if (path) {
    const logs = new LogDir(path.dir, await localOptions(invocation, createZone(invocation.text('log-zone'))));
    return [{ holder: { logFiles: (options) => logs.details(options), close: () => logs.close() }, file: path.file }];
  }
  const node = await openNode(invocation);
  const ref = where.includes(':') ? await resolveNodeRef(node, where) : undefined;
  if (!ref) return [{ holder: node, file: where }];
  return ref.ids.map((id) => ({ holder: node.cluster.member(id), file: ref.file, node: id }));
}

async function describe(holder: Holder, file: string | undefined, terminal: Terminal): Promise<LogFileDetails[]> {
  const names = file === undefined ? (await holder.logFiles()).map(({ name }) => name) : [file];
  if (names.length > MOST_FILES)
    terminal.note(`the first ${MOST_FILES} of ${names.length} files; name others to see what they are read as`);
  const described: LogFileDetails[] = [];
  for (const name of names.slice(0, MOST_FILES)) described.push(...(await holder.logFiles({ file: name })));
  if (file !== undefined && described.length === 0) throw new ProgramError(`no log file named ${JSON.stringify(file)}`);
  return described;
}

/** Why there is nothing to show. */
const UNREAD: Readonly<Record<string, string>> = {
  empty: 'The file is empty: its format is learned from its first lines.',
  binary: 'The file is not text.',
};

function formatFile(file: Described, terminal: Terminal, isOnly: boolean): string {
  const { colors } = terminal;
  const { name, node, target, format, problem, learned } = file;
  const title = visibleText(node === undefined ? (target ?? name) : `${node}:${name}`);
  const lines = [colors.bold(title)];
  if (!learned) {
    const old = 'The node does not report what its files are read as; update it to see more.';
    return `${[...lines, `  ${problem ? visibleText(problem) : (UNREAD[format] ?? `${format}. ${old}`)}`].join('\n')}\n`;
  }
  const width = Math.max(40, terminal.columns) - INDENT.length;
  for (const { label, text, doubt } of explainFormat(file, learned)) {
    const [first = '', ...more] = wrap(oneLine(text), width - LABEL);
    const paint = doubt ? colors.yellow : (plain: string) => plain;
    lines.push(`${INDENT}${colors.dim(label.padEnd(LABEL))}${paint(first)}`);
    lines.push(...more.map((part) => `${INDENT}${' '.repeat(LABEL)}${paint(part)}`));
  }
  lines.push(...formatSamples(learned, colors, width), ...formatUnfit(learned, width));
  if (isOnly) {
    lines.push('', ...wrap(explainCorrection(learned), width).map((part) => INDENT + part), '');
    lines.push(visibleText(learned.example.toml).trimEnd());
  }
  return `${lines.join('\n')}\n`;
}

const INDENT = '  ';
const LABEL = 8;

function formatSamples({ samples }: LearnedFormat, colors: Colors, width: number): string[] {
  if (samples.length === 0) return [];
  const kinds = (['time', 'level', 'origin', 'message'] as const).map((kind) => PAINTS[kind](colors)(kind));
  const legend = colors.isColorSupported ? `Samples (${kinds.join(', ')})` : 'Samples';
  return ['', INDENT + legend, ...samples.flatMap((parts) => formatSample(parts, colors, width - INDENT.length))];
}

const PAINTS = {
  time: (colors: Colors) => colors.cyan,
  level: (colors: Colors) => colors.yellow,
  origin: (colors: Colors) => colors.magenta,
  message: (colors: Colors) => colors.bold,
  other: (colors: Colors) => colors.dim,
} as const;

/** Rows of a long line on a terminal. */
const MOST_ROWS = 4;

/** The line, and without colours below it what its parts are: `time-------- level`. */
function formatSample(parts: readonly LinePart[], colors: Colors, width: number): string[] {
  const letters = parts.flatMap(({ kind, text }) => {
    const shown = [...oneLine(text)];
    const mark = kind === 'other' ? '' : kind.slice(0, shown.length).padEnd(shown.length, '-');
    return shown.map((letter, index) => ({ letter, kind, mark: mark[index] ?? ' ' }));
  });
  const rows: string[] = [];
  for (let at = 0; at < letters.length && rows.length < 2 * MOST_ROWS; ) {
    let end = at;
    for (let used = 0; end < letters.length; end++) {
      used += displayWidth(letters[end]?.letter ?? '');
      if (used > width - 1) break;
    }
    const row = letters.slice(at, Math.max(end, at + 1));
    const isCut = end < letters.length && rows.length >= 2 * MOST_ROWS - 2;
    const text = row.map(({ letter, kind }) => PAINTS[kind]?.(colors)(letter) ?? letter).join('');
    rows.push(`${INDENT}${INDENT}${text}${isCut ? '…' : ''}`);
    rows.push(`${INDENT}${INDENT}${row.map(({ mark }) => mark).join('')}`.trimEnd());
    at += row.length;
  }
  return colors.isColorSupported ? rows.filter((_, index) => index % 2 === 0) : rows;
}

function formatUnfit({ unfit, lines }: LearnedFormat, width: number): string[] {
  if (unfit.length === 0) return [];
  const which = lines.unfit > unfit.length ? `the first ${unfit.length} of ${lines.unfit}` : String(lines.unfit);
  const title = `Lines that do not fit (${which}); they continue the record above them`;
  const shown = unfit.map((line) => `${INDENT}${INDENT}${cutEnd(oneLine(line), Math.min(width - INDENT.length, 160))}`);
  return ['', ...wrap(title, width).map((part) => INDENT + part), ...shown];
}

function oneLine(text: string): string {
  return visibleText(text).replace(/\s/g, ' ');
}

/** Breaks at spaces; a word that is too long has a line of its own. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && displayWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
