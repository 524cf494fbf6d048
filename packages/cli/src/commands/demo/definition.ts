import type { CommandDefinition } from '../../command-definition.ts';
import { checkWholeNumber } from '../../flag-checks.ts';

/** More than one process can write at the side. */
const MAX_RATE = 100_000;

function checkRecordRate(text: string): string | undefined {
  if (checkWholeNumber(text) === undefined && Number(text) <= MAX_RATE) return undefined;
  return `It must be a whole number of at most ${MAX_RATE}.`;
}

/** All run in one process, on one machine. */
const MAX_NODES = 20;

function checkNodeCount(text: string): string | undefined {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= MAX_NODES) return undefined;
  return `It must be a whole number from 1 to ${MAX_NODES}.`;
}

export const DEMO_COMMAND: CommandDefinition = {
  name: 'demo',
  about: 'run nodes that show a made-up database cluster with live logs, to look around without one of your own',
  flags: [
    {
      long: 'nodes',
      value: 'n',
      check: checkNodeCount,
      default: '3',
      about: 'so many nodes; 1 is a node that is alone',
    },
    {
      long: 'etcd',
      value: 'url',
      about: 'an etcd in which they register and find each other; without it each knows the others from the start',
    },
    {
      long: 'http-port',
      value: 'port',
      check: checkWholeNumber,
      default: '7300',
      about: 'the HTTP port of the first node; 0 takes any free one, as the others do',
    },
    {
      long: 'grpc-port',
      value: 'port',
      check: checkWholeNumber,
      default: '7301',
      about: 'the gRPC port of the first node; 0 takes any free one',
    },
    {
      long: 'rate',
      value: 'n',
      check: checkRecordRate,
      default: '20',
      about: 'records each node writes per second; 0 for the past only',
    },
  ],
  examples: [
    ['porthole demo', 'then open the address it prints'],
    ['porthole nodes', 'in another terminal: the nodes'],
    ['porthole logs --all -f -l warn', 'warnings and errors of all of them'],
    ['porthole demo --nodes 1', 'a single node'],
  ],
  load: () => import('./demo.ts'),
};
