import type { Membership, SelfMember } from '@porthole/cluster';
import type { NodeClusterDeps } from './node-cluster.ts';

/** How the members of the cluster are known: from a list, or from a registry. */
export async function createMembership(
  self: SelfMember,
  { settings, files, log }: Pick<NodeClusterDeps, 'settings' | 'files' | 'log'>,
): Promise<Membership> {
  const { name, members, etcd, etcdUser, lindbNamespace, leaseMs, lastWordsKeepMs } = settings.cluster;
  const { createEtcdMembers, createLindbMembers, createStaticMembers } = await import('@porthole/cluster');
  if (etcd.length === 0) return createStaticMembers({ self, members });
  const access = {
    self,
    endpoints: etcd,
    tls: () => files.etcd.tls,
    log,
    ...(etcdUser && { user: etcdUser, password: () => files.etcd.password ?? '' }),
  };
  if (lindbNamespace) return createLindbMembers({ ...access, namespace: lindbNamespace });
  return createEtcdMembers({
    ...access,
    cluster: name,
    leaseSeconds: Math.ceil(leaseMs / 1000),
    keepDeparturesSeconds: Math.ceil(lastWordsKeepMs / 1000),
  });
}
