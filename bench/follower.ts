import { type ClientRequest, get } from 'node:http';
import { LINE_PATTERN } from './line-writer.ts';

/** Counts the numbered lines a follower receives. */
export class Follower {
  /** Of the first and the last line received; -1 before. */
  first = -1;
  last = -1;
  count = 0;
  /** Lines received twice, or before an earlier one, and events that are no record: there should be none. */
  strange = 0;
  error: Error | undefined;
  readonly #onLine: (number: number, tookMs: number) => void;
  #request: ClientRequest | undefined;
  #rest = '';
  #closed = false;

  constructor(onLine: (number: number, tookMs: number) => void = () => {}) {
    this.#onLine = onLine;
  }

  /** Resolves with the head of the answer: then it is let in, though it may not have begun. */
  open(url: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#request = get(url, { agent: false }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`${url} answers ${response.statusCode}`));
        response.setEncoding('latin1'); // the lines are ASCII
        response.on('data', (text: string) => this.#take(text));
        response.on('error', (error) => this.#fail(error));
        response.on('close', () => this.#fail(new Error(`${url} was ended`)));
        resolve();
      });
      this.#request.on('error', (error) => {
        this.#fail(error);
        reject(error);
      });
    });
  }

  /** Whether it received every line from this one up to that. */
  hasAll(from: number, to: number): boolean {
    const { first, last, count, strange } = this;
    return first >= 0 && first <= from && last === to && count === last - first + 1 && strange === 0;
  }

  close(): void {
    this.#closed = true;
    this.#request?.destroy();
  }

  #fail(error: Error): void {
    if (!this.#closed) this.error ??= error;
  }

  /** Whole lines of the answer; an event's data is one of them. */
  #take(text: string): void {
    const now = process.hrtime.bigint();
    const all = this.#rest + text;
    const end = all.lastIndexOf('\n') + 1;
    this.#rest = all.slice(end);
    const whole = all.slice(0, end);
    for (const [, event] of whole.matchAll(/^event: (.*)$/gm)) if (event !== 'record') this.strange++;
    for (const [, number, writtenNs] of whole.matchAll(LINE_PATTERN)) {
      this.#count(Number(number), Number(now - BigInt(writtenNs ?? 0)) / 1e6);
    }
  }

  #count(number: number, tookMs: number): void {
    if (this.first < 0) this.first = number;
    else if (number !== this.last + 1) this.strange++;
    this.last = number;
    this.count++;
    this.#onLine(number, tookMs);
  }
}
