import { createHmac, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { types } from 'node:util';
import type { SecretFingerprint } from '@porthole/cluster';
import {
  errorMessage,
  type NodeSettings,
  PortholeError,
  type SettingEntry,
  type SettingSource,
} from '@porthole/contract';
import { DiskComparison, renderSettings, settingEntries } from '../settings/describe-settings.ts';
import type { LoadedSettings } from '../settings/load-settings.ts';
import { ConfigThread } from './config-thread.ts';
import type { FlatSetting } from './flatten-config.ts';
import { TomlError } from './formats/toml-error.ts';
import type { FlattenedConfig } from './run-config-task.ts';

/** The source of the configuration a node shows. */
export interface ConfigSource {
  readonly observes: NodeSettings['observes'];
  /** Why it was not available when the node started. */
  readonly startProblem?: string | undefined;
  /** Valid TOML with all secrets masked. Throws `CONFIG_UNAVAILABLE` if it is not available. */
  text(): Promise<string>;
  settings(): Promise<NodeSettings>;
  /** The health check. */
  check(): Promise<{ ok: boolean; detail: string }>;
}

/** The settings the node runs with; its file on disk may have changed since. */
export function createOwnConfig(loaded: LoadedSettings): ConfigSource {
  const text = renderSettings(loaded);
  const settings = settingEntries(loaded);
  const disk = new DiskComparison(loaded);
  return {
    observes: 'self',
    text: async () => text,
    settings: async () => ({ observes: 'self', file: loaded.file, settings, disk: await disk.read() }),
    async check() {
      const { state, differs, detail } = await disk.read();
      if (state === 'none') return { ok: true, detail: 'defaults, environment and flags; no settings file' };
      if (state === 'same') return { ok: true, detail: `as in ${loaded.file}` };
      if (state === 'changed') return { ok: true, detail: `${loaded.file} changed since start: ${differs.join(', ')}` };
      return { ok: false, detail: detail ?? `${loaded.file} is ${state}` };
    },
  };
}

export interface TextConfigOptions {
  secretKeys: readonly string[];
  /** Masks with the same secret keys. */
  thread?: ConfigThread;
  /** Fingerprint of the cluster, added to every masked value so that members can be compared. */
  fingerprint?: SecretFingerprint | undefined;
  /** Called with every new text before it is shown. */
  onText?: ((config: ConfigText) => Promise<void>) | undefined;
}

/** A configuration as TOML text. */
export interface ConfigText {
  text: string;
  /** Patterns of further secret keys. */
  secretKeys: readonly string[];
  /** By key; without them, all values come from a file. */
  sources?: ReadonlyMap<string, SettingSource>;
}

export interface ServiceConfigOptions extends TextConfigOptions {
  file: string;
  maxBytes: number;
}

/** The configuration of the service: its file, read again for every request. */
export async function openServiceConfig({ file, maxBytes, ...options }: ServiceConfigOptions): Promise<ConfigSource> {
  const read = async () => ({ text: await readConfigFile(file, { maxBytes }), secretKeys: [] });
  return createTextConfig(read, { file, ...options });
}

/** A configuration whose TOML text is fetched whenever it is needed. */
export async function createTextConfig(
  read: () => Promise<ConfigText>,
  { file, secretKeys, thread: given, fingerprint: ofCluster, onText }: TextConfigOptions & { file: string | null },
): Promise<ConfigSource> {
  const thread = given ?? new ConfigThread(secretKeys);
  const where = file ?? 'the configuration text';
  const key = randomBytes(32);
  const ownFingerprint: SecretFingerprint = (name, value) =>
    createHmac('sha256', key)
      .update(JSON.stringify([name, value]))
      .digest('base64');
  /** The last masked text: masking costs far more than reading, and files rarely change. */
  let last: { raw: string; masked: string; flattened: FlattenedConfig; flat: FlatSetting[] } | undefined;
  const load = async () => {
    const given = await read();
    // Other secret keys make another masked text of it.
    const raw = [given.text, ...given.secretKeys].join('\0');
    if (last?.raw !== raw) {
      const { masked, flattened } = await mask(given, { where, thread });
      await onText?.(given);
      last = { raw, masked, flattened, flat: withFingerprints(flattened, ownFingerprint) };
    }
    return { ...last, sources: given.sources };
  };
  /** With fingerprints by the cluster's token, which may have changed since the text was masked. */
  let lastComparable: { raw: string; mark: string; flat: FlatSetting[] } | undefined;
  const comparable = (raw: string, flattened: FlattenedConfig, fingerprint: SecretFingerprint): FlatSetting[] => {
    const mark = fingerprint('', '');
    if (lastComparable?.raw !== raw || lastComparable.mark !== mark)
      lastComparable = { raw, mark, flat: withFingerprints(flattened, fingerprint) };
    return lastComparable.flat;
  };
  let startProblem: string | undefined;
  const atStart: MaskedConfig | undefined = await load().then(
    ({ masked, flat }) => ({ masked, flat }),
    (error: unknown) => {
      startProblem = errorMessage(error);
      return undefined;
    },
  );
  return {
    observes: 'service',
    startProblem,
    text: async () => (await load()).masked,
    settings: async () => {
      const now = await load();
      return {
        observes: 'service',
        file,
        settings: (ofCluster ? comparable(now.raw, now.flattened, ofCluster) : now.flat).map((setting) =>
          toEntry(setting, { isExposed: ofCluster !== undefined, sources: now.sources }),
        ),
        disk: compare(atStart, now),
      };
    },
    check: async () => {
      const { state, differs } = compare(atStart, await load());
      return {
        ok: true,
        detail: state === 'changed' ? `${where} changed since start: ${differs.join(', ')}` : `${where} is readable`,
      };
    },
  };
}

/** A masked text, as a whole and by key. */
interface MaskedConfig {
  masked: string;
  flat: FlatSetting[];
}

async function mask({ text, secretKeys }: ConfigText, { where, thread }: { where: string; thread: ConfigThread }) {
  try {
    return {
      masked: await thread.run('mask', text, secretKeys),
      flattened: await thread.run('settings', text, secretKeys),
    };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new PortholeError('CONFIG_UNAVAILABLE', `${where} cannot be shown: ${error.message}`, { cause: error });
  }
}

function withFingerprints({ flat, clear }: FlattenedConfig, fingerprint: SecretFingerprint): FlatSetting[] {
  return flat.map((setting) => {
    const [key, value] = setting.fingerprint === undefined ? [] : (clear[Number(setting.fingerprint)] ?? []);
    return key === undefined || value === undefined ? setting : { ...setting, fingerprint: fingerprint(key, value) };
  });
}

/** Only what the file contains: the service's defaults are unknown, and whether it has read the file. */
function toEntry(
  { key, value, secret, fingerprint }: FlatSetting,
  { isExposed, sources }: { isExposed: boolean; sources: ConfigText['sources'] },
): SettingEntry {
  const exposed = isExposed && fingerprint !== undefined && { fingerprint };
  const source = sources ? (sources.get(key) ?? 'option') : 'file';
  return { key, value, default: null, changed: null, source, secret, ...exposed };
}

/** Compares the current file with the file at the start of the node. The service may run with either. */
function compare(atStart: MaskedConfig | undefined, now: MaskedConfig): NodeSettings['disk'] {
  if (!atStart)
    return { state: 'changed', differs: now.flat.map(({ key }) => key), detail: 'it could not be read at start' };
  const byKey = ({ flat }: MaskedConfig) => new Map(flat.map((setting) => [setting.key, setting]));
  const [before, after] = [byKey(atStart), byKey(now)];
  const keys = new Set([...before.keys(), ...after.keys()]);
  const differs = [...keys].filter((key) => JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key)));
  const changes = differs.map((key) => ({
    key,
    atStart: before.get(key)?.value ?? null,
    onDisk: after.get(key)?.value ?? null,
  }));
  return {
    state: differs.length > 0 ? 'changed' : 'same',
    differs,
    detail: null,
    ...(changes.length > 0 && { changes }),
    ...(atStart.masked !== now.masked && { textAtStart: atStart.masked }),
  };
}

/** The text of a configuration file. Throws `CONFIG_UNAVAILABLE` for anything that cannot be read as such. */
export async function readConfigFile(path: string, { maxBytes }: { maxBytes: number }): Promise<string> {
  try {
    // Non-blocking, because it may be a FIFO.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw unavailable(path, 'it is not a regular file');
      if (stats.size > maxBytes)
        throw unavailable(path, `it is larger than ${maxBytes} bytes, the limit set by config.max-bytes`);
      const bytes = await handle.readFile();
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    if (error instanceof TypeError) throw unavailable(path, 'it is not UTF-8 text', error);
    throw unavailable(
      path,
      types.isNativeError(error) && 'code' in error ? String(error.code) : 'it cannot be read',
      error,
    );
  }
}

function unavailable(path: string, reason: string, cause?: unknown): PortholeError {
  return new PortholeError('CONFIG_UNAVAILABLE', `the configuration file ${path} cannot be shown: ${reason}`, {
    cause,
  });
}
