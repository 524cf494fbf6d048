import { LogDir } from '@porthole/logs';
import { LogShipper } from '../../ship/log-shipper.ts';
import { OtlpSink } from '../otlp-sink.ts';

/* A node that does nothing but send, to be killed: URL LOGS POSITIONS */

const [url = '', dir = '', positionsDir = ''] = process.argv.slice(2);
const sink = new OtlpSink({
  url,
  encoding: 'protobuf',
  compression: 'gzip',
  timeoutMs: 10_000,
  batchBytes: 64 * 1024,
  source: { resource: [['service.name', 'killed']], scope: { name: 'porthole', version: '0' } },
  version: '0',
});
LogShipper.open({
  logs: new LogDir(dir, { workers: 1 }),
  sink,
  positionsDir,
  ...{ cluster: 'c', node: 'n', role: '' },
  intervalMs: () => 20,
  settleMs: 20,
});
setInterval(() => {}, 60_000);
process.send?.('started');
