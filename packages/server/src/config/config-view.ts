import { basename } from 'node:path';
import { type ConfigFormat, PortholeError, type SettingJson } from '@porthole/contract';
import { stringify } from 'smol-toml';
import { type FlatSetting, flattenTables, type PlainTable } from './flatten-config.ts';
import {
  type ConfigDocument,
  type ConfigLeaf,
  type ConfigTree,
  formatOfName,
  LineIndex,
  type TreeEntry,
} from './formats/config-document.ts';
import { type IncludingDocument, joinDocuments } from './formats/join-documents.ts';
import { parseValues } from './formats/parse-toml.ts';
import { type ReadText, readConfig } from './formats/read-config.ts';
import { redactDocuments } from './redact-config.ts';
import { type ConfigSecrets, findSecrets } from './secrets/config-secrets.ts';
import { findStrictly } from './secrets/find-strictly.ts';
import { MASK } from './secrets/mask-ranges.ts';
import { isSecretKey } from './secrets/secret-keys.ts';

/** One file of a configuration, as data: it is parsed on this thread or another. */
export interface ConfigFile {
  path: string;
  text: string;
  /** Without it, the name or the content decides. */
  format?: ConfigFormat | undefined;
  /** What its directives include, by the position of the name in the text. */
  includes?: { at: number; files: ConfigFile[] }[];
}

/** A configuration as it is shown, with all secrets masked. */
export interface ConfigView {
  /** The format of its first file. */
  format: ConfigFormat;
  /** Why a file is shown as text although it should be more. */
  problems: string[];
  /** The file itself if it is a single one in TOML; otherwise made from its values. */
  toml: string;
  /** The text as it is written. Several files follow each other, each under a line with its path. */
  source: string;
  settings: FlattenedConfig;
  secrets: KnownSecrets;
}

/** Every value by its key, and the masked ones in clear: `fingerprint` is the index of the clear value. */
export interface FlattenedConfig {
  flat: FlatSetting[];
  clear: (readonly [key: string, value: SettingJson])[];
}

/** The secrets of a configuration, to be masked in logs. */
export interface KnownSecrets {
  values: string[];
  /** Keys of secrets that are too short or too common to be looked for. */
  unscrubbedKeys: string[];
}

/** Throws `TomlError` if a TOML file is not valid, and `PortholeError` rather than give away a secret. */
export async function viewConfig(
  files: readonly ConfigFile[],
  secretKeys: readonly string[],
  asText: ReadonlySet<ConfigFile> = new Set(),
): Promise<ConfigView> {
  const read: ReadFile[] = [];
  const including = await readFiles(files, { read, asText });
  const documents = read.map(({ document }) => document);
  const [first] = read;
  const isToml = read.length === 1 && first?.format === 'toml';
  const tables = isToml ? (first?.document.tables ?? []) : [joinDocuments(including)];
  // Once for all: on a large configuration it takes most of the time.
  const secrets = findSecrets(documents, secretKeys);
  const texts = redactDocuments(documents, secretKeys, secrets);
  const isSecretName = (name: string) => isSecretKey([name], secretKeys);
  const revealing = read.filter((each, index) => isRevealing(each, texts[index] ?? '', isSecretName));
  if (revealing.length > 0)
    return viewConfig(files, secretKeys, new Set([...asText, ...revealing.map(({ file }) => file)]));
  const { settings, table } = flatten(tables, documents, { secrets, ...(!isToml && { origin: findOrigins(read) }) });
  return {
    format: first?.format ?? 'text',
    problems: read.flatMap(({ path, problem }) => (problem === undefined ? [] : [`${path}: ${problem}`])),
    toml: isToml ? (texts[0] ?? '') : renderToml(table),
    source:
      read.length === 1 ? (texts[0] ?? '') : read.map(({ path }, index) => withHeader(path, texts[index])).join('\n'),
    settings,
    secrets: collectSecrets(settings, secrets),
  };
}

/** All secrets of a configuration, those in comments included. */
function collectSecrets({ flat, clear }: FlattenedConfig, { values }: ConfigSecrets): KnownSecrets {
  const inClear = new Map(clear);
  const unscrubbed = flat.filter(
    ({ key, secret }) => secret && listTexts(inClear.get(key)).some((value) => !values.has(value)),
  );
  return { values: [...values.long], unscrubbedKeys: unscrubbed.map(({ key }) => key) };
}

/** A value without a secret needs no fingerprint. */
function listTexts(value: SettingJson | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(listTexts);
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'string' && value.trim() !== '' ? [value] : [];
}

function flatten(
  tables: Parameters<typeof flattenTables>[0],
  documents: readonly ConfigDocument[],
  options: Omit<Parameters<typeof flattenTables>[2], 'fingerprint'>,
): { settings: FlattenedConfig; table: PlainTable } {
  const clear: [string, SettingJson][] = [];
  const fingerprint = (key: string, value: SettingJson) => String(clear.push([key, value]) - 1);
  const { settings: flat, table } = flattenTables(tables, documents, { ...options, fingerprint });
  return { settings: { flat, clear }, table };
}

interface ReadFile extends ReadText {
  path: string;
  file: ConfigFile;
}

/** Whether a secret stands where its format has no values: in a key, or in what was only taken for that format. */
function isRevealing(
  { document, format, isGuess }: ReadFile,
  masked: string,
  isSecretName: (name: string) => boolean,
): boolean {
  if (format === 'text') return false;
  const isOpen = (text: string) =>
    findStrictly(text, isSecretName).some(({ start, end }) => hasValue(text.slice(start, end)));
  if (isGuess) return isOpen(masked.replace(/^[ \t]*(?:#|;|!|\/\/).*/gm, ''));
  const keys = format === 'toml' ? [] : listNames(document.tables.flatMap(({ entries }) => entries));
  return keys.some((key) => /[^\w.-]/.test(key) && isOpen(key));
}

function hasValue(text: string): boolean {
  return /\w/.test(text.replaceAll(MASK, ''));
}

function listNames(entries: readonly TreeEntry<ConfigLeaf>[]): string[] {
  return entries.flatMap(({ names, node }) => [...names, ...listNamesIn(node)]);
}

function listNamesIn(node: ConfigTree<ConfigLeaf>): string[] {
  if (node.kind === 'list') return node.items.flatMap(listNamesIn);
  return node.kind === 'table' ? listNames(node.entries) : [];
}

async function readFiles(
  files: readonly ConfigFile[],
  into: { read: ReadFile[]; asText: ReadonlySet<ConfigFile> },
): Promise<IncludingDocument[]> {
  const documents: IncludingDocument[] = [];
  for (const file of files) {
    const { path, text, includes = [] } = file;
    const isText = into.asText.has(file);
    const isSecret = isSecretKey([basename(path)], []);
    const found = await readConfig(path, text, { wanted: isText ? 'text' : file.format, isSecret });
    const wanted = isText ? (file.format ?? formatOfName(path)) : undefined;
    const problem = wanted && `it cannot be read as ${wanted} without showing a secret`;
    into.read.push({ ...found, path, file, ...(problem && { problem }) });
    const { document } = found;
    const included = new Map<number, IncludingDocument[]>();
    for (const { at, files: inner } of includes) included.set(at, await readFiles(inner, into));
    documents.push({ document, includes: included });
  }
  return documents;
}

function findOrigins(read: readonly ReadFile[]) {
  const files = new Map(read.map(({ path, document }) => [document, { path, lines: new LineIndex(document.text) }]));
  return (document: ConfigDocument, position: number) => {
    const { path = '', lines } = files.get(document) ?? {};
    return { file: path, line: lines?.lineAt(position) ?? 0 };
  };
}

const HEADER = /^==> (.+) <==\n/gm;

/** The files of a source that a node has returned; a single one has no name. */
export function splitSource(text: string): ConfigFile[] {
  const headers = text.startsWith('==> ') ? [...text.matchAll(HEADER)] : [];
  if (headers.length === 0) return [{ path: '', text }];
  return headers.map(({ 0: header, 1: path = '', index }, number) => {
    // Files are parted by an empty line.
    const next = headers[number + 1]?.index;
    return { path, text: text.slice(index + header.length, next === undefined ? undefined : next - 1) };
  });
}

function withHeader(path: string, text = ''): string {
  return `==> ${path} <==\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}`;
}

function renderToml(table: PlainTable): string {
  const toml = stringify(table);
  try {
    parseValues(toml);
    return toml;
  } catch (error) {
    throw new PortholeError('CONFIG_UNAVAILABLE', 'the configuration cannot be written as TOML', { cause: error });
  }
}
