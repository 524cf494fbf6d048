import type { ClusterEnd, ClusterItem, ClusterRecord } from '@porthole/contract';
import type { FoundRecord } from '@porthole/logs/types';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { migrate, planMigration } from '../../schema/schema.ts';
import { type ArchiveRow, recordToRow } from '../../testing/archive-row.ts';
import { ArchiveState, type ArchiveStateOptions } from '../archive-state.ts';

const SHIPPED_MS = Date.UTC(2026, 10, 12);

/** An archive of its own, on a real server. */
export class ArchiveFixture {
  readonly clickhouse: ClickHouse;
  readonly state: ArchiveState;

  private constructor(clickhouse: ClickHouse) {
    this.clickhouse = clickhouse;
    this.state = this.createState();
  }

  /** `cluster`: of ClickHouse, if the archive spans several servers. */
  static async create(clickhouse: ClickHouse, cluster?: string): Promise<ArchiveFixture> {
    const { database } = clickhouse;
    await migrate(clickhouse, await planMigration(clickhouse, { database, cluster }, SHIPPED_MS));
    return new ArchiveFixture(clickhouse);
  }

  createState(options: Partial<ArchiveStateOptions> = {}): ArchiveState {
    return new ArchiveState({ reader: this.clickhouse, cluster: 'c', nowMs: () => SHIPPED_MS, ...options });
  }

  async clear(): Promise<void> {
    for (const table of ['records', 'progress']) await this.clickhouse.execute(`TRUNCATE TABLE ${table}`);
  }

  /** Stores the records of a log, in the order of its files, as a node would ship them. */
  async ship(
    records: readonly FoundRecord[],
    { node = 'n1', log = 'a.log', shippedMs = SHIPPED_MS } = {},
  ): Promise<void> {
    await this.insert(toRows(records, { node, log, shippedMs }));
    const times = records.flatMap(({ timeMs }) => timeMs ?? []);
    const progress = {
      ...{ cluster: 'c', node, role: 'broker', log, records: records.length, written_ms: shippedMs },
      from_ms: times.reduce((a, b) => Math.min(a, b), times[0] ?? 0),
      last_ms: times.reduce((a, b) => Math.max(a, b), times[0] ?? 0),
      shipped_to_ms: shippedMs,
    };
    await this.#insertInto('progress', [progress]);
  }

  async insert(rows: readonly Partial<ArchiveRow>[]): Promise<void> {
    await this.#insertInto('records', rows);
  }

  async #insertInto(table: string, rows: readonly object[]): Promise<void> {
    if (rows.length === 0) return;
    const body = Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
    // Where the table spans several servers: stored when it returns.
    const settings = { insert_distributed_sync: 1 };
    await this.clickhouse.insert(`INSERT INTO ${table} FORMAT JSONEachRow`, { body, settings });
  }
}

interface Place {
  node: string;
  log: string;
  shippedMs: number;
}

export function toRows(records: readonly FoundRecord[], { node, log, shippedMs }: Place): ArchiveRow[] {
  let [file, previousMs] = ['', 0];
  return records.map((record) => {
    if (record.file !== file) previousMs = 0;
    file = record.file;
    const fileId = `${record.cursor.split('.', 2).join('.')}`;
    const row = recordToRow(record, { cluster: 'c', node, role: 'broker', log, fileId, previousMs, shippedMs });
    previousMs = record.timeMs ?? previousMs;
    return row;
  });
}

/** The records and the end of a response. */
export async function collect(
  response: AsyncIterable<ClusterItem[]>,
): Promise<{ records: ClusterRecord[]; end: ClusterEnd }> {
  const items: ClusterItem[] = [];
  for await (const batch of response) items.push(...batch);
  const end = items.pop();
  if (end?.type !== 'end') throw new Error('the response has no end');
  return { records: items as ClusterRecord[], end };
}
