export { JournalSpool } from './journal-spool.ts';
export type { JournalRange } from './journalctl.ts';
export { parseUnitName, UNIT_NAMES } from './unit-name.ts';
