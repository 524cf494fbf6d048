import { readFile } from 'node:fs/promises';
import { errorMessage } from '@porthole/contract';
import type { Scrubbing } from '@porthole/logs';
import type { ReloadedGroup } from '../auth/reloaded-files.ts';
import { expectCode } from '../errors.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { LoadedSettings } from '../settings/load-settings.ts';
import { parseWebhooks } from '../settings/webhooks.ts';
import type { KnownSecrets } from './config-view.ts';
import { findCredentials } from './secrets/find-credentials.ts';
import { isSecretKey } from './secrets/secret-keys.ts';
import { SecretValues } from './secrets/secret-values.ts';
import type { ConfigSource } from './service-config.ts';

const NOT_MASKED = 'until then its secrets are not masked in the text of logs, but those known before';

/** Collects the secrets to mask in log text, and reports those that cannot be masked. */
export class NodeSecrets {
  readonly #loaded: LoadedSettings;
  readonly #scrubbing: Scrubbing;
  readonly #isOn: boolean;
  #log: Logger | undefined;
  /** Reports that wait until the own log is open. */
  #pendingReports: (() => void)[] = [];
  #reportedKeys = '';

  constructor(loaded: LoadedSettings, scrubbing: Scrubbing) {
    this.#loaded = loaded;
    this.#scrubbing = scrubbing;
    this.#isOn = loaded.settings.logs.scrub;
  }

  /** Adds the secrets of the node's own settings and the files they name. */
  async addOwn(): Promise<void> {
    if (!this.#isOn) return;
    this.#add(collectSettingsSecrets(this.#loaded));
    this.#add(await this.#readSecretFiles());
  }

  /** Adds the secrets of a service's configuration. */
  addConfig(secrets: KnownSecrets): void {
    if (this.#isOn) this.#add(secrets);
  }

  /** Called when the own log is open. */
  reportTo(log: Logger): void {
    this.#log = log;
    for (const report of this.#pendingReports.splice(0)) report();
  }

  /** Warnings at start, for a configuration that was already read. */
  startWarnings({ startProblem }: ConfigSource): string[] {
    return this.#isOn && startProblem !== undefined ? [`${startProblem}; ${NOT_MASKED}`] : [];
  }

  /** Adds the secrets of the current configuration. If it cannot be read, only known secrets stay masked. */
  async #reloadConfig(config: ConfigSource): Promise<void> {
    try {
      if (config.observes === 'service') await config.text();
    } catch (error) {
      const reason = errorMessage(error);
      this.#report((log) => log.warn('scrub', `${reason}; ${NOT_MASKED}`));
    }
  }

  /** The files that are reloaded when they change. */
  watchedFiles(config: ConfigSource): ReloadedGroup[] {
    const { configFile, configFiles } = this.#loaded.settings.service;
    const named = [configFile, ...configFiles].filter((path) => !/[*?]/.test(path));
    const paths = [...named, ...secretFiles(this.#loaded).map(({ path }) => path)].filter(Boolean);
    if (!this.#isOn || paths.length === 0) return [];
    const reload = async () => {
      await this.addOwn();
      await this.#reloadConfig(config);
    };
    return [{ setting: 'logs.scrub', paths, reload }];
  }

  #add({ values, unscrubbedKeys }: KnownSecrets): void {
    const left = this.#scrubbing.add(values);
    if (left > 0) {
      this.#report((log) => log.error('scrub', 'too many secrets: some are not masked in log text', { left }));
    }
    const keys = unscrubbedKeys.join(', ');
    if (keys === '' || keys === this.#reportedKeys) return;
    this.#reportedKeys = keys;
    const message = 'secrets that are too short or too common are not masked in the text of logs';
    this.#report((log) => log.warn('scrub', message, { keys: unscrubbedKeys }));
  }

  #report(report: (log: Logger) => void): void {
    const log = this.#log;
    if (log) report(log);
    else this.#pendingReports.push(() => this.#log && report(this.#log));
  }

  async #readSecretFiles(): Promise<KnownSecrets> {
    const values = new SecretValues();
    const unscrubbedKeys: string[] = [];
    for (const { key, path } of secretFiles(this.#loaded)) {
      // An unreadable file is reported where it is used.
      const text = ((await readFile(path, 'utf8').catch(expectCode)) ?? '').trim();
      // Of headers, what they hold: of `Authorization: Bearer x`, both the value and its last word.
      const lines = key === HEADERS_KEY ? headerValues(text) : [text];
      for (const value of lines) {
        values.add(value);
        if (/\s/.test(value) && key === HEADERS_KEY) values.add(value.slice(value.lastIndexOf(' ') + 1));
        if (value !== '' && !values.has(value)) unscrubbedKeys.push(key);
      }
    }
    return { values: [...values.long], unscrubbedKeys };
  }
}

const HEADERS_KEY = 'ship.otlp-headers-file';

function headerValues(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  return lines.map((line) => line.slice(line.indexOf(':') + 1).trim());
}

/** Settings that name a file of secrets. Tokens of clients are not among them: they are stored as hashes. */
const SECRET_FILE = /(?:^cluster\.token|password|key|headers)-file$/;

/** Files that contain only secrets. */
function secretFiles({ settings, values }: LoadedSettings): { key: string; path: string }[] {
  const named = values.flatMap(({ definition: { key }, value }) =>
    SECRET_FILE.test(key) && typeof value === 'string' ? [{ key, path: value }] : [],
  );
  const { webhooks } = parseWebhooks(settings.notify.webhook, '/');
  const files = webhooks.flatMap((webhook) => [webhook['url-file'] ?? '', webhook['secret-file'] ?? '']);
  return [...named, ...files.map((path) => ({ key: 'notify.webhook', path }))].filter(({ path }) => path !== '');
}

/** Passwords within settings, like in the URL of a registry. */
function collectSettingsSecrets({ values: settings }: LoadedSettings): KnownSecrets {
  const found = new SecretValues();
  const unscrubbedKeys: string[] = [];
  const isSecretName = (name: string) => isSecretKey([name], []);
  for (const { definition, value } of settings) {
    for (const text of [value].flat()) {
      if (typeof text !== 'string' || text === '') continue;
      const secrets = findCredentials(text, { path: [], secretKeys: [], isSecretName })
        .filter(({ certain }) => certain)
        .map(({ start, end }) => text.slice(start, end));
      for (const secret of secrets) found.add(secret);
      if (secrets.some((secret) => !found.has(secret))) unscrubbedKeys.push(definition.key);
    }
  }
  return { values: [...found.long], unscrubbedKeys };
}
