import { lacks } from './answer-error.ts';
import { JsonTooLarge, parseBoundedJson } from './bounded-json.ts';
import { Exchange } from './exchange.ts';
import type { AskParts, Question } from './question.ts';
import { withRetries } from './retry.ts';

/** The head of a good answer, after as many attempts as it takes and is allowed. */
export function askStream(question: Question, parts: AskParts): Promise<Exchange> {
  return withRetries(() => Exchange.open(question, parts), { ...parts, signal: question.signal });
}

/** A JSON answer as a whole. Of its shape only what `read` checks is known. */
export function askJson<T>(question: Question, parts: AskParts, read: (value: unknown) => T | undefined): Promise<T> {
  const attempt = async () => {
    const exchange = await Exchange.open(question, parts);
    try {
      refusePage(exchange);
      const value = parseJson(exchange, await exchange.readWhole({ maxBytes: maxBytesOf(question, parts) }));
      const answer = read(value);
      if (answer === undefined) throw exchange.badAnswer(`the answer of ${exchange.path} has another shape`);
      return answer;
    } finally {
      exchange.close();
    }
  };
  return withRetries(attempt, { ...parts, signal: question.signal });
}

/** Web servers with a console answer every unknown address with its page. */
export function refusePage(exchange: Exchange): void {
  if (exchange.contentType === 'text/html') throw lacks(exchange.path, exchange, 'it answers with a web page');
}

function maxBytesOf({ maxBytes = Infinity }: Question, { options }: AskParts): number {
  return Math.min(maxBytes, options.maxItemBytes);
}

function parseJson(exchange: Exchange, text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch (cause) {
    if (cause instanceof JsonTooLarge)
      throw exchange.badAnswer(`the response of ${exchange.path} is too large: ${cause.message}`, cause);
    const shown = text.length > 60 ? `${text.slice(0, 60)}...` : text;
    const beginning = exchange.options.hidesTexts ? '' : `: ${JSON.stringify(shown)}`;
    throw exchange.badAnswer(`the answer of ${exchange.path} is not JSON${beginning}`, cause);
  }
}
