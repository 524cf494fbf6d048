import { createToken } from '@porthole/server/tokens';
import { EXIT } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';

export async function run({ args: [name = ''] }: Invocation): Promise<number> {
  const { token, line } = createToken(name);
  console.error(`token for ${name}, shown only now: ${token}`);
  console.log(line);
  return EXIT.ok;
}
