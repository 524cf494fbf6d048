import { type Member, type MembershipState, PortholeError, quoteInput, UNKNOWN_ROLE } from '@porthole/contract';
import { type Address, checkMemberId, readMemberAddress } from './member-address.ts';
import { byId, type Membership, type SelfMember, selfMember } from './membership.ts';

/** Role of a contract-only member, which reports none: it is another program, so it is compared with its like only. */
export const CONTRACT_ROLE = 'contract-only';

export interface StaticMembersOptions {
  self: SelfMember;
  /**
   * `http://host:port`, or `id=http://host:port`; the id defaults to `host:port`. All nodes can share the same list: the
   * entry with the id or URL of this node is this node.
   */
  members: readonly string[];
}

/** A fixed list of addresses; members report the rest themselves. Makes no connections. Throws PARAMETER_INVALID for an invalid list. */
export function createStaticMembers(options: StaticMembersOptions): Membership {
  const self = selfMember(options.self);
  const listeners = new Set<() => void>();
  const found = new Map([[self.id, self]]);
  for (const text of options.members) {
    const member = readEntry(text);
    if (member.id === self.id || member.url === self.url) continue;
    const other = found.get(member.id);
    if (other !== undefined && other.url !== member.url) {
      throw new PortholeError('PARAMETER_INVALID', `two members have the id ${quoteInput(member.id)}`);
    }
    found.set(member.id, member);
  }
  const state: MembershipState = {
    kind: found.size === 1 ? 'alone' : 'static',
    state: 'ok',
    detail: null,
    asOfMs: Date.now(), // clock: as of when a list is shown
  };
  let members: readonly Member[] = [...found.values()].sort(byId);
  let isNotified = true;
  /** Many members may be described at once: once for all of them. */
  const notify = (): void => {
    if (!isNotified) return;
    isNotified = false;
    queueMicrotask(() => {
      isNotified = true;
      for (const listener of [...listeners]) listener();
    });
  };
  return {
    get members() {
      return members;
    },
    state,
    onChange(listener) {
      const own = (): void => listener();
      listeners.add(own);
      return () => listeners.delete(own);
    },
    learn(id, { role, labels: given, node }) {
      const known = found.get(id);
      if (known === undefined || known.isSelf) return;
      const labels = given ?? known.labels;
      const isSame = JSON.stringify([role, labels, node]) === JSON.stringify([known.role, known.labels, known.node]);
      if (isSame) return;
      const learned = { ...known, role, labels, node };
      found.set(id, learned);
      members = members.map((member) => (member.id === id ? learned : member));
      notify();
    },
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function readEntry(text: string): Member {
  const [, id, url = ''] = /^(?:([^=/]*)=)?(.*)$/s.exec(text) ?? [];
  const address = readMemberAddress(url);
  return {
    id: checkMemberId(id ?? `${address.host}:${address.port}`),
    role: UNKNOWN_ROLE,
    labels: {},
    node: unknownNode(address),
    url: address.url,
    isSelf: false,
  };
}

/** The member reports its identity later. */
function unknownNode({ host, port }: Address): Member['node'] {
  return { hostIp: host, hostName: '', grpcPort: 0, httpPort: port, version: '', onlineTime: 0 };
}
