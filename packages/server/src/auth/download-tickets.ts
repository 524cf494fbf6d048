import { randomBytes } from 'node:crypto';
import { type DownloadTicket, PortholeError } from '@porthole/contract';
import { hashSecret } from './tokens.ts';

/** Long enough for a browser to follow a link, short enough that one in a log or a history is worth nothing. */
const LIFE_MS = 30_000;

/** Maximum number of open tickets of one client, which uses each at once: nobody uses up or displaces those of others. */
const MAX_CLIENT_TICKETS = 32;

/** Maximum number of open tickets, for memory; the oldest is removed first. */
const MAX_TICKETS = 1000;

const TICKET_BYTES = 24;

interface Ticket {
  /** Who it was issued to: an identity, or the address of an anonymous client. */
  client: string;
  authorization: string | undefined;
  target: string;
  expiresMs: number;
}

/**
 * Browsers send no token when they download a link. A ticket stands for the `Authorization` header it was issued with,
 * for one URL and one use. It grants nothing itself: the header is checked when the ticket is used, like that of any
 * request.
 */
export class DownloadTickets {
  /** By hash, so that the timing of a lookup reveals nothing about the ticket. */
  readonly #tickets = new Map<string, Ticket>();
  readonly #now: () => number;

  /** `now` must be monotonic. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  issue({ client, authorization, target }: Omit<Ticket, 'expiresMs'>): DownloadTicket {
    let count = 0;
    for (const [key, open] of this.#tickets) {
      if (this.#now() >= open.expiresMs) this.#tickets.delete(key);
      else if (open.client === client) count++;
    }
    if (count >= MAX_CLIENT_TICKETS)
      throw new PortholeError(
        'RATE_LIMITED',
        `${MAX_CLIENT_TICKETS} download tickets of this client are open, which is the limit: use one, or wait ${LIFE_MS / 1000} s`,
      );
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size >= MAX_TICKETS && oldest !== undefined) this.#tickets.delete(oldest);
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    this.#tickets.set(ticketKey(ticket), { client, authorization, target, expiresMs: this.#now() + LIFE_MS });
    return { ticket, expiresInMs: LIFE_MS };
  }

  /** The header that a URL with a ticket stands for; `undefined` for a ticket that is used, expired or for another URL. */
  redeem(url: string): string | undefined {
    const [, target = '', ticket = ''] = /^(.*)[?&]ticket=([\w-]+)$/.exec(url) ?? [];
    const key = ticketKey(ticket);
    const found = this.#tickets.get(key);
    this.#tickets.delete(key);
    if (found === undefined || found.target !== target || this.#now() >= found.expiresMs) return undefined;
    return found.authorization;
  }
}

function ticketKey(ticket: string): string {
  return hashSecret(ticket).toString('latin1');
}
