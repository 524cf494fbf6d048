import { createToken } from '@porthole/server/tokens';
import { EXIT } from '../exit.ts';
import type { Invocation } from '../invocation.ts';

export async function run(invocation: Invocation): Promise<number> {
  const [name = ''] = invocation.args;
  const { token, line } = createToken(name, invocation.text('roles')?.split(',') ?? []);
  console.error(`token for ${name}, shown only now: ${token}`);
  await invocation.terminal.write(`${line}\n`);
  return EXIT.ok;
}
