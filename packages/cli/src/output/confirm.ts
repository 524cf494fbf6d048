import { createInterface } from 'node:readline/promises';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';

interface Question {
  /** What the answer is about. */
  facts: string;
  question: string;
  signal: AbortSignal;
}

/** Answered by who is at the terminal, or by `--yes`; where nobody is, `--yes` is needed. */
export async function confirm(invocation: Invocation, { facts, question, signal }: Question): Promise<boolean> {
  if (invocation.isOn('yes')) {
    invocation.terminal.note(facts);
    return true;
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new ProgramError(`${facts}; there is no terminal to ask on: pass --yes to do it`);
  // Not its own line editor: that would take Ctrl-C for itself.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([lines.question(`${facts}\n${question} [y/N] `, { signal }), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    lines.close();
  }
}
