import { ONCE, Shared } from '../shared.ts';
import type { FollowItem, FollowQuery, FollowReadOptions } from '../types.ts';
import type { FollowHub, FollowHubDeps, FollowUsage } from './follow-hub.ts';

/** The hub, loaded with the first follow: it is a third of the engine's code, and most programs that search follow nothing. */
export class LateHub {
  readonly #deps: FollowHubDeps;
  readonly #hub = new Shared<FollowHub>(ONCE);
  #loaded: FollowHub | undefined;
  #isClosed = false;

  constructor(deps: FollowHubDeps) {
    this.#deps = deps;
  }

  get usage(): FollowUsage {
    return this.#loaded?.usage ?? { readers: 0, watchers: 0, openFiles: 0 };
  }

  /** See `FollowHub`. */
  async *follow(query: FollowQuery, options: FollowReadOptions): AsyncGenerator<FollowItem[], void, undefined> {
    yield* (await this.#load()).follow(query, options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#hub.last())?.close();
  }

  #load(): Promise<FollowHub> {
    return this.#hub.run(async () => {
      const module = await import('./follow-hub.ts');
      this.#loaded = new module.FollowHub(this.#deps);
      if (this.#isClosed) await this.#loaded.close();
      return this.#loaded;
    });
  }
}
