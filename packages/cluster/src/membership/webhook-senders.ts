import { codeOf } from '@porthole/contract';
import type { StateKeys } from './membership.ts';
import { readJsonObject } from './node-object.ts';

/** The state of a member that says which webhooks it sends to, and what it has sent. */
const NAME = 'notify';

/** Others do not read longer ones. */
const MAX_BYTES = 4000;

/** How long the registry is waited for. */
const TIMEOUT_MS = 2000;

export interface WebhookSendersDeps {
  /** Absent without a registry of nodes like this one. */
  keys: StateKeys | undefined;
  selfId: string;
  isLost(id: string): boolean;
}

/** Whether this node sends an event, another one has sent it, or another one will. */
export type SendingTurn = 'here' | 'sent' | 'elsewhere';

/**
 * Which of the nodes sends what all of them see: the first by id of those that are registered with the webhook and not lost.
 * Each keeps in a key of its own, bound to its lease, what it has sent; the others wait for that. Without a registry, or while
 * it does not respond, every node sends: rather twice than not at all.
 */
export class WebhookSenders {
  readonly #deps: WebhookSendersDeps;
  readonly #sent = new Map<string, string[]>();

  constructor(deps: WebhookSendersDeps) {
    this.#deps = deps;
  }

  /** Registers this node for these webhooks. */
  start(webhooks: readonly string[]): void {
    for (const webhook of webhooks) this.#sent.set(webhook, []);
    if (webhooks.length > 0) this.#publish();
  }

  /** `event` is the same on all nodes that see it. */
  async turn(webhook: string, event: string): Promise<SendingTurn> {
    const { keys, selfId, isLost } = this.#deps;
    if (!keys) return 'here';
    try {
      const values = await keys.read({ signal: AbortSignal.timeout(TIMEOUT_MS) });
      let turn: SendingTurn = 'here';
      for (const [key, value] of values) {
        const [id = '', name] = key.split('/');
        if (name !== NAME || id === selfId) continue;
        const sent = readSent(value, webhook);
        if (sent?.includes(event)) return 'sent';
        if (sent && id < selfId && !isLost(id)) turn = 'elsewhere';
      }
      return turn;
    } catch {
      // Whatever is wrong with the registry, which the state of the membership says: the event must be sent.
      return 'here';
    }
  }

  /** This node has sent an event. */
  sent(webhook: string, event: string): void {
    this.#sent.set(webhook, [...(this.#sent.get(webhook) ?? []), event]);
    this.#publish();
  }

  #publish(): void {
    const text = () => JSON.stringify(Object.fromEntries(this.#sent));
    for (const events of this.#sent.values()) while (events.length > 1 && text().length > MAX_BYTES) events.shift();
    this.#deps.keys?.publish(text(), NAME);
  }
}

/** What a member has sent to a webhook; `undefined` if it sends nothing there. Anyone with access can have written it. */
function readSent(value: Uint8Array, webhook: string): unknown[] | undefined {
  try {
    const sent = readJsonObject(value)[webhook];
    return Array.isArray(sent) ? sent : undefined;
  } catch (error) {
    if (codeOf(error) !== 'BAD_ANSWER') throw error;
    return undefined;
  }
}
