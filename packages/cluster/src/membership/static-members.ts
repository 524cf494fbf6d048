import { type Member, type MembershipState, PortholeError } from '@porthole/contract';
import { checkMemberId, quote } from './member-id.ts';
import { type Address, readAddress } from './member-url.ts';
import type { Membership } from './membership.ts';
import { byId, type SelfMember, selfMember } from './self-member.ts';

export interface StaticMembersOptions {
  self: SelfMember;
  /**
   * `http://host:port`, or `id=http://host:port`; the id is `host:port` unless given. All nodes can have the same list: what
   * has this node's id or URL is this node.
   */
  members: readonly string[];
}

/** A list that never changes. Nobody is contacted; throws PARAMETER_INVALID for a list that makes no sense. */
export function createStaticMembers(options: StaticMembersOptions): Membership {
  const self = selfMember(options.self);
  const found = new Map([[self.id, self]]);
  for (const text of options.members) {
    const member = readEntry(text, self.role);
    if (member.id === self.id || member.url === self.url) continue;
    const other = found.get(member.id);
    if (other !== undefined && other.url !== member.url) {
      throw new PortholeError('PARAMETER_INVALID', `two members have the id ${quote(member.id)}`);
    }
    found.set(member.id, member);
  }
  const state: MembershipState = {
    kind: found.size === 1 ? 'alone' : 'static',
    state: 'ok',
    detail: null,
    asOfMs: Date.now(),
  };
  return {
    members: [...found.values()].sort(byId),
    state,
    onChange: () => () => {},
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function readEntry(text: string, role: string): Member {
  const [, id, url = ''] = /^(?:([^=/]*)=)?(.*)$/s.exec(text) ?? [];
  const address = readAddress(url);
  return {
    id: checkMemberId(id ?? `${address.host}:${address.port}`),
    role, // the list tells no other: nodes that name each other are of one kind
    node: unknownNode(address),
    url: address.url,
    isSelf: false,
  };
}

/** Who it is, it says when it is asked. */
function unknownNode({ host, port }: Address): Member['node'] {
  return { hostIp: host, hostName: '', grpcPort: 0, httpPort: port, version: '', onlineTime: 0 };
}
