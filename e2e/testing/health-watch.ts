import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { scaled } from '@porthole/logs/testing';
import { onTestFinished } from 'vitest';

/** The promise is a second (`npm run bench` measures it). Tests find a node that hangs, not a machine that is busy. */
const GIVE_UP_MS = scaled(10_000);

/** Asked this often; with the limits on requests that tests set, still within them. */
const EVERY_MS = 40;

/** Not the address that attacks come from: what is limited by address is not this. */
const PROBE_ADDRESS = '127.0.0.2';

export interface HealthReport {
  requests: number;
  /** Requests that failed or got no response, as they showed. */
  troubles: string[];
}

/** Asks a node over and over whether it lives, on a connection of its own, until stopped. */
export function watchHealth(url: string): { stop(): Promise<HealthReport> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const seen: HealthReport = { requests: 0, troubles: [] };
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const trouble = await probe(url, agent);
      seen.requests++;
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

function probe(url: string, agent: Agent): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probeRequest = request(`${url}health/live`, { agent, localAddress: PROBE_ADDRESS }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`));
    });
    probeRequest.setTimeout(GIVE_UP_MS, () => probeRequest.destroy(new Error(`no answer within ${GIVE_UP_MS} ms`)));
    probeRequest.once('error', (error) => resolve(error.message));
    probeRequest.end();
  });
}
