import { SinkError } from '../sink-error.ts';

/** Longer files hold something else. */
const MAX_CHARACTERS = 16 * 1024;

/** Those that belong to the request. */
const RESERVED = /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect)$/i;

const HEADER = /^([\w!#$%&'*+.^`|~-]+)\s*:\s*([\x20-\x7e\x80-\xff]*)$/;

/** The headers of a file: `Name: value` on lines of their own; those that begin with `#` are left out. */
export function parseHeaders(text: string, path: string): Record<string, string> {
  if (text.length > MAX_CHARACTERS) throw invalid(`${path} has more than ${MAX_CHARACTERS} characters`);
  const headers = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name, value = ''] = HEADER.exec(line.trim()) ?? [];
    // Not the line itself: it may be a secret.
    if (name === undefined) throw invalid(`line ${index + 1} of ${path} is not a header: expected "Name: value"`);
    if (RESERVED.test(name)) throw invalid(`${path} has the header ${name}, which belongs to the request`);
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

function invalid(message: string): SinkError {
  return new SinkError('OTLP_DENIED', message);
}
