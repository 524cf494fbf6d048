import { PortholeError } from '../errors/errors.ts';

/** Enough for a cursor over ten thousand logs. */
export const MAX_BODY_BYTES = 1024 ** 2;

/** Parameters as a JSON object, read back by `parseBodyParameters`. A repeated name has a list. */
export function encodeBodyParameters(query: URLSearchParams): string {
  const names = [...new Set(query.keys())];
  return JSON.stringify(
    Object.fromEntries(
      names.map((name) => {
        const values = query.getAll(name);
        return [name, values.length === 1 ? values[0] : values];
      }),
    ),
  );
}

/** The parameters in the body of a request: names with a string, a number, a boolean or a list of strings. */
export function parseBodyParameters(text: string): [name: string, value: string][] {
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new PortholeError('BAD_REQUEST', 'invalid request body: expected a JSON object of parameters');
  return Object.entries(body).flatMap(([name, value]) => {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.map((each): [string, string] => [name, toText(name, each)]);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PortholeError('BAD_REQUEST', 'invalid request body: expected JSON', { cause });
  }
}

function toText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const message = `the parameter ${JSON.stringify(name.slice(0, 60))} of the request body must be a string, a number, true or false`;
  throw new PortholeError('BAD_REQUEST', message);
}
