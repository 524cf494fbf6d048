import { createHmac, randomBytes } from 'node:crypto';
import type { SecretFingerprint } from '@porthole/cluster';
import {
  errorMessage,
  type NodeSettings,
  PortholeError,
  type RunningSettings,
  type SettingEntry,
  type SettingSource,
} from '@porthole/contract';
import { DiskComparison, renderSettings, settingEntries } from '../settings/describe-settings.ts';
import type { LoadedSettings } from '../settings/load-settings.ts';
import { type ConfigFilesOptions, type ReadFiles, ServiceFiles } from './config-files.ts';
import { ConfigThread } from './config-thread.ts';
import type { ConfigFile, ConfigView, FlattenedConfig } from './config-view.ts';
import type { FlatSetting } from './flatten-config.ts';
import { TomlError } from './formats/toml-error.ts';
import { RunningConfig } from './running-config.ts';

/** The source of the configuration a node shows. */
export interface ConfigSource {
  readonly observes: NodeSettings['observes'];
  /** Why it was not available when the node started. */
  readonly startProblem?: string | undefined;
  /** Valid TOML with all secrets masked. Throws `CONFIG_UNAVAILABLE` if it is not available. */
  text(): Promise<string>;
  /** The text as it is written, masked; the same where it is TOML. */
  source(): Promise<string>;
  settings(): Promise<NodeSettings>;
  /** The text and its keys, without asking the service. Fingerprints of secrets are those of this process. */
  current(): Promise<{ text: string; values: readonly FlatSetting[] }>;
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
    source: async () => text,
    settings: async () => ({ observes: 'self', file: loaded.file, settings, disk: await disk.read() }),
    current: async () => ({ text, values: settings }),
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
  /** Called with the secrets of every new text before it is shown. */
  onSecrets?: ((secrets: ConfigView['secrets']) => void) | undefined;
  /** What the service runs with. */
  running?: RunningConfig | undefined;
}

/** A configuration as it is written. */
export interface ConfigText {
  files: readonly ConfigFile[];
  /** What could not be read of it. */
  problems?: readonly string[];
  /** Patterns of further secret keys. */
  secretKeys: readonly string[];
  /** By key; without them, all values come from a file. */
  sources?: ReadonlyMap<string, SettingSource>;
}

export interface ServiceConfigOptions extends TextConfigOptions, ConfigFilesOptions {
  /** Prints what the service runs with; empty: it is not asked. */
  command: readonly string[];
}

/** The configuration of the service: its files as they are at every request. */
export async function openServiceConfig(options: ServiceConfigOptions): Promise<ConfigSource> {
  const { configFile, configFiles, command, maxBytes } = options;
  const found = new ServiceFiles(options);
  let last: { of: ReadFiles; text: ConfigText } | undefined;
  const read = async () => {
    const of = await found.read();
    if (last?.of !== of) last = { of, text: { ...of, secretKeys: [] } };
    return last.text;
  };
  const running = command.length > 0 ? new RunningConfig(command, { maxBytes }) : undefined;
  const file = [configFile, ...configFiles].filter((path) => path !== '').join(', ');
  return createTextConfig(read, { ...options, file, running });
}

/** A configuration whose text is fetched whenever it is needed. */
export async function createTextConfig(
  read: () => Promise<ConfigText>,
  {
    file,
    secretKeys,
    thread: given,
    fingerprint: ofCluster,
    onSecrets,
    running,
  }: TextConfigOptions & { file: string | null },
): Promise<ConfigSource> {
  const thread = given ?? new ConfigThread(secretKeys);
  const where = file ?? 'the configuration text';
  const key = randomBytes(32);
  const ownFingerprint: SecretFingerprint = (name, value) =>
    createHmac('sha256', key)
      .update(JSON.stringify([name, value]))
      .digest('base64');
  /** The last view: masking costs far more than reading, and files rarely change. */
  let last: { given: ConfigText; raw: string; view: ConfigView; flat: FlatSetting[] } | undefined;
  const load = async () => {
    const given = await read();
    // Other secret keys make another masked text of it.
    const raw = last?.given === given ? last.raw : JSON.stringify([given.files, given.secretKeys]);
    if (last?.raw !== raw) {
      const view = await readView(given, { where, thread });
      onSecrets?.(view.secrets);
      last = { given, raw, view, flat: withFingerprints(view.settings, ownFingerprint) };
    }
    last.given = given;
    const { view, flat } = last;
    const problems = [...(given.problems ?? []), ...view.problems];
    return { raw, view, masked: view.toml, flat, problems, sources: given.sources };
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
    source: async () => (await load()).view.source,
    current: async () => {
      const { masked, flat } = await load();
      return { text: masked, values: flat };
    },
    settings: async () => {
      const now = await load();
      const { format, settings } = now.view;
      return {
        observes: 'service',
        file,
        settings: (ofCluster ? comparable(now.raw, settings, ofCluster) : now.flat).map((setting) =>
          toEntry(setting, { isExposed: ofCluster !== undefined, sources: now.sources }),
        ),
        disk: compare(atStart, now),
        ...(format !== 'toml' && { format }),
        ...(now.problems.length > 0 && { problems: now.problems }),
        ...(running && { running: await running.compareWith(settings, thread) }),
      };
    },
    check: async () => {
      const now = await load();
      const { state, differs } = compare(atStart, now);
      const shown = now.view.format === 'text' ? 'is shown as text' : 'is readable';
      const compared = running?.lastWith(now.view.settings, thread);
      const sentences = [
        state === 'changed' ? `${where} changed since start: ${differs.join(', ')}` : `${where} ${shown}`,
        ...now.problems,
        ...(compared ? describeRunning(compared) : []),
      ];
      return { ok: compared?.state !== 'failed', detail: sentences.join('; ') };
    },
  };
}

function describeRunning({ state, detail, differences }: RunningSettings): string[] {
  if (state === 'failed') return [`what the service runs with is not known: ${detail}`];
  return state === 'same'
    ? []
    : [`the service runs with other values: ${differences.map(({ key }) => key).join(', ')}`];
}

/** A masked text, as a whole and by key. */
interface MaskedConfig {
  masked: string;
  flat: FlatSetting[];
}

async function readView({ files, secretKeys }: ConfigText, { where, thread }: { where: string; thread: ConfigThread }) {
  try {
    return await thread.run('view', files, secretKeys);
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
  { key, value, secret, fingerprint, file, line }: FlatSetting,
  { isExposed, sources }: { isExposed: boolean; sources: ConfigText['sources'] },
): SettingEntry {
  const exposed = isExposed && fingerprint !== undefined && { fingerprint };
  const source = sources ? (sources.get(key) ?? 'option') : 'file';
  const origin = file !== undefined && line !== undefined && { file, line };
  return { key, value, default: null, changed: null, source, secret, ...exposed, ...origin };
}

/** Whether a setting is unchanged, wherever it is written. */
function isSame(before: FlatSetting | undefined, after: FlatSetting | undefined): boolean {
  const shown = ({ key, value, secret, fingerprint }: FlatSetting) => JSON.stringify([key, value, secret, fingerprint]);
  return before && after ? shown(before) === shown(after) : before === after;
}

/** Compares the current file with the file at the start of the node. The service may run with either. */
function compare(atStart: MaskedConfig | undefined, now: MaskedConfig): NodeSettings['disk'] {
  if (!atStart)
    return { state: 'changed', differs: now.flat.map(({ key }) => key), detail: 'it could not be read at start' };
  const byKey = ({ flat }: MaskedConfig) => new Map(flat.map((setting) => [setting.key, setting]));
  const [before, after] = [byKey(atStart), byKey(now)];
  const keys = new Set([...before.keys(), ...after.keys()]);
  const differs = [...keys].filter((key) => !isSame(before.get(key), after.get(key)));
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
