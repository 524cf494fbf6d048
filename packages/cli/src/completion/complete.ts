import type { FlagDefinition } from '../command-definition.ts';
import { EXIT } from '../exit.ts';
import { type FlagValue, Invocation } from '../invocation.ts';
import { Terminal } from '../output/terminal.ts';
import type { TerminalFilter } from '../output/terminal-filter.ts';
import { NODE_FLAGS } from '../shared-flags.ts';
import { CANDIDATES } from './candidates.ts';
import { splitLine } from './split-line.ts';

/** Someone waits for the key they pressed. PORTHOLE_COMPLETE_MS is for nodes that take longer. */
const MAX_MS = 1500;

/** More cannot be read. */
const MAX_CANDIDATES = 1000;

/**
 * Prints what may follow on a line, one candidate per line: `__complete KIND LINE`. A node that does not respond, a wrong flag
 * or a damaged file is not reported: the shell would print it into the line that is being typed.
 */
export async function complete([kind = '', line = '']: readonly string[], filter: TerminalFilter): Promise<void> {
  process.exitCode = EXIT.ok;
  const timer = setTimeout(() => process.exit(EXIT.ok), Number(process.env.PORTHOLE_COMPLETE_MS) || MAX_MS);
  try {
    const { words, last } = splitLine(line);
    const terminal = new Terminal(filter, { color: 'never', isQuiet: true });
    const invocation = new Invocation([], readFlags(words, NODE_FLAGS), terminal);
    const list = Object.hasOwn(CANDIDATES, kind) ? CANDIDATES[kind as keyof typeof CANDIDATES] : undefined;
    const candidates = (await list?.(invocation, { words, last })) ?? [];
    // What would break the line or the list of candidates is left out.
    const offered = candidates.filter((text) => text.startsWith(last) && /^[^\s\p{Cc}"'\\$`]+$/u.test(text));
    await terminal.write(
      offered
        .slice(0, MAX_CANDIDATES)
        .map((text) => `${text}\n`)
        .join(''),
    );
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The values of these flags on an unfinished line; all others are skipped. */
function readFlags(words: readonly string[], flags: readonly FlagDefinition[]): Record<string, FlagValue> {
  const found: Record<string, FlagValue> = {};
  for (const [index, word] of words.entries()) {
    const [, name = '', joined] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = flags.find(({ long, short }) => name === `--${long}` || (short !== undefined && name === `-${short}`));
    const value = joined ?? words[index + 1];
    if (flag && value !== undefined) found[flag.long] = value;
  }
  return found;
}
