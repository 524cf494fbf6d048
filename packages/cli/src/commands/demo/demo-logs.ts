import { createBrokerRecords } from './broker-records.ts';
import { createAccessRecords, createSlowSqlRecords, createTaskRecords } from './other-records.ts';
import type { CreateRecordSource } from './record-source.ts';

export interface DemoLog {
  stem: string;
  /** Fraction of all records. */
  share: number;
  /** Past records and the number of files they are spread over: the oldest are compressed, the newest is live. */
  history: { records: number; files: number };
  create: CreateRecordSource;
}

/** The logs of a demo node. */
export const DEMO_LOGS: readonly DemoLog[] = [
  { stem: 'lind-broker', share: 0.6, history: { records: 8000, files: 4 }, create: createBrokerRecords },
  { stem: 'access', share: 0.3, history: { records: 4000, files: 2 }, create: createAccessRecords },
  { stem: 'task', share: 0.09, history: { records: 1500, files: 1 }, create: createTaskRecords },
  { stem: 'show_sql', share: 0.01, history: { records: 40, files: 1 }, create: createSlowSqlRecords },
];
