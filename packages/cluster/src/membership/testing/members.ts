import { onTestFinished } from 'vitest';
import { createEtcdMembers, type EtcdMembersOptions } from '../etcd-members.ts';
import type { Membership, MembershipLog, SelfMember } from '../membership.ts';

/** A node description with a port derived from its id. */
export function testSelf(id: string, given: Partial<SelfMember> = {}): SelfMember {
  const httpPort = 9000 + (id.codePointAt(0) ?? 0);
  const node = {
    hostIp: '10.0.0.1',
    hostName: id,
    grpcPort: 9001,
    httpPort,
    version: '1.0.0',
    onlineTime: 1_700_000_000_000,
  };
  return { id, role: 'node', labels: {}, url: `http://10.0.0.1:${httpPort}`, node, ...given };
}

/** Messages written to the log. */
export class RecordingLog implements MembershipLog {
  readonly warnings: string[] = [];
  /** The warnings about registrations: a busy machine may add others. */
  get invalid(): string[] {
    return this.warnings.filter((message) => message.includes('invalid registration'));
  }

  readonly info = (): void => {};
  readonly warn = (_tag: string, message: string): void => {
    this.warnings.push(message);
  };
}

/** A started membership of the cluster `test`; closed when the test ends. */
export async function joinEtcd(
  id: string,
  url: string | readonly string[],
  options: Partial<EtcdMembersOptions> = {},
): Promise<Membership> {
  const members = createEtcdMembers({
    self: testSelf(id),
    endpoints: [url].flat(),
    cluster: 'test',
    leaseSeconds: 10, // longer than any delay of a busy machine
    log: new RecordingLog(),
    ...options,
  });
  onTestFinished(() => members.close());
  await members.start();
  return members;
}

export function memberIds({ members }: Membership): string[] {
  return members.map(({ id }) => id);
}
