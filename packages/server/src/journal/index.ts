export { parseUnitName, UNIT_NAMES } from '../settings/setting-kinds.ts';
export { JournalSpool } from './journal-spool.ts';
export type { JournalRange } from './journalctl.ts';
