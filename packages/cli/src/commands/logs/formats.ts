import type { NodeClient } from '@porthole/client';
import { fileSource, type LogFilesOptions } from '@porthole/contract';
import { createZone, LogDir, type LogFileDetails } from '@porthole/logs';
import type { LinePart } from '@porthole/logs/types';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { cutEnd, displayWidth } from '../../output/fit-columns.ts';
import type { Colors, Terminal } from '../../output/terminal.ts';
import { visibleJson, visibleText } from '../../output/visible-text.ts';
import { isUrl, namesNode } from '../../sources/endpoint.ts';
import { findPath } from '../../sources/find-path.ts';
import { openNode } from '../../sources/open-node.ts';
import { resolveNodeRef } from '../../sources/query-cluster.ts';
import { localOptions } from '../../sources/source-flags.ts';

/** More files of a directory or node are not described: each is read at both ends. */
const MOST_FILES = 20;

/** Of another node, the time of the last write may be unknown. */
type FileDetails = Omit<LogFileDetails, 'modifiedMs'>;

/** A directory or a node, and which of its files; `undefined`: all. */
interface Target {
  logFiles(options?: LogFilesOptions): Promise<FileDetails[]>;
  file: string | undefined;
  node?: string;
  close?(): Promise<void>;
}

type Described = FileDetails & { target?: string; node?: string };

/** Shows what log files are read as: where time and level are, the zone, samples, and lines that do not fit. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, terminal } = invocation;
  const found: Described[] = [];
  for (const where of args.length > 0 ? args : [undefined])
    for (const target of await findTargets(invocation, where)) {
      const marks = { ...(target.node && { node: target.node }), ...(args.length > 1 && where && { target: where }) };
      try {
        for (const details of await describeFiles(target, terminal)) found.push({ ...details, ...marks });
      } finally {
        await target.close?.();
      }
    }
  const isJson = invocation.text('output') === 'json';
  const texts = found.map((file) =>
    isJson ? `${visibleJson(JSON.stringify(file))}\n` : formatFile(file, terminal, { withExample: found.length === 1 }),
  );
  await terminal.write(texts.join(isJson ? '' : '\n'));
  if (found.length === 0) terminal.note('no log files');
  if (found.length > 1 && !isJson) terminal.note('name a single file to get an example of a format for it');
  if (found.length === 0) return EXIT.different;
  return found.some(({ problem }) => problem) ? EXIT.partial : EXIT.ok;
}

async function describeFiles(target: Target, terminal: Terminal): Promise<FileDetails[]> {
  const names = target.file === undefined ? (await target.logFiles()).map(({ name }) => name) : [target.file];
  if (names.length > MOST_FILES)
    terminal.note(`the first ${MOST_FILES} of ${names.length} files; name others to see what they are read as`);
  const described: FileDetails[] = [];
  for (const file of names.slice(0, MOST_FILES))
    described.push(...(await target.logFiles({ src: [fileSource(file)] })));
  if (described.length === 0 && target.file !== undefined)
    throw new ProgramError(`no log file named ${JSON.stringify(target.file)}`);
  return described;
}

async function findTargets(invocation: Invocation, where: string | undefined): Promise<Target[]> {
  const isNode = where === undefined || isUrl(where);
  const path = isNode ? undefined : await findPath(where, namesNode(invocation));
  if (path) {
    const logs = new LogDir(path.dir, await localOptions(invocation, createZone(invocation.text('log-zone'))));
    return [{ logFiles: (options) => logs.details(options), file: path.file, close: () => logs.close() }];
  }
  const node = await openNode(invocation, isNode ? where : undefined);
  const ref = !isNode && where.includes(':') ? await resolveNodeRef(node, where) : undefined;
  if (!ref) return [{ logFiles: (options) => filesOf(node, options), file: isNode ? undefined : where }];
  return ref.ids.map((id) => {
    const member = node.node(id);
    return { logFiles: (options) => filesOf(member, options), file: ref.file, node: id };
  });
}

async function filesOf(node: Pick<NodeClient, 'logFiles'>, { src }: LogFilesOptions = {}): Promise<FileDetails[]> {
  const { files } = await node.logFiles(src ? { src } : {});
  return files.map(({ node: _node, ...file }) => file);
}

const INDENT = '  ';
const LABEL_WIDTH = 8;
const LEAST_WIDTH = 40;

export function formatFile(
  file: Described,
  { colors, columns }: Terminal,
  { withExample }: { withExample: boolean },
): string {
  const { name, node, target, format, problem, learned } = file;
  const width = Math.max(LEAST_WIDTH, columns) - 2 * INDENT.length;
  const lines = [colors.bold(visibleText(node === undefined ? (target ?? name) : `${node}:${name}`))];
  const add = (text: string, indent = INDENT) => lines.push(...wrap(text, width).map((line) => indent + line));
  if (!learned) add(oneLine(problem ?? `${format}: the node does not report more; update it`));
  for (const { label, text, doubt } of learned?.facts ?? []) {
    const paint = doubt ? colors.yellow : String;
    for (const [index, line] of wrap(oneLine(text), width - LABEL_WIDTH).entries())
      lines.push(`${INDENT}${colors.dim((index === 0 ? label : '').padEnd(LABEL_WIDTH))}${paint(line)}`);
  }
  if (learned && learned.samples.length > 0) {
    const kinds = KINDS.map((kind) => paintPart(kind, kind, colors)).join(', ');
    lines.push('', `${INDENT}Samples${colors.isColorSupported ? ` (${kinds})` : ''}`);
    for (const parts of learned.samples) lines.push(...formatSample(parts, colors, width));
  }
  if (learned && learned.unfit.length > 0) {
    lines.push('');
    add('Lines that do not fit, and continue the record above them');
    lines.push(...learned.unfit.map((line) => INDENT.repeat(2) + cutEnd(oneLine(line), Math.min(width, 160))));
  }
  if (learned?.example && withExample) {
    lines.push('');
    add('To read it differently, add a format to the settings file (docs/formats.md):');
    lines.push('', visibleText(learned.example).trimEnd());
  }
  return `${lines.join('\n')}\n`;
}

const KINDS = ['time', 'level', 'origin', 'message'] as const;

function paintPart(text: string, kind: LinePart['kind'], { cyan, yellow, magenta, bold, dim }: Colors): string {
  return ({ time: cyan, level: yellow, origin: magenta, message: bold }[kind as string] ?? dim)(text);
}

/** Names of parts that are shorter than theirs. */
const SHORT: Readonly<Record<string, string>> = { level: 'lvl', origin: 'orig', message: 'msg' };

/** The line, and without colours what its parts are below it: `time-------- lvl-`. */
function formatSample(parts: readonly LinePart[], colors: Colors, width: number): string[] {
  const texts = parts.map(({ kind, text }) => ({ kind, text: oneLine(text) }));
  if (colors.isColorSupported)
    return [INDENT.repeat(2) + texts.map(({ kind, text }) => paintPart(text, kind, colors)).join('')];
  const line = texts.map(({ text }) => text).join('');
  const marks = texts.map(({ kind, text: { length } }) => {
    if (kind === 'other') return ' '.repeat(length);
    return (length < kind.length ? (SHORT[kind] ?? kind) : kind).slice(0, length).padEnd(length, '-');
  });
  const rows: string[] = [];
  for (let at = 0; at < line.length; at += width)
    for (const text of [line, marks.join('')]) rows.push((INDENT.repeat(2) + text.slice(at, at + width)).trimEnd());
  return rows;
}

function oneLine(text: string): string {
  return visibleText(text).replace(/\s/g, ' ');
}

/** Breaks at spaces; a word that is too long has a line of its own. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && displayWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
