/** For programs that read such a node without a cluster around it. */
export { ContractNode } from '@porthole/cluster';
