import type { Level } from '@porthole/logs/types';

/** From the lowest. */
export const LEVELS: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];
