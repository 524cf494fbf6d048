import type { SettingJson } from '@porthole/contract';
import {
  type ConfigDocument,
  type ConfigLeaf,
  type ConfigTable,
  type ConfigTree,
  listSettings,
} from './formats/config-document.ts';
import { TOML } from './formats/read-toml.ts';
import type { RedactOptions } from './redact-config.ts';
import { findSecrets, type LeafMask } from './secrets/config-secrets.ts';
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
}

interface FlattenOptions extends RedactOptions {
  /** The clear value, if it is masked wholly or in part. */
  fingerprint?: (key: string, value: SettingJson) => string;
}

/**
 * Every value of a TOML text in the order of the text. Tables within arrays are numbered from 0; an array without
 * tables is one value. Throws `TomlError` when the text is not valid TOML.
 */
export function flattenToml(text: string, options: FlattenOptions = {}): FlatSetting[] {
  const document = TOML.read(text);
  return flattenTables(document.tables, [document], options);
}

/** The same for tables with the values of several texts. */
export function flattenTables(
  tables: readonly ConfigTable[],
  documents: readonly ConfigDocument[],
  { secretKeys = [], fingerprint }: FlattenOptions,
): FlatSetting[] {
  const secrets = findSecrets(documents, secretKeys);
  const masks = new Map<ConfigLeaf, LeafMask>();
  for (const document of documents)
    for (const { leaves } of document.statements)
      for (const leaf of leaves) masks.set(leaf, secrets.leafMask(leaf, document));

  const clearJson = (node: ConfigTree<ConfigLeaf>): SettingJson => {
    if (node.kind === 'list') return node.items.map(clearJson);
    return node.kind === 'leaf' ? node.leaf.value : {};
  };
  const toJson = (node: ConfigTree<ConfigLeaf>): SettingJson => {
    if (node.kind === 'list') return node.items.map(toJson);
    if (node.kind === 'table') return {};
    const mask = masks.get(node.leaf) ?? 'none';
    if (mask === 'none') return node.leaf.value;
    return mask === 'whole' || node.leaf.text === undefined ? MASK : maskRanges(node.leaf.text, mask);
  };

  const settings: FlatSetting[] = [];
  for (const [key, node] of listSettings(tables)) {
    const inside = listLeaves(node);
    const isMasked = inside.some((leaf) => masks.get(leaf) !== 'none');
    settings.push({
      key,
      value: toJson(node),
      secret: inside.some((leaf) => leaf.secret),
      ...(isMasked && fingerprint && { fingerprint: fingerprint(key, clearJson(node)) }),
    });
  }
  return settings;
}

function listLeaves(node: ConfigTree<ConfigLeaf>): ConfigLeaf[] {
  if (node.kind === 'leaf') return [node.leaf];
  return node.kind === 'list' ? node.items.flatMap(listLeaves) : [];
}
