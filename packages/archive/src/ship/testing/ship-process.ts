import { LogDir } from '@porthole/logs';
import { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { ClickHouseSink } from '../clickhouse-sink.ts';
import { LogShipper } from '../log-shipper.ts';

/* A node that does nothing but ship, to be killed: URL DATABASE LOGS POSITIONS */

const [url = '', database = '', dir = '', positionsDir = ''] = process.argv.slice(2);
const sink = new ClickHouseSink(new ClickHouse({ url, database, timeoutMs: 3000 }));
LogShipper.open({
  logs: new LogDir(dir, { workers: 1 }),
  sink,
  positionsDir,
  cluster: 'c',
  node: 'n',
  role: '',
  intervalMs: () => 20,
  settleMs: 20,
});
setInterval(() => {}, 60_000);
process.send?.('started');
