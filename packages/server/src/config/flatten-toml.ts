import { type ConfigShape, flattenSettings, type SettingJson, type SettingPath } from '@porthole/contract';
import type { AST } from 'toml-eslint-parser';
import type { RedactOptions } from './redact-toml.ts';
import { MASK, maskRanges } from './secrets/mask-ranges.ts';
import { findTomlSecrets } from './secrets/toml-secrets.ts';
import { keyNames } from './secrets/toml-statements.ts';

/** One value of a TOML text under its whole path, as in `servers[0]."host name".port`. */
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

const TOML_SHAPE: ConfigShape<AST.TOMLTopLevelTable | AST.TOMLContentNode> = {
  entries(node) {
    if (node.type === 'TOMLTopLevelTable') return node.body.flatMap(topLevelEntries);
    return node.type === 'TOMLInlineTable' ? node.body.map(toEntry) : undefined;
  },
  elements: (node) => (node.type === 'TOMLArray' ? node.elements : undefined),
  hasEmptyTables: true,
};

function topLevelEntries(node: AST.TOMLKeyValue | AST.TOMLTable): (readonly [SettingPath, AST.TOMLContentNode])[] {
  if (node.type === 'TOMLKeyValue') return [toEntry(node)];
  return node.body.map((inner) => [[...node.resolvedKey, ...keyNames(inner.key)], inner.value]);
}

function toEntry({ key, value }: AST.TOMLKeyValue): readonly [SettingPath, AST.TOMLContentNode] {
  return [keyNames(key), value];
}

/**
 * Every value of a TOML text in the order of the text. Tables within arrays are numbered from 0; an array without
 * tables is one value. Throws `TomlError` when the text is not valid TOML.
 */
export function flattenToml(text: string, options: FlattenOptions = {}): FlatSetting[] {
  const secrets = findTomlSecrets(text, options.secretKeys ?? []);
  const leaves = new Map(secrets.leaves.map((leaf) => [leaf.node, leaf]));
  const settings: FlatSetting[] = [];

  const clearJson = (node: AST.TOMLContentNode): SettingJson => {
    if (node.type === 'TOMLArray') return node.elements.map(clearJson);
    return node.type === 'TOMLValue' ? plainValue(node, secrets.document.text) : {};
  };

  const toJson = (node: AST.TOMLContentNode): SettingJson => {
    if (node.type === 'TOMLArray') return node.elements.map(toJson);
    const leaf = node.type === 'TOMLValue' ? leaves.get(node) : undefined;
    if (leaf === undefined) return {};
    const mask = secrets.leafMask(leaf);
    if (mask === 'none') return plainValue(leaf.node, secrets.document.text);
    return mask === 'whole' || leaf.node.kind !== 'string' ? MASK : maskRanges(leaf.node.value, mask);
  };

  for (const [key, node] of flattenSettings<AST.TOMLTopLevelTable | AST.TOMLContentNode>(
    secrets.document.ast.body[0],
    TOML_SHAPE,
  )) {
    if (node.type === 'TOMLTopLevelTable') continue; // an empty text
    const inside = listLeaves(node).flatMap((leaf) => leaves.get(leaf) ?? []);
    const isMasked = inside.some((leaf) => secrets.leafMask(leaf) !== 'none');
    settings.push({
      key,
      value: toJson(node),
      secret: inside.some((leaf) => leaf.secret),
      ...(isMasked && options.fingerprint && { fingerprint: options.fingerprint(key, clearJson(node)) }),
    });
  }
  return settings;
}

function plainValue(node: AST.TOMLValue, text: string): SettingJson {
  const raw = text.slice(...node.range);
  switch (node.kind) {
    case 'string':
    case 'boolean':
      return node.value;
    case 'integer':
      return Number.isSafeInteger(node.value) ? node.value : node.bigint.toString();
    case 'float':
      return Number.isFinite(node.value) ? node.value : raw;
    default:
      return raw;
  }
}

function listLeaves(node: AST.TOMLContentNode): AST.TOMLValue[] {
  if (node.type === 'TOMLValue') return [node];
  return node.type === 'TOMLArray' ? node.elements.flatMap(listLeaves) : [];
}
