import type { CommandDefinition } from '../../definition.ts';
import { wholeNumber } from '../../flag-checks.ts';

/** More than one process can write at the side. */
const MAX_RATE = 100_000;

function recordRate(text: string): string | undefined {
  if (wholeNumber(text) === undefined && Number(text) <= MAX_RATE) return undefined;
  return `It must be a whole number of at most ${MAX_RATE}.`;
}

export const DEMO_COMMAND: CommandDefinition = {
  name: 'demo',
  about: 'run a node that shows a made-up database node with live logs, to look around without one of your own',
  flags: [
    {
      long: 'http-port',
      value: 'port',
      check: wholeNumber,
      default: '7300',
      about: 'the HTTP port; 0 takes any free one',
    },
    {
      long: 'grpc-port',
      value: 'port',
      check: wholeNumber,
      default: '7301',
      about: 'the gRPC port; 0 takes any free one',
    },
    {
      long: 'rate',
      value: 'n',
      check: recordRate,
      default: '20',
      about: 'records written per second; 0 for the past only',
    },
  ],
  examples: [
    ['porthole demo', 'then open the address it prints'],
    ['porthole logs -f -l warn', 'in another terminal'],
  ],
  load: () => import('./demo.ts'),
};
