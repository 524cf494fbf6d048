import { JsonTooLarge, parseBoundedJson } from './bounded-json.ts';
import { notSupported } from './errors/response-error.ts';
import { type ClientDeps, type ClientRequest, Exchange } from './exchange.ts';
import { withRetries } from './retry.ts';

/** The head of a successful response, with retries. */
export function sendRequest(request: ClientRequest, deps: ClientDeps): Promise<Exchange> {
  return withRetries(() => Exchange.open(request, deps), { ...deps, signal: request.signal });
}

/** A whole JSON response, as `read` decodes it. */
export function requestJson<T>(
  request: ClientRequest,
  deps: ClientDeps,
  read: (value: unknown) => T | undefined,
): Promise<T> {
  const attempt = async () => {
    const exchange = await Exchange.open(request, deps);
    try {
      rejectPage(exchange);
      const value = parseJson(exchange, await exchange.readWhole({ maxBytes: responseLimit(request, deps) }));
      const result = read(value);
      if (result === undefined)
        throw exchange.badResponse(`the response of ${exchange.path} does not have the expected fields`);
      return result;
    } finally {
      exchange.close();
    }
  };
  return withRetries(attempt, { ...deps, signal: request.signal });
}

/** Web servers with a console respond to every unknown address with its page. */
export function rejectPage(exchange: Exchange): void {
  if (exchange.contentType === 'text/html') throw notSupported(exchange.path, exchange, 'the response is a web page');
}

function responseLimit({ maxBytes = Infinity }: ClientRequest, { options }: ClientDeps): number {
  return Math.min(maxBytes, options.maxItemBytes);
}

function parseJson(exchange: Exchange, text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch (cause) {
    if (cause instanceof JsonTooLarge)
      throw exchange.badResponse(`the response of ${exchange.path} is too large: ${cause.message}`, cause);
    const shown = text.length > 60 ? `${text.slice(0, 60)}...` : text;
    const beginning = exchange.options.hidesTexts ? '' : `: ${JSON.stringify(shown)}`;
    throw exchange.badResponse(`the response of ${exchange.path} is not JSON${beginning}`, cause);
  }
}
