import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A short log in the contract's format, all levels, one record of several lines, one with a context. */
export const BROKER_LINES = [
  '2026-11-15 05:00:00.000\tINFO\tbroker/runtime.go:172\t[Broker] [Runtime]: starting broker\t{"http": 9000}',
  '2026-11-15 05:00:01.250\tDEBUG\tbroker/runtime.go:180\t[Broker] [Runtime]: state machine started',
  '2026-11-15 05:01:00.000\tWARN\tquery/leaf.go:61\t[Query] [Leaf]: slow query\t{"took": "3s"}',
  '2026-11-15 05:02:00.500\tERROR\tbroker/state.go:191\t[Broker] [State]: panic when processing',
  'goroutine 1 [running]:',
  '\tmain.go:17',
  '2026-11-15 05:02:01.000\tINFO\tbroker/runtime.go:200\t[Broker] [Runtime]: recovered',
] as const;

/** The records of those lines, in order. */
export const BROKER_RECORDS = [
  BROKER_LINES[0],
  BROKER_LINES[1],
  BROKER_LINES[2],
  BROKER_LINES.slice(3, 6).join('\n'),
  BROKER_LINES[6],
] as const;

export function writeBrokerLog(dir: string, name = 'broker.log'): string {
  const path = join(dir, name);
  writeFileSync(path, `${BROKER_LINES.join('\n')}\n`);
  return path;
}
