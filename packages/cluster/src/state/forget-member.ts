import { type ForgetOptions, type ForgottenMember, type MemberReport, PortholeError } from '@porthole/contract';
import { fanOut } from '../fan-out/fan-out.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { StateDeps } from './state-deps.ts';

/**
 * Drops the snapshot of a member that left or failed, here and on every other member that responds. Throws MEMBER_REGISTERED if
 * it is still a member, MEMBER_NOT_FOUND if there is no snapshot of it anywhere.
 */
export async function forgetMember(
  { peers, timeoutMs, maxParallel }: Pick<StateDeps, 'peers' | 'timeoutMs' | 'maxParallel'>,
  directory: MemberDirectory,
  { id, onlyHere = false, signal }: ForgetOptions & { id: string },
): Promise<ForgottenMember> {
  const all = peers.all();
  if (all.some(({ member }) => member.id === id)) throw stillRegistered(id, directory);
  const self = all.filter(({ member }) => member.isSelf);
  const others = all.filter(({ member }) => !member.isSelf);
  const responses = await fanOut(
    onlyHere ? self : [...self, ...others],
    async (peer, options) => {
      if (peer.member.isSelf) return directory.forget(id) ? 1 : 0;
      return peer.forget(id, options);
    },
    { timeoutMs, maxParallel, countOf: (count) => count, ...(signal && { signal }) },
  );
  const members = responses.map(
    ({ report }): MemberReport => ({
      ...report,
      ...directory.standingOf(report.id, report.outcome),
    }),
  );
  if (members.every(({ outcome, count }) => outcome === 'ok' && count === 0))
    throw new PortholeError('MEMBER_NOT_FOUND', `no former member is named ${JSON.stringify(id)}`);
  return { id, members: members.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

function stillRegistered(id: string, { state }: MemberDirectory): PortholeError {
  const why =
    state.state === 'stale'
      ? 'the registry is unavailable, so it may still be a member'
      : 'it is a member of the cluster';
  return new PortholeError('MEMBER_REGISTERED', `${JSON.stringify(id)} cannot be forgotten: ${why}`);
}
