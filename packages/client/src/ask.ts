import { lacks } from './answer-error.ts';
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
      const value = parseJson(exchange, await exchange.readWhole({ maxBytes: parts.options.maxItemBytes }));
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

export function parseJson(exchange: Exchange, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const shown = text.length > 60 ? `${text.slice(0, 60)}...` : text;
    throw exchange.badAnswer(`the answer of ${exchange.path} is not JSON: ${JSON.stringify(shown)}`, cause);
  }
}
