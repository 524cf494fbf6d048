import { ProgramError } from '../exit.ts';

const JOURNAL = 'journal:';

/** `journal:` or `journal:UNIT`. A node with this id is reached by a pattern: `journal*:`. */
export function isJournal(target: string): boolean {
  return target.startsWith(JOURNAL);
}

/** The unit after the colon, if there is one. */
export function journalUnit(target: string): string | undefined {
  return target.slice(JOURNAL.length) || undefined;
}

/** The name of that log on a node. */
export function journalLog(target: string): string {
  const unit = journalUnit(target);
  if (unit?.includes('/')) throw new ProgramError(`invalid unit in ${JSON.stringify(target)}`);
  return `journal/${unit === undefined ? 'all' : unit.includes('.') ? unit : `${unit}.service`}.log`;
}
