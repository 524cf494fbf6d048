import { LogError } from '../log-error.ts';

/** A compiled pattern. Time is linear in the text, whatever the pattern. */
export interface SafeRegex {
  test(text: string): boolean;
}

/** Compiles RE2 syntax; `^` and `$` match at lines. The engine is loaded when first needed. */
export async function compileRegex(pattern: string, { caseSensitive = false } = {}): Promise<SafeRegex> {
  const { RE2JS } = await import('re2js');
  try {
    const flags = RE2JS.MULTILINE | (caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
    return RE2JS.compile(pattern, flags);
  } catch (error) {
    // Flags are told to the engine in front of the pattern; nobody has written them.
    const why = (error instanceof Error ? error.message : String(error)).replace(/\(\?m\)(\(\?i\))?/, '');
    throw new LogError('REGEX_INVALID', `the regex cannot be used: ${why}`, { cause: error });
  }
}
