/** For programs that read such a node without a cluster. */
export { ContractNode } from '@porthole/cluster';
