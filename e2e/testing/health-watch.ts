import { Agent, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** The promise is a second. Tests share the machine with other tests, and are to find who hangs, not who is held up. */
const PROMISE_MS = 3000;

const GIVE_UP_MS = 3 * PROMISE_MS;

/** Asked this often; with the limits on requests that tests set, still within them. */
const EVERY_MS = 40;

/** Not the address that attacks come from: what is limited by address is not this. */
const ASKED_FROM = '127.0.0.2';

export interface HealthSeen {
  asked: number;
  /** What was no answer in time, as it showed. */
  troubles: string[];
}

/** Asks a node over and over whether it lives, on a connection of its own, until stopped. */
export function watchHealth(url: string): { stop(): Promise<HealthSeen> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const seen: HealthSeen = { asked: 0, troubles: [] };
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const trouble = await askLive(url, agent);
      seen.asked++;
      if (trouble !== undefined) seen.troubles.push(trouble);
      await delay(EVERY_MS);
    }
  })();
  const stop = async () => {
    stopped = true;
    await watching;
    agent.destroy();
    return seen;
  };
  onTestFinished(() => stop().then(() => {}));
  return { stop };
}

/** Takes off how long this process itself was held up: that is not the node's. */
async function askLive(url: string, agent: Agent): Promise<string | undefined> {
  const heldUp = monitorEventLoopDelay({ resolution: 10 });
  heldUp.enable();
  const startedAt = performance.now();
  const trouble = await ask(url, agent);
  heldUp.disable();
  const tookMs = performance.now() - startedAt - heldUp.max / 1e6;
  return tookMs > PROMISE_MS ? `${Math.round(tookMs)} ms` : trouble;
}

function ask(url: string, agent: Agent): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asking = request(`${url}health/live`, { agent, localAddress: ASKED_FROM }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`));
    });
    asking.setTimeout(GIVE_UP_MS, () => asking.destroy(new Error(`no answer within ${GIVE_UP_MS} ms`)));
    asking.once('error', (error) => resolve(error.message));
    asking.end();
  });
}
