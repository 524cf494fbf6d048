import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { scaled } from '../../packages/logs/src/testing/timeout-scale.ts';

/** The promise is a second (`npm run bench` measures it). Tests find a node that hangs, not a machine that is busy. */
const GIVE_UP_MS = scaled(10_000);

/** Asked this often; with the limits on requests that tests set, still within them. */
const EVERY_MS = 40;

/** Not the address that attacks come from: what is limited by address is not this. */
const ASKED_FROM = '127.0.0.2';

export interface HealthSeen {
  asked: number;
  /** Requests that failed or got no response, as they showed. */
  troubles: string[];
}

/** Asks a node over and over whether it lives, on a connection of its own, until stopped. */
export function watchHealth(url: string): { stop(): Promise<HealthSeen> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const seen: HealthSeen = { asked: 0, troubles: [] };
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const trouble = await ask(url, agent);
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
