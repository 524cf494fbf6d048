import { existsSync } from 'node:fs';
import { parseJson } from '@porthole/contract';
import { nearestNames } from '@porthole/logs';
import { type FlatSetting, markToml, pickToml, type TomlMark } from '@porthole/server/config';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import { isUrl } from '../../sources/endpoint.ts';
import { type ConfigDocument, isMemberRef, readConfig, readSource } from './config-document.ts';

export async function run(invocation: Invocation): Promise<number> {
  const { args, terminal } = invocation;
  const [first = ''] = args;
  const where = isUrl(first) || isMemberRef(first) || isFile(first) ? first : undefined;
  const keys = where === undefined ? args : args.slice(1);
  const output = invocation.text('output') ?? 'toml';
  if (output === 'source') {
    if (keys.length > 0) throw new ProgramError('-o source prints the whole text and takes no keys');
    const source = await readSource(invocation, where);
    await terminal.write(terminal.isTty ? visibleText(source.replaceAll('\r\n', '\n')) : source);
    return EXIT.ok;
  }
  const document = await readConfig(invocation, where);
  const selection = selectSettings(document.settings, keys);
  if (output === 'value') selection.settings = selectValues(keys, document.settings);
  if (selection.settings.length > 0 || keys.length === 0)
    await terminal.write(render(output, { document, selection, terminal, isWhole: keys.length === 0 }));
  for (const { key, near } of selection.unknown) {
    const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
    terminal.note(`no key or table ${visibleText(key)} in the configuration of ${document.name}${hint}`);
  }
  if (document.staleness !== undefined) terminal.warn(visibleText(document.staleness));
  if (selection.unknown.length > 0) return EXIT.different;
  return document.staleness === undefined ? EXIT.ok : EXIT.partial;
}

/** In the order of the keys. A table has no value of its own, and an array of tables neither. */
function selectValues(keys: readonly string[], settings: readonly FlatSetting[]): FlatSetting[] {
  if (keys.length === 0) throw new ProgramError('-o value needs one key or several');
  return keys.flatMap((key) => {
    const selected = selectSettings(settings, [key]).settings;
    const isTable = selected.length > 1 || selected.some((setting) => !isSameKey(setting.key, key));
    if (isTable) throw new ProgramError(`${key} is a table; -o value needs keys of values`);
    return selected;
  });
}

/** Keys contain no slash outside quotes; a word without one is a file if it ends like a configuration and exists. */
function isFile(text: string): boolean {
  if (/^[^"]*[/\\]/.test(text) || text === '.' || text === '..') return true;
  return /\.(?:toml|ya?ml|jsonc?|ini|cnf|conf|properties|xml|env)$/.test(text) && existsSync(text);
}

interface Rendering {
  document: ConfigDocument;
  selection: Selection;
  terminal: Terminal;
  isWhole: boolean;
}

function render(output: string, { document, selection, terminal, isWhole }: Rendering): string {
  if (output === 'json') return `${JSON.stringify(nestSettings(selection.settings), null, 2)}\n`;
  if (output === 'value') return selection.settings.map((setting) => valueLine(setting, terminal)).join('');
  if (output === 'flat') return selection.settings.map((setting) => settingLine(setting, terminal)).join('');
  const text = isWhole ? document.text : pickToml(document.text, selection.isWanted);
  // Piped without colours: byte for byte.
  if (!terminal.isTty && !terminal.colors.isColorSupported) return text;
  return paintToml(text, markToml(text), terminal);
}

/** Colours comments, keys and tables, and escapes characters a terminal would act on. */
function paintToml(text: string, marks: readonly TomlMark[], { colors, isTty }: Terminal): string {
  const paint = {
    comment: colors.dim,
    key: colors.cyan,
    table: (name: string) => colors.bold(colors.cyan(name)),
  };
  const shown = isTty ? (part: string) => visibleText(part.replaceAll('\r\n', '\n')) : (part: string) => part;
  let painted = '';
  let from = 0;
  for (const { start, end, kind } of marks) {
    painted += shown(text.slice(from, start)) + paint[kind](shown(text.slice(start, end)));
    from = end;
  }
  return painted + shown(text.slice(from));
}

/** `http.port = 7300`. The value is JSON: always one line, and its type is visible. */
function settingLine({ key, value }: Pick<FlatSetting, 'key' | 'value'>, { colors, isTty }: Terminal): string {
  const shown = isTty ? visibleText : (text: string) => text;
  return `${colors.cyan(shown(key))} = ${shown(JSON.stringify(value))}\n`;
}

/** A text as it is: scripts use it without parsing. */
function valueLine({ value }: Pick<FlatSetting, 'value'>, { isTty }: Terminal): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${isTty ? visibleText(text) : text}\n`;
}

export interface Selection {
  settings: FlatSetting[];
  isWanted(path: KeyPath): boolean;
  /** Keys that do not exist, each with similar names. */
  unknown: { key: string; near: string[] }[];
}

/** The settings with these keys or in these tables; all without keys. */
export function selectSettings(all: readonly FlatSetting[], keys: readonly string[]): Selection {
  const withPaths = all.map((setting) => ({ setting, path: parseKeyPath(setting.key) ?? [setting.key] }));
  const wanted = keys.map((key) => ({ key, path: parseKeyPath(key) ?? [key] }));
  const isWanted = (path: KeyPath) => keys.length === 0 || wanted.some((key) => isWithin(path, key.path));
  const unknown = wanted.filter((key) => !withPaths.some(({ path }) => isWithin(path, key.path)));
  return {
    settings: withPaths.filter(({ path }) => isWanted(path)).map(({ setting }) => setting),
    isWanted,
    unknown: unknown.map(({ key }) => ({ key, near: nearestNames(key, settingNames(all)) })),
  };
}

/** All keys and their tables. */
export function settingNames(settings: readonly FlatSetting[]): string[] {
  const names = new Set<string>();
  for (const { key } of settings) {
    names.add(key);
    for (let dot = key.lastIndexOf('.'); dot > 0; dot = key.lastIndexOf('.', dot - 1)) names.add(key.slice(0, dot));
  }
  return [...names];
}

/** A table or array. Tables have no prototype, so that keys like `constructor` are plain keys. */
type Branch = { [key: string]: unknown } | unknown[];

/** The settings as nested objects. */
export function nestSettings(settings: readonly FlatSetting[]): Branch {
  const root: Branch = Object.create(null);
  for (const { key, value } of settings) put(root, parseKeyPath(key) ?? [key], value);
  return withoutHoles(root) as Branch;
}

function put(root: Branch, path: KeyPath, value: unknown): void {
  let branch = root as Record<string | number, unknown>;
  for (const [depth, part] of path.slice(0, -1).entries()) {
    branch[part] ??= typeof path[depth + 1] === 'number' ? [] : Object.create(null);
    branch = branch[part] as Record<string | number, unknown>;
  }
  branch[path.at(-1) ?? ''] = value;
}

/** Removes the array elements that were not selected. */
function withoutHoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(() => true).map(withoutHoles);
  if (typeof value !== 'object' || value === null) return value;
  for (const [key, inner] of Object.entries(value)) (value as Record<string, unknown>)[key] = withoutHoles(inner);
  return value;
}

/** Names of tables and keys, and indices into arrays of tables. */
type KeyPath = readonly (string | number)[];

const PART = /(?:^|\.)(?:([\w-]+)|("(?:[^"\\]|\\.)*"))|\[(\d+)\]/y;

/** Parses `servers[0]."host name".port`; `undefined` if it is not a key path. */
export function parseKeyPath(text: string): KeyPath | undefined {
  const path: (string | number)[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const [, bare, quoted, index] = PART.exec(text) ?? [];
    const part = bare ?? (index === undefined ? unquote(quoted) : Number(index));
    if (part === undefined) return undefined;
    path.push(part);
  }
  return path.length > 0 ? path : undefined;
}

/** Whether two key paths name the same key, however they are quoted. */
export function isSameKey(a: string, b: string): boolean {
  const [left, right] = [parseKeyPath(a) ?? [a], parseKeyPath(b) ?? [b]];
  return left.length === right.length && isWithin(left, right);
}

/** Whether the path equals the other one or is below it. */
export function isWithin(path: KeyPath, outer: KeyPath): boolean {
  return outer.length <= path.length && outer.every((part, index) => part === path[index]);
}

function unquote(quoted = ''): string | undefined {
  return parseJson(quoted) as string | undefined;
}
