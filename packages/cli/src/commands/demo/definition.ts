import type { CommandDefinition } from '../../command-definition.ts';
import { checkWholeNumber } from '../../flag-checks.ts';

/** More than one process can write. */
const MAX_RATE = 100_000;

function checkRecordRate(text: string): string | undefined {
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text) && Number(text) <= MAX_RATE) return undefined;
  return `Expected a number like 0.5 or 20, at most ${MAX_RATE}.`;
}

/** All nodes run in one process. */
const MAX_NODES = 20;

function checkNodeCount(text: string): string | undefined {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= MAX_NODES) return undefined;
  return `Expected a whole number from 1 to ${MAX_NODES}.`;
}

export const DEMO_COMMAND: CommandDefinition = {
  name: 'demo',
  about: 'run a demo cluster: nodes with sample configurations, live logs and an incident to explain',
  flags: [
    {
      long: 'nodes',
      value: 'n',
      check: checkNodeCount,
      default: '3',
      about: 'number of nodes; 1 runs a single node without a cluster',
    },
    {
      long: 'etcd',
      value: 'url',
      about: 'etcd for service discovery; without it the nodes get a static member list',
    },
    {
      long: 'http-port',
      value: 'port',
      check: checkWholeNumber,
      default: '7300',
      about: 'HTTP port of the first node; 0 picks a free one, as for the other nodes',
    },
    {
      long: 'grpc-port',
      value: 'port',
      check: checkWholeNumber,
      default: '7301',
      about: 'gRPC port of the first node; 0 picks a free one',
    },
    {
      long: 'archive',
      about: 'also start a ClickHouse server and ship the records to it; files older than an hour are deleted then',
    },
    {
      long: 'rate',
      value: 'n',
      check: checkRecordRate,
      default: 'as before it was started',
      about: 'records per second and node; 0 writes only the history',
    },
  ],
  examples: [
    ['porthole demo', 'then open the address it prints'],
    ['porthole incident', 'in another terminal: what happened'],
    ['porthole logs --all -f -l warn', 'warnings and errors of all of them'],
    ['porthole demo --nodes 1', 'a single node'],
    ['porthole demo --archive', 'with a past that the disks no longer have; needs clickhouse-server'],
  ],
  load: () => import('./demo.ts'),
};
