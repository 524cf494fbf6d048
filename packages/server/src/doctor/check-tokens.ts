import { stat } from 'node:fs/promises';
import { errorMessage } from '@porthole/contract';
import type { Identity } from '../auth/identity.ts';
import { readTokenFile } from '../auth/tokens.ts';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';

const OTHERS_WRITE = 0o002;
const OTHERS_READ = 0o004;

/** Empty in the usual case, where all tokens have all roles. */
function rolesText(owners: readonly Identity[]): string {
  const limited = owners.filter(({ roles }) => !roles.includes('admin')).length;
  return limited === 0 ? '' : `, ${limited} of them with limited roles`;
}

/** Whether the token file is valid, and who can read or change it. */
export async function checkTokens({ settings: { auth } }: CheckContext): Promise<CheckOutcome[]> {
  const file = auth.tokenFile;
  if (file === '') return [];
  try {
    const { owners } = await readTokenFile(file);
    const { mode } = await stat(file);
    const counted = `${file} contains ${owners.length} ${owners.length === 1 ? 'token' : 'tokens'}${rolesText(owners)}`;
    if (mode & OTHERS_WRITE)
      return [problem(`${counted}, and everyone on this machine can add one`, `chmod o-rw ${file}`)];
    if (mode & OTHERS_READ)
      return [warning(`${counted}, and everyone on this machine can read it`, `chmod o-r ${file}`)];
    return [ok(counted)];
  } catch (error) {
    const reason = errorMessage(error);
    return [
      problem(reason, `add a token with "porthole token NAME >> ${file}", or set auth.token-file to another file`),
    ];
  }
}
