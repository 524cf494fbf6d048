export { LocalCluster, type LocalClusterOptions } from './local-cluster.ts';
export { createEtcdMembers, type EtcdMembersOptions } from './membership/etcd-members.ts';
export { createLindbMembers, type LindbMembersOptions } from './membership/lindb-members.ts';
export type { Membership } from './membership/membership.ts';
export type { MembershipLog } from './membership/membership-log.ts';
export type { SelfMember } from './membership/self-member.ts';
export { createStaticMembers, type StaticMembersOptions } from './membership/static-members.ts';
export type { ClusterLimits } from './records/cluster-parts.ts';
export { type SecretFingerprint, secretFingerprint } from './state/secret-fingerprint.ts';
