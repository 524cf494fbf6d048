import { randomBytes } from 'node:crypto';

/** Long enough for a browser to follow a link, short enough that one in a log or a history is worth nothing. */
const LIFE_MS = 30_000;

/** Held at once; the oldest goes first. Who asks for more is not downloading. */
const MAX_TICKETS = 1000;

const TICKET_BYTES = 24;

interface Ticket {
  authorization: string | undefined;
  target: string;
  expiresMs: number;
}

/**
 * Browsers send no token with a link that they save to disk. A ticket stands for the `Authorization` header it was
 * issued with, for one URL and once. It grants nothing itself: what the header is worth is decided when it is used,
 * where it is decided for every request.
 */
export class DownloadTickets {
  readonly #tickets = new Map<string, Ticket>();

  issue(
    { authorization, target }: Pick<Ticket, 'authorization' | 'target'>,
    nowMs: number,
  ): { ticket: string; expiresInMs: number } {
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size >= MAX_TICKETS && oldest !== undefined) this.#tickets.delete(oldest);
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    this.#tickets.set(ticket, { authorization, target, expiresMs: nowMs + LIFE_MS });
    return { ticket, expiresInMs: LIFE_MS };
  }

  /** The header that a URL with a ticket stands for; `undefined` for one that is used, expired or of another URL. */
  redeem(url: string, nowMs: number): string | undefined {
    const [, target = '', ticket = ''] = /^(.*)[?&]ticket=([\w-]+)$/.exec(url) ?? [];
    const found = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    if (found === undefined || found.target !== target || nowMs >= found.expiresMs) return undefined;
    return found.authorization;
  }
}
