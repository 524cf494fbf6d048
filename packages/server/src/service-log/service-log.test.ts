import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import pinoTransport from './pino.ts';
import { PortholeTransport } from './winston.ts';

test('a transport with a misspelt option says so, instead of keeping files for ever', async () => {
  const dir = tempDir();
  const hint = 'has no option "keepFile": did you mean "keepFiles"?';
  await expect(pinoTransport({ dir, keepFile: 3 } as never)).rejects.toThrow(`porthole/pino ${hint}`);
  expect(() => new PortholeTransport({ dir, keepFile: 3 } as never)).toThrow(`PortholeTransport ${hint}`);
  expect(() => new PortholeTransport({ dir, gzip: 'yes' } as never)).toThrow('expected boolean, found string');
  expect(() => new PortholeTransport({ dir, silent: true } as never)).toThrow('has no option "silent"');
});

test('what pino adds to the options of a transport is no mistake', async () => {
  const added = { $context: {}, pinoWillSendConfig: true };
  const transport = await pinoTransport({ dir: tempDir(), ...added } as never);
  await new Promise<void>((resolve) => transport.end(resolve));
  expect(transport.errored).toBeNull();
});
