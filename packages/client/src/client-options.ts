import { PortholeError, type ResponseBudget } from '@porthole/contract';

export interface ClientOptions {
  /** Base address of the node. A path is kept, for nodes behind a proxy. Credentials in it are refused: give a token. */
  url: string | URL;
  /** Sent as a bearer token. A function is asked for it before every request. */
  token?: string | (() => string | Promise<string>);
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Used instead of the global one, for proxies, own certificate authorities and tests. */
  fetch?: typeof fetch;
  /** How long the head of an answer may take, and the whole of one that is not a stream. 30,000 unless given. */
  timeoutMs?: number;
  /** A stream that gives no byte for so long is lost. 45,000 unless given: nodes send a sign of life every 15 s. */
  stallMs?: number;
  /** Further attempts after one that failed for a reason that may pass. 3 unless given. */
  retries?: number;
  /** The wait before the first further attempt is up to this, and doubles with each. 200 unless given. */
  backoffMs?: number;
  /** The longest wait between attempts. 5,000 unless given. */
  maxBackoffMs?: number;
  /** What must be held as a whole (a line, an event, a JSON answer) may be so long. 16 MiB unless given. */
  maxItemBytes?: number;
  /** What the responses to several clients may hold together; none unless given. The first 256 KiB of each are not counted. */
  responseBudget?: ResponseBudget;
  /**
   * Whether errors repeat what the node says. `show` unless given; `hide` for programs that pass errors on to others:
   * then only the node's code counts, and what is said of it is ours.
   */
  remoteTexts?: 'show' | 'hide';
}

/** The options with everything decided. */
export interface StrictOptions {
  /** Without a slash at its end. */
  base: string;
  token(): Promise<string | undefined>;
  headers: Readonly<Record<string, string>>;
  fetch: typeof fetch;
  timeoutMs: number;
  stallMs: number;
  retries: number;
  backoffMs: number;
  maxBackoffMs: number;
  maxItemBytes: number;
  responseBudget: ResponseBudget | undefined;
  hidesTexts: boolean;
}

/** The longest time a timer takes; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export function strictOptions(options: ClientOptions): StrictOptions {
  const { token, headers = {}, fetch: ask = globalThis.fetch } = options;
  return {
    base: normalizeBaseUrl(options.url),
    token: async () => checkedToken(typeof token === 'function' ? await token() : token),
    headers: checkedHeaders(headers),
    // Browsers refuse to run it as a method of anything but the window.
    fetch: (...args) => ask(...args),
    timeoutMs: checkedNumber('timeoutMs', options.timeoutMs, 30_000),
    stallMs: checkedNumber('stallMs', options.stallMs, 45_000),
    retries: checkedNumber('retries', options.retries, 3),
    backoffMs: checkedNumber('backoffMs', options.backoffMs, 200),
    maxBackoffMs: checkedNumber('maxBackoffMs', options.maxBackoffMs, 5_000),
    maxItemBytes: checkedNumber('maxItemBytes', options.maxItemBytes, 16 * 1024 ** 2),
    responseBudget: options.responseBudget,
    hidesTexts: options.remoteTexts === 'hide',
  };
}

function normalizeBaseUrl(given: string | URL): string {
  const url = URL.canParse(String(given)) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw invalid('"url" must be the http or https address of a node');
  // Not shown: what is refused is what must not be seen.
  if (url.username || url.password)
    throw invalid('"url" holds credentials, which would show up in errors and logs: give them as "token" or "headers"');
  if (url.search || url.hash) throw invalid(`"url" is a base address and cannot hold a query: ${url.href}`);
  return url.href.replace(/\/+$/, '');
}

function checkedNumber(name: string, given: number | undefined, otherwise: number): number {
  const value = given ?? otherwise;
  if (!(value >= 0)) throw invalid(`"${name}" must be a number of at least 0, not ${value}`);
  return name.endsWith('Ms') ? Math.min(value, MAX_TIMER_MS) : value;
}

/** As with the token: what cannot be sent would be shown. */
function checkedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw invalid(`the header ${JSON.stringify(name)} has characters that cannot be sent`);
  }
  return headers;
}

/** Checked here, because the error of a header that cannot be sent would show its value. */
function checkedToken(token: string | undefined): string | undefined {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw invalid('the token is empty or has characters that a header cannot carry');
  return token;
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
