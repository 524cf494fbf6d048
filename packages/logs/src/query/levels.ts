import type { Level } from '../types.ts';

/** Lowest first. */
export const LEVELS: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** Names of levels that people and programs use; the same words mean the same levels in logs. */
export const LEVEL_NAMES: Readonly<Record<string, Level>> = {
  trace: 'TRACE',
  verbose: 'TRACE',
  debug: 'DEBUG',
  info: 'INFO',
  information: 'INFO',
  notice: 'INFO',
  warn: 'WARN',
  warning: 'WARN',
  error: 'ERROR',
  err: 'ERROR',
  severe: 'ERROR',
  fatal: 'FATAL',
  critical: 'FATAL',
  crit: 'FATAL',
  alert: 'FATAL',
  emergency: 'FATAL',
  emerg: 'FATAL',
  panic: 'FATAL',
};

/** The level with this name, ignoring case. */
export function parseLevelName(name: string): Level | undefined {
  const word = name.toLowerCase();
  return Object.hasOwn(LEVEL_NAMES, word) ? LEVEL_NAMES[word] : undefined;
}
