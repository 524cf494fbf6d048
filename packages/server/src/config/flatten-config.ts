import type { SettingJson } from '@porthole/contract';
import {
  type ConfigDocument,
  type ConfigLeaf,
  type ConfigTable,
  type ConfigTree,
  listSettings,
  type TextRange,
} from './formats/config-document.ts';
import { TOML } from './formats/read-toml.ts';
import type { RedactOptions } from './redact-config.ts';
import { type ConfigSecrets, findSecrets, type LeafMask } from './secrets/config-secrets.ts';
import { MASK, maskRanges } from './secrets/mask-ranges.ts';

/** One value of a configuration under its whole path, as in `servers[0]."host name".port`. */
export interface FlatSetting {
  key: string;
  /** Secrets and credentials are masked. Dates as written; unsafe integers as strings. */
  value: SettingJson;
  /** Whether its key is that of a secret, even if the value is empty. */
  secret: boolean;
  /** A fingerprint of the value as it is written, where parts of it are masked: shows that a secret changed, not what it is. */
  fingerprint?: string;
  /** Where it is written, unless the configuration is a single TOML file. */
  file?: string;
  line?: number;
}

interface FlattenOptions extends RedactOptions {
  /** The clear value, if it is masked wholly or in part. */
  fingerprint?: (key: string, value: SettingJson) => string;
  /** Where a value is written. */
  origin?: (document: ConfigDocument, position: number) => { file: string; line: number };
}

/**
 * Every value of a TOML text in the order of the text. Tables within arrays are numbered from 0; an array without
 * tables is one value. Throws `TomlError` when the text is not valid TOML.
 */
export function flattenToml(text: string, options: FlattenOptions = {}): FlatSetting[] {
  const document = TOML.read(text);
  const secrets = findSecrets([document], options.secretKeys ?? []);
  return flattenTables(document.tables, [document], { ...options, secrets }).settings;
}

/** A table of masked values, as a TOML writer takes it. Without a prototype, so that any key is a plain key. */
export interface PlainTable {
  [key: string]: PlainValue;
}

type PlainValue = SettingJson | PlainTable | PlainValue[];

/** The same for tables with the values of several texts; and the tables themselves, for which no key may be repeated. */
export function flattenTables(
  tables: readonly ConfigTable[],
  documents: readonly ConfigDocument[],
  { secrets, fingerprint, origin }: Omit<FlattenOptions, 'secretKeys'> & { secrets: ConfigSecrets },
): { settings: FlatSetting[]; table: PlainTable } {
  const known = new Map<ConfigLeaf, { mask: LeafMask; document: ConfigDocument }>();
  for (const document of documents)
    for (const { leaves } of document.statements)
      for (const leaf of leaves) known.set(leaf, { mask: secrets.leafMask(leaf, document), document });

  const clearJson = (node: ConfigTree<ConfigLeaf>): SettingJson => {
    if (node.kind === 'list') return node.items.map(clearJson);
    return node.kind === 'leaf' ? node.leaf.value : {};
  };
  const toJson = (leaf: ConfigLeaf): SettingJson => {
    const mask = known.get(leaf)?.mask ?? 'none';
    const value = mask === 'none' ? leaf.value : maskValue(leaf, mask);
    return leaf.isLines && typeof value === 'string' ? value.split('\n') : value;
  };
  const toPlain = (node: ConfigTree<ConfigLeaf>): PlainValue => {
    if (node.kind === 'list') return node.items.map(toPlain);
    return node.kind === 'table' ? toTable(node.entries) : toJson(node.leaf);
  };
  const toTable = (entries: ConfigTable['entries']): PlainTable => {
    const table: PlainTable = Object.create(null);
    for (const { names, node } of entries) table[names.join('.')] = toPlain(node);
    return table;
  };

  const settings: FlatSetting[] = [];
  for (const [key, node] of listSettings(tables)) {
    const inside = listLeaves(node);
    const isMasked = inside.some((leaf) => known.get(leaf)?.mask !== 'none');
    const [first] = inside;
    const document = first && known.get(first)?.document;
    settings.push({
      key,
      value: toPlain(node) as SettingJson,
      secret: inside.some((leaf) => leaf.secret),
      ...(isMasked && fingerprint && { fingerprint: fingerprint(key, clearJson(node)) }),
      ...(document && origin?.(document, first.start)),
    });
  }
  return { settings, table: toTable(tables.flatMap(({ entries }) => entries)) };
}

function maskValue({ text }: ConfigLeaf, mask: 'whole' | TextRange[]): string {
  return mask === 'whole' || text === undefined ? MASK : maskRanges(text, mask);
}

function listLeaves(node: ConfigTree<ConfigLeaf>): ConfigLeaf[] {
  if (node.kind === 'leaf') return [node.leaf];
  return node.kind === 'list' ? node.items.flatMap(listLeaves) : [];
}
