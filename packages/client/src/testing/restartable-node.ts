import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import type { PartialSettings, RunningNode } from '@porthole/server';
import { freePorts, startWithSharedThreads, testSettings } from '@porthole/server/testing';
import { onTestFinished } from 'vitest';

/** A real node that can be stopped and started again on the same port, over the same logs. */
export class RestartableNode {
  readonly logDir: string;
  readonly #dir = tempDir();
  readonly #settings: PartialSettings;
  #running: RunningNode | undefined;
  #port = 0;

  constructor(files: Readonly<Record<string, string>>, settings: PartialSettings = {}) {
    this.logDir = join(this.#dir, 'logs');
    this.#settings = settings;
    this.#port = settings.http?.port ?? 0;
    mkdirSync(this.logDir);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.logDir, name), text);
    onTestFinished(() => this.stop());
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const { http, node, ...settings } = this.#settings;
    if (this.#port === 0) [this.#port = 0] = await freePorts(1);
    this.#running = await startWithSharedThreads({
      settings: testSettings(this.#dir, {
        ...settings,
        node: { timeZone: 'UTC', ...node },
        http: { ...http, port: this.#port },
      }),
    });
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  append(name: string, text: string): void {
    appendFileSync(join(this.logDir, name), text);
  }
}
