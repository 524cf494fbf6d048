import { createMemberClient } from '@porthole/client/member';
import type { NodeState } from '@porthole/contract';
import type { ImplementationName } from '@porthole/contract/testing';
import { IS_LONG_RUN } from '@porthole/records/testing';
import type { RunningNode } from '@porthole/server';
import { GrpcNode } from '@porthole/server/testing';

/** A running node, asked in one of the ways there are. */
export interface Connected {
  node: NodeState;
  close(): Promise<void>;
}

/** A way to ask a running node. */
export interface Implementation {
  id: ImplementationName;
  name: string;
  /** One in so many cases is asked, where most of the way is another's; all of them unless given. */
  every?: number;
  connect(running: RunningNode): Promise<Connected>;
}

const NOTHING_TO_CLOSE = async () => {};

export const LOCAL: Implementation = {
  id: 'local',
  name: 'the local node',
  connect: async ({ state }) => ({ node: state, close: NOTHING_TO_CLOSE }),
};

const HTTP: Implementation = {
  id: 'http',
  name: 'the HTTP client of members',
  // Behind its encoding it is the local node, too. `MORE=2` runs all of them.
  every: IS_LONG_RUN ? 1 : 2,
  // A refusal that may pass is asked about again: here the refusal itself is what is compared.
  connect: async ({ url }) => ({ node: createMemberClient({ url, retries: 0 }), close: NOTHING_TO_CLOSE }),
};

const GRPC: Implementation = {
  id: 'grpc',
  name: 'the gRPC client',
  // Behind its encoding it is the local node; test/node-state.properties.test.ts compares any searches.
  every: 4,
  connect: async (running) => {
    const node = new GrpcNode(running.node.grpcPort);
    return { node, close: async () => node.close() };
  },
};

/** All there are; the first one is the model of the others. */
export const IMPLEMENTATIONS: readonly Implementation[] = [LOCAL, HTTP, GRPC];
