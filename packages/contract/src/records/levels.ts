import type { Level } from '@porthole/logs/types';

/** Lowest first. */
export const LEVELS: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];
