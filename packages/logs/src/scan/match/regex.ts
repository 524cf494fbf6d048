import { LogError } from '../../log-error.ts';
import { countSteps, MAX_REGEX_STEPS } from '../../regex/count-steps.ts';
import { RegexPrefilter } from '../../regex/prefilter.ts';

/** A compiled pattern. Time is linear in the text, whatever the pattern, and in the number of its steps. */
export interface SafeRegex {
  test(text: string): boolean;
  /** Skips text in which it cannot match. */
  readonly prefilter: RegexPrefilter;
}

/**
 * Compiles RE2 syntax; `^` and `$` match at lines. The regex engine is loaded when first needed. Rejects with
 * REGEX_TOO_COMPLEX before anything is compiled, or with REGEX_INVALID.
 */
export async function compileRegex(pattern: string, { caseSensitive = false } = {}): Promise<SafeRegex> {
  const steps = countSteps(pattern);
  if (steps > MAX_REGEX_STEPS) {
    throw new LogError(
      'REGEX_TOO_COMPLEX',
      `the regex has ${steps} steps with its repeats expanded; at most ${MAX_REGEX_STEPS} are allowed: use smaller counts`,
    );
  }
  const { RE2JS } = await import('re2js');
  try {
    const flags = RE2JS.MULTILINE | (caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
    const compiled = RE2JS.compile(pattern, flags);
    const prefilter = new RegexPrefilter(pattern, { caseSensitive });
    return { test: (text) => compiled.test(text), prefilter };
  } catch (error) {
    // The flags are prepended to the pattern; hide them from the message, the user did not write them.
    const why = (error instanceof Error ? error.message : String(error)).replace(/\(\?m\)(\(\?i\))?/, '');
    throw new LogError('REGEX_INVALID', `invalid regex: ${why}`, { cause: error });
  }
}
