import { Worker } from 'node:worker_threads'; // owner: a listener from birth; a task reports what happens during it
import { type ErrorCode, PortholeError } from '@porthole/contract';
import { packageFile } from '@porthole/logs';
import { NO_WORK, unneeded } from '@porthole/logs/shared';
import type { ConfigFile } from './config-view.ts';
import { TomlError } from './formats/toml-error.ts';
import type { ConfigResults, ConfigTask } from './run-config-task.ts';

/** Shorter texts are processed on this thread: that takes at most 20 ms, as long as starting a thread. */
const SHORT_CHARACTERS = 8 * 1024;

/** A megabyte takes a few seconds on a busy machine. */
const MAX_MS = 60_000;

/** An idle thread is ended after this time. */
const IDLE_MS = 5000;

/** A configuration of a megabyte takes about a hundred. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512 };

/** Node does not run TypeScript in threads: tests, which run the source, use the built worker. */
function workerUrl(moduleUrl: string | undefined = import.meta.url): URL {
  const name = moduleUrl?.endsWith('.ts') ? '../../dist/config/config-worker-bundle.js' : './config-worker.js';
  return packageFile(name, moduleUrl);
}

export type ConfigWorkerResponse =
  | { result: ConfigResults[ConfigTask['kind']] }
  | { toml: { reason: string; line: number; column: number } }
  | { problem: { code: ErrorCode; message: string } };

/**
 * Masks configurations without blocking the node: a megabyte takes a second or more. Long ones are processed by a thread,
 * one at a time, that is ended when one takes too long.
 */
export class ConfigThread {
  readonly #secretKeys: readonly string[];
  readonly #shortCharacters: number;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last = NO_WORK;
  #waiting = 0;

  constructor(secretKeys: readonly string[], { shortCharacters = SHORT_CHARACTERS } = {}) {
    this.#secretKeys = secretKeys;
    this.#shortCharacters = shortCharacters;
  }

  /**
   * A text is TOML. `secretKeys` are patterns of further secret keys. Throws `TomlError` if a TOML file is not valid, and
   * `PortholeError` if it cannot be masked.
   */
  async run<K extends ConfigTask['kind']>(
    kind: K,
    given: string | readonly ConfigFile[],
    secretKeys: readonly string[] = [],
  ): Promise<ConfigResults[K]> {
    const files = typeof given === 'string' ? [{ path: 'config.toml', text: given }] : given;
    const task: ConfigTask = { kind, files, secretKeys: [...this.#secretKeys, ...secretKeys] };
    if (countCharacters(files) <= this.#shortCharacters) {
      const { runConfigTask } = await import('./run-config-task.ts');
      return (await runConfigTask(task)) as ConfigResults[K];
    }
    this.#waiting++;
    const result = this.#last.then(() => this.#runInThread(task));
    const ended = result.finally(() => {
      if (--this.#waiting === 0) this.#rest();
    });
    this.#last = unneeded(ended); // reported to the caller of this task; the next one starts anyway
    return (await result) as ConfigResults[K];
  }

  #runInThread(task: ConfigTask): Promise<ConfigResults[ConfigTask['kind']]> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      const lose = (reason: string) => {
        end();
        this.#worker = undefined;
        void worker.terminate();
        reject(new PortholeError('CONFIG_UNAVAILABLE', `the configuration could not be masked: ${reason}`));
      };
      const onMessage = (response: ConfigWorkerResponse) => {
        end();
        if ('result' in response) resolve(response.result);
        else reject(toError(response));
      };
      const onError = () => lose('its thread failed');
      const onExit = () => lose('its thread ended');
      const timer = setTimeout(() => lose(`it took longer than ${MAX_MS} ms`), MAX_MS);
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(task);
    });
  }

  #start(): Worker {
    const worker = new Worker(workerUrl(), { resourceLimits: RESOURCE_LIMITS, execArgv: [] });
    // A failure during a task is reported by the task; an idle thread is simply replaced by the next task.
    worker.on('error', () => {});
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  #rest(): void {
    this.#worker?.unref();
    this.#idle = setTimeout(() => {
      void this.#worker?.terminate();
      this.#worker = undefined;
    }, IDLE_MS).unref();
  }
}

function countCharacters(files: readonly ConfigFile[]): number {
  const inner = (file: ConfigFile) => (file.includes ?? []).map((include) => countCharacters(include.files));
  return files.reduce((sum, file) => inner(file).reduce((a, b) => a + b, sum + file.text.length), 0);
}

function toError(response: Exclude<ConfigWorkerResponse, { result: unknown }>): Error {
  if ('toml' in response) return new TomlError(response.toml.reason, response.toml);
  return new PortholeError(response.problem.code, response.problem.message);
}
