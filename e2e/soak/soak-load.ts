import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { numberIn, type SoakNode } from './soak-node.ts';

/** Wrong tokens come from an address of their own: what is limited by address must not be the others. */
const STRANGER = '127.0.0.9';

const PROBE_MS = 50;
const SEARCH_PAUSE_MS = 300;
const STRANGER_PAUSE_MS = 20;

/** Who does not read does not see that it was cut, either: after this, longer than the node has patience, others come. */
const STALLED_MS = 5000;

/** A byte now and then, and never a whole request. */
const SLOW_BYTE_MS = 500;

export interface Load {
  /** From the question to the last byte of its answer, in ms. */
  healthMs: number[];
  viewMs: number[];
  /** What was answered as it should not be. */
  troubles: string[];
  searches: number;
  stalledReaders: number;
  slowConnections: number;
  refusedTokens: number;
}

export interface LoadOptions {
  token: string;
  stalledReaders: number;
  slowConnections: number;
  signal: AbortSignal;
}

export function newLoad(): Load {
  const counts = { searches: 0, stalledReaders: 0, slowConnections: 0, refusedTokens: 0 };
  return { healthMs: [], viewMs: [], troubles: [], ...counts };
}

/** Everything that asks one node, until the signal. Resolves when all of it has ended. */
export async function loadNode(node: SoakNode, load: Load, options: LoadOptions): Promise<void> {
  const { token, stalledReaders, slowConnections } = options;
  const authorization = `Bearer ${token}`;
  const view = 'GET /api/v1/log/raw?file=big.log HTTP/1.1\r\nHost: localhost\r\n';
  await Promise.all([
    probe(node, load.healthMs, { ...options, path: '/health/live', headers: {}, load }),
    probe(node, load.viewMs, {
      ...options,
      path: '/api/v1/log/view?file=service.log&size=65536',
      headers: { authorization },
      load,
    }),
    search(node, load, options),
    sendInvalidToken(node, load, options),
    ...Array.from({ length: stalledReaders }, () =>
      holdConnections(node, options, (socket) => {
        load.stalledReaders++;
        const timer = setTimeout(() => socket.destroy(), STALLED_MS);
        socket.once('close', () => clearTimeout(timer));
        socket.pause().write(`${view}Authorization: ${authorization}\r\n\r\n`);
      }),
    ),
    ...Array.from({ length: slowConnections }, () =>
      holdConnections(node, options, (socket) => {
        load.slowConnections++;
        socket.resume().write('GET /health/live HTTP/1.1\r\nX: ');
        const timer = setInterval(() => socket.write('x'), SLOW_BYTE_MS);
        socket.once('close', () => clearInterval(timer));
      }),
    ),
  ]);
}

interface Probe extends LoadOptions {
  path: string;
  headers: Record<string, string>;
  load: Load;
}

async function probe(node: SoakNode, tookMs: number[], { path, headers, load, signal }: Probe): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  while (!signal.aborted) {
    if (!node.isDown) {
      const startedAt = performance.now();
      const status = await fetchStatus(`${node.url}${path}`, { headers, agent });
      if (status === 200) tookMs.push(performance.now() - startedAt);
      else if (!node.isDown) load.troubles.push(`${node.id}${path} answers ${status}`);
    }
    await delay(PROBE_MS); // pause: the pace of the load
  }
  agent.destroy();
}

async function search(node: SoakNode, load: Load, { signal }: LoadOptions): Promise<void> {
  const { client } = node;
  while (!signal.aborted) {
    try {
      const query = { order: 'newest', limit: 500, before: 0, after: 0, terms: ['[Soak]'] } as const;
      for await (const items of client.search(query))
        for (const item of items) if (item.type === 'end') load.searches++;
    } catch (error) {
      if (!node.isDown && !node.wasKilled) load.troubles.push(`a search of ${node.id}: ${error}`);
    }
    await delay(SEARCH_PAUSE_MS); // pause: the pace of the load
  }
}

/** With tokens that nobody gave out. */
async function sendInvalidToken(node: SoakNode, load: Load, { signal }: LoadOptions): Promise<void> {
  while (!signal.aborted) {
    const headers = { authorization: `Bearer wrong-${load.refusedTokens}` };
    const status = await fetchStatus(`${node.url}/api/v1/log/list`, { headers, localAddress: STRANGER });
    if (status === 401 || status === 429) load.refusedTokens++;
    else if (status !== undefined) load.troubles.push(`a wrong token is answered ${status}`);
    await delay(STRANGER_PAUSE_MS); // pause: the pace of the load
  }
}

/** One connection after the other, each until the node ends it. */
async function holdConnections(node: SoakNode, { signal }: LoadOptions, use: (socket: Socket) => void): Promise<void> {
  while (!signal.aborted) {
    const socket = connect(node.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.once('connect', () => use(socket));
    const leave = () => socket.destroy();
    signal.addEventListener('abort', leave);
    await closed;
    signal.removeEventListener('abort', leave);
    await delay(STRANGER_PAUSE_MS); // pause: the pace of the load
  }
}

interface ProbeOptions {
  headers: Record<string, string>;
  agent?: Agent;
  localAddress?: string;
}

/** `undefined` where there was no answer. */
function fetchStatus(url: string, options: ProbeOptions): Promise<number | undefined> {
  return new Promise((resolve) => {
    const outgoing = request(url, options, (response: IncomingMessage) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
      response.once('error', () => resolve(undefined));
    });
    outgoing.once('error', () => resolve(undefined));
    outgoing.end();
  });
}

/** Follows a node's log from its end, also when it is killed; returns the numbers of the lines in the order received. */
export class SoakFollower {
  readonly numbers: number[] = [];
  readonly gaps: string[] = [];
  readonly done: Promise<void>;

  constructor(node: SoakNode, signal: AbortSignal, onReady: () => void) {
    this.done = this.#listen(node, signal, onReady).catch((error) => {
      if (!signal.aborted) this.gaps.push(String(error));
    });
  }

  async #listen(node: SoakNode, signal: AbortSignal, onReady: () => void): Promise<void> {
    for await (const items of node.client.follow({ src: ['=service.log'], start: 'end' }, { signal })) {
      onReady();
      for (const item of items) {
        if (item.type === 'gap') this.gaps.push(JSON.stringify(item));
        const number = item.type === 'record' ? numberIn(item.message, node.id) : undefined;
        if (number !== undefined) this.numbers.push(number);
      }
    }
  }
}
