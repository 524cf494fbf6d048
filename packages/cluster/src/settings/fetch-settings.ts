import {
  type CallOptions,
  type ConfigShape,
  codeOf,
  flattenSettings,
  type NodeConfig,
  type NodeState,
  PortholeError,
  type SettingJson,
} from '@porthole/contract';
import { parse, TomlDate, type TomlTable, type TomlValue } from 'smol-toml';
import { holdsMask, type MemberSetting } from './diff-settings.ts';
import type { Masked, SecretFingerprint } from './secrets.ts';

export type Settings = ReadonlyMap<string, MemberSetting>;

/** Real configurations have hundreds of settings; more are rejected to protect our memory. */
const MAX_SETTINGS = 20_000;

/** Deeper than any real configuration; protects the stack. */
const MAX_DEPTH = 64;

const TOML_SHAPE: ConfigShape<TomlValue> = {
  entries: (value) => (isTable(value) ? Object.entries(value).map(([key, inner]) => [[key], inner]) : undefined),
  elements: (value) => (Array.isArray(value) ? value : undefined),
  maxDepth: MAX_DEPTH,
};

export interface SettingsDeps {
  mask(configText: string): Masked;
  /** For members that send secrets in clear text; absent in a cluster without a token. */
  fingerprint?: SecretFingerprint | undefined;
  /** The configuration before it was masked here. */
  readSettings?(config: NodeConfig): Promise<Settings>;
}

/** The settings of a member, or those in its configuration if it is contract-only. */
export async function fetchSettings(
  { state }: { state: NodeState },
  deps: SettingsDeps,
  options: CallOptions,
): Promise<Settings> {
  try {
    const { settings } = await state.settings(options);
    return readEntries(settings);
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  const config = await state.config(options);
  return deps.readSettings?.(config) ?? parseSettings(config, deps);
}

/** Secrets are the values that masking changes. */
export async function parseSettings(
  { config }: Pick<NodeConfig, 'config'>,
  { mask, fingerprint }: SettingsDeps,
): Promise<Settings> {
  const masked = await mask(config);
  if (masked === undefined) throw new PortholeError('BAD_ANSWER', 'the configuration is not TOML');
  const shown = flatten(masked);
  const clear = masked === config ? shown : flatten(config);
  const settings = new Map<string, MemberSetting>();
  for (const [key, value] of shown) {
    const secretValue = clear.get(key);
    const isMasked = holdsMask(value);
    // Already masked by the member: the fingerprint would be that of the mask.
    const canFingerprint = isMasked && secretValue !== undefined && !holdsMask(secretValue);
    settings.set(key, {
      value,
      secret: isMasked && isWholeMask(value),
      ...(canFingerprint && fingerprint && { fingerprint: fingerprint(key, secretValue) }),
    });
  }
  return settings;
}

function flatten(text: string): Map<string, SettingJson> {
  try {
    return flattenToml(text);
  } catch (error) {
    throw new PortholeError('BAD_ANSWER', 'the configuration is not TOML', { cause: error });
  }
}

function readEntries(entries: readonly unknown[]): Settings {
  if (entries.length > MAX_SETTINGS) throw new PortholeError('BAD_ANSWER', `too many settings: ${entries.length}`);
  const settings = new Map<string, MemberSetting>();
  for (const entry of entries) {
    if (!isEntry(entry)) throw new PortholeError('BAD_ANSWER', 'invalid settings in the response');
    const { key, value, secret, fingerprint } = entry;
    settings.set(key, { value, secret, ...(typeof fingerprint === 'string' && { fingerprint }) });
  }
  return settings;
}

function isEntry(entry: unknown): entry is { key: string; value: SettingJson; secret: boolean; fingerprint?: unknown } {
  if (typeof entry !== 'object' || entry === null || !('key' in entry) || !('value' in entry)) return false;
  return typeof entry.key === 'string' && isSettingJson(entry.value) && 'secret' in entry && isFlag(entry.secret);
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isSettingJson(value: unknown): value is SettingJson {
  if (typeof value === 'object') return value !== null && Object.values(value).every(isSettingJson);
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isWholeMask(value: SettingJson): boolean {
  return typeof value === 'string' ? /^\*+$/.test(value) : Object.values(value).every(isWholeMask);
}

/** Values by path, in the notation of node settings. Throws if it is not TOML. */
export function flattenToml(text: string): Map<string, SettingJson> {
  const settings = new Map<string, SettingJson>();
  const root = parse(text, { integersAsBigInt: 'asNeeded', maxDepth: MAX_DEPTH });
  for (const [key, value] of flattenSettings<TomlValue>(root, TOML_SHAPE)) {
    if (settings.size >= MAX_SETTINGS) throw new Error('too large to be a configuration');
    settings.set(key, toJson(value));
  }
  return settings;
}

function toJson(value: TomlValue): SettingJson {
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value))
    return String(value).replace('Infinity', 'inf').toLowerCase();
  if (typeof value === 'object') return value instanceof TomlDate ? value.toISOString() : {};
  return value;
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof TomlDate);
}
