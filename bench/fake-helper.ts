import { lookup } from 'node:dns';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Member } from '@porthole/contract';
import type { KnownMember } from './fake-exchange.ts';

type Answering = typeof import('../packages/cluster/src/tree/answer-group.ts');
type Peering = typeof import('../packages/cluster/src/fan-out/peers.ts');
type Masking = typeof import('../packages/cluster/src/contract-only/member-masking.ts');
type Fetching = typeof import('../packages/server/src/cluster/member-fetch.ts');

/** As the default settings have it. */
const MAX_PARALLEL = 64;

/** Nobody is given up because the machine is busy. */
const TIMEOUT_MS = 60_000;

const MAX_RECORDS = 10_000;

/** Asks groups of members for a node, with the built code of nodes: what helpers cost is real, but they share a machine. */
export class FakeHelper {
  readonly #members: readonly KnownMember[];
  #loading: ReturnType<FakeHelper['load']> | undefined;

  constructor(members: readonly KnownMember[]) {
    this.#members = members;
  }

  /** Before it is asked, so that loading is not measured. */
  async load() {
    const built = (name: string) => import(new URL(`../packages/${name}.js`, import.meta.url).href);
    const { answerGroup } = (await built('cluster/dist/tree/answer-group')) as Answering;
    const { createPeers } = (await built('cluster/dist/fan-out/peers')) as Peering;
    const { MemberMasking } = (await built('cluster/dist/contract-only/member-masking')) as Masking;
    const { createMemberFetch } = (await built('server/dist/cluster/member-fetch')) as Fetching;
    const { Scrubbing } = await import('@porthole/logs');
    const nothing = { mask: (text: string) => text, findSecrets: () => [], scrubbing: new Scrubbing() };
    const masking = new MemberMasking({ ...nothing, fingerprint: undefined });
    const membership = { members: this.#members.map(toMember) };
    const self = {} as Parameters<Peering['createPeers']>[0]['self'];
    const access = await createMemberFetch({ ca: undefined, cert: undefined, key: undefined }, lookup);
    const peers = createPeers({ membership, self, selfId: '', access, masking, timeoutMs: TIMEOUT_MS });
    return { answerGroup, peers };
  }

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    this.#loading ??= this.load();
    const { answerGroup, peers } = await this.#loading;
    const controller = new AbortController();
    response.once('close', () => controller.abort());
    const call = {
      body: Buffer.concat(parts).toString(),
      clock: { nowMs: Date.now(), offsetMsAt: () => 0 },
      maxRecords: MAX_RECORDS,
      searchBudgetMs: TIMEOUT_MS,
      authorize: () => {},
      signal: controller.signal,
    };
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    try {
      for await (const frames of answerGroup({ peers, maxParallel: MAX_PARALLEL }, call)) {
        if (!response.write(frames)) await drained(response);
      }
    } catch (error) {
      // The node has all it needs.
      if (!controller.signal.aborted) throw error;
    }
    response.end();
  }
}

function drained(response: ServerResponse): Promise<unknown> {
  return new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
}

function toMember({ id, url }: KnownMember): Member {
  const node = { hostIp: '', hostName: id, grpcPort: 0, httpPort: 0, version: '', onlineTime: 0 };
  return { id, role: 'node', labels: {}, node, url, isSelf: false };
}
