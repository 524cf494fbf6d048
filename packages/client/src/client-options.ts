import type { FetchFunction, ResponseBudget } from '@porthole/contract';
import { CLIENT_OPTIONS, checkNames, invalid } from './check-arguments.ts';

/**
 * Asks for a response that is not compressed: with compression, ranges and lengths would refer to compressed bytes.
 * Browsers ignore it, and handle that themselves.
 */
export const IDENTITY_ENCODING = { 'accept-encoding': 'identity' } as const;

export interface ClientOptions {
  /** Base address of the node. A path is allowed, for nodes behind a proxy. Credentials in it are rejected: use `token`. */
  url: string | URL;
  /** Sent as a bearer token. A function is called before every request. */
  token?: string | (() => string | Promise<string>);
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Used instead of the global fetch, for proxies, private CAs and tests. */
  fetch?: FetchFunction;
  /** Timeout until the response head, and for the whole response unless it is a stream. Default: 30,000. */
  timeoutMs?: number;
  /** A stream without a byte for this long is lost. Default: 45,000; nodes send a heartbeat every 15 s. */
  stallMs?: number;
  /** Retries after a transient failure. Default: 3. */
  retries?: number;
  /** Maximum delay before the first retry; doubles with each. Default: 200. */
  backoffMs?: number;
  /** Maximum delay between retries. Default: 5,000. */
  maxBackoffMs?: number;
  /** Maximum size of a line, an event or a JSON response. Default: 16 MiB. */
  maxItemBytes?: number;
  /** Memory budget shared by several clients; default: none. The first 256 KiB of each response are not counted. */
  responseBudget?: ResponseBudget;
  /**
   * Whether errors include text of the node. Default: `show`; `hide` for programs that pass errors on: messages then contain
   * only the code of the node and text of the client.
   */
  remoteTexts?: 'show' | 'hide';
}

/** The options with all defaults applied. */
export interface StrictOptions {
  /** Without a trailing slash. */
  base: string;
  token(): Promise<string | undefined>;
  headers: Readonly<Record<string, string>>;
  fetch: FetchFunction;
  timeoutMs: number;
  stallMs: number;
  retries: number;
  backoffMs: number;
  maxBackoffMs: number;
  maxItemBytes: number;
  responseBudget: ResponseBudget | undefined;
  hidesTexts: boolean;
}

/** Maximum delay of a timer; a longer one would fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export function strictOptions(options: ClientOptions): StrictOptions {
  checkNames('createClient()', options, { kinds: CLIENT_OPTIONS, what: 'option' });
  const { token, headers = {}, fetch: send = globalThis.fetch } = options;
  if (send === undefined) throw invalid('there is no global fetch: pass one as the option "fetch"');
  const base = normalizeBaseUrl(options.url);
  return {
    base,
    token: async () => checkedToken(typeof token === 'function' ? await token() : token),
    headers: { ...encodingFor(base, headers), ...checkedHeaders(headers) },
    // Browsers only allow it as a method of the window.
    fetch: (...args) => send(...args),
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
    throw invalid('"url" must be the http or https address of a node, like "http://127.0.0.1:7300"');
  // The URL is not shown: it contains the credentials.
  if (url.username || url.password)
    throw invalid('"url" contains credentials, which would appear in errors and logs: use "token" or "headers"');
  if (url.search || url.hash) throw invalid(`"url" is a base address and must not contain a query: ${url.href}`);
  return url.href.replace(/\/+$/, '');
}

const OWN_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** On one machine, compressing a response takes several times as long as sending it. Browsers ignore the header. */
function encodingFor(base: string, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isChosen = Object.keys(headers).some((name) => name.toLowerCase() === 'accept-encoding');
  return !isChosen && OWN_MACHINE.test(new URL(base).hostname) ? IDENTITY_ENCODING : {};
}

function checkedNumber(name: string, given: number | undefined, otherwise: number): number {
  const value = given ?? otherwise;
  if (!(value >= 0)) throw invalid(`"${name}" must be a number of at least 0, not ${value}`);
  return name.endsWith('Ms') ? Math.min(value, MAX_TIMER_MS) : value;
}

/** Checked here for the same reason as the token. */
function checkedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw invalid(`the header ${JSON.stringify(name)} has characters that cannot be sent`);
  }
  return headers;
}

/** Checked here, because the error of an invalid header would contain its value. */
function checkedToken(token: string | undefined): string | undefined {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw invalid('the token is empty or has characters that a header cannot carry');
  return token;
}
