/** For programs that read such a node without a cluster. */
export { ContractNode, type TailNode } from '@porthole/cluster';
