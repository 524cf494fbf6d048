import { Agent, createServer, type IncomingMessage, request, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { IS_LONG_RUN, runs } from '@porthole/records/testing';
import { onTestFinished } from 'vitest';

/** What the real server has answered. */
interface Reply {
  status: number;
  /** Without those that frame the body. */
  headers: readonly string[];
  body: Buffer;
}

interface Framed {
  bytes: Buffer;
  /** Whether the connection is left open for the next request. */
  keeps: boolean;
}

/** A connection is cut with FIN or RST after this many bytes, or nothing more comes; without bytes, after all of them. */
export interface Fault {
  framing: FramingName;
  at?: number;
  end?: 'fin' | 'rst' | 'stall';
  /** Before the first byte: a client may leave meanwhile. */
  lateMs?: number;
}

type Frame = (reply: Reply) => Framed;

const CRLF = '\r\n';

function head(status: number, headers: readonly string[], version = 'HTTP/1.1'): string {
  return [`${version} ${status} ${STATUS_CODES[status] ?? 'Unknown'}`, ...headers, '', ''].join(CRLF);
}

const length = (bytes: number) => `Content-Length: ${bytes}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const CLOSE = 'Connection: close';

function chunks(body: Buffer): Buffer {
  const middle = Math.ceil(body.length / 2);
  const parts = [body.subarray(0, middle), body.subarray(middle)].filter((part) => part.length > 0);
  const framed = parts.flatMap((part) => [`${part.length.toString(16)}${CRLF}`, part, CRLF]);
  return join(...framed, `0${CRLF}${CRLF}`);
}

function join(...parts: (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
}

const kept = (...parts: (string | Buffer)[]): Framed => ({ bytes: join(...parts), keeps: true });
const closed = (...parts: (string | Buffer)[]): Framed => ({ bytes: join(...parts), keeps: false });

const withoutType = (headers: readonly string[]) => headers.filter((line) => !/^content-type:/i.test(line));

/** Ways in which a body may be delimited, right and wrong ones. */
const FRAMINGS = {
  length: ({ status, headers, body }) => kept(head(status, [...headers, length(body.length)]), body),
  chunked: ({ status, headers, body }) => kept(head(status, [...headers, CHUNKED]), chunks(body)),
  close: ({ status, headers, body }) => closed(head(status, [...headers, CLOSE]), body),
  'HTTP/1.0': ({ status, headers, body }) => closed(head(status, headers, 'HTTP/1.0'), body),
  'HTTP/1.0 with a length': ({ status, headers, body }) =>
    closed(head(status, [...headers, length(body.length)], 'HTTP/1.0'), body),
  gzip: ({ status, headers, body }) => {
    const packed = gzipSync(body);
    return kept(head(status, [...headers, 'Content-Encoding: gzip', length(packed.length)]), packed);
  },
  'half of a gzip': ({ status, headers, body }) => {
    const packed = gzipSync(body);
    const half = packed.subarray(0, packed.length / 2);
    return kept(head(status, [...headers, 'Content-Encoding: gzip', CHUNKED]), chunks(half));
  },
  'status 204': ({ headers }) => kept(head(204, headers)),
  '204 with a body': ({ headers, body }) => kept(head(204, [...headers, length(body.length)]), body),
  'status 206': ({ headers, body }) => {
    const half = body.subarray(0, body.length / 2);
    const range = `Content-Range: bytes 0-${half.length - 1}/${body.length}`;
    return kept(
      head(206, [...headers.filter((line) => !/^content-range/i.test(line)), range, length(half.length)]),
      half,
    );
  },
  'status 304': ({ headers }) => kept(head(304, headers)),
  'too short, then open': ({ status, headers, body }) =>
    kept(head(status, [...headers, length(body.length + 2890)]), body.subarray(0, 10)),
  'too short, then closed': ({ status, headers, body }) =>
    closed(head(status, [...headers, length(body.length + 1)]), body),
  'too long': ({ status, headers, body }) => kept(head(status, [...headers, length(body.length >> 1)]), body),
  'a second response': ({ status, headers, body }) => {
    const whole = join(head(status, [...headers, length(body.length)]), body);
    return kept(whole, whole);
  },
  'a length and nothing': ({ status, headers }) => kept(head(status, [...headers, length(0)])),
  '1xx before it': ({ status, headers, body }) => {
    const early = `${head(100, [])}${head(103, ['Link: </a>; rel=preload'])}`;
    return kept(early, head(status, [...headers, length(body.length)]), body);
  },
  'nothing but 1xx': () => closed(head(100, []), head(103, [])),
  'another protocol': () => closed(head(101, ['Connection: Upgrade', 'Upgrade: websocket']), '\x81\x05hello'),
  garbage: () => closed('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n\x00\xff\xfe'),
  'a status that is none': ({ headers, body }) => kept('HTTP/1.1 9999 \r\n', ...headers, '\r\n\r\n', body),
  'another content type': ({ status, headers, body }) =>
    kept(head(status, [...withoutType(headers), 'Content-Type: image/png', length(body.length)]), body),
  'a web page': ({ status, headers }) =>
    kept(head(status, [...withoutType(headers), 'Content-Type: text/html', length(13)]), '<html></html>'),
  'one length twice': ({ status, headers, body }) =>
    kept(head(status, [...headers, length(body.length), length(body.length)]), body),
  'two lengths': ({ status, headers, body }) =>
    kept(head(status, [...headers, length(body.length), length(body.length >> 1)]), body),
  'a length and chunks': ({ status, headers, body }) =>
    kept(head(status, [...headers, length(body.length), CHUNKED]), chunks(body)),
  'a length below zero': ({ status, headers, body }) => kept(head(status, [...headers, 'Content-Length: -1']), body),
  'chunks of no size': ({ status, headers, body }) => kept(head(status, [...headers, CHUNKED]), 'xyz\r\n', body),
  'chunks that are too large': ({ status, headers, body }) =>
    kept(head(status, [...headers, CHUNKED]), `ffffffffffff${CRLF}`, body),
  'an error': ({ headers, body }) => kept(head(503, [...headers, length(body.length)]), body),
} as const satisfies Readonly<Record<string, Frame>>;

type FramingName = keyof typeof FRAMINGS;

const FRAMING_NAMES = Object.keys(FRAMINGS) as FramingName[];

/** More is announced than ever comes. */
const OPEN_FRAMINGS: readonly FramingName[] = ['too short, then open', 'chunks that are too large'];

/** The bytes of a reply, for those who choose where to cut them. */
function frame(framing: FramingName, reply: Reply): Buffer {
  return FRAMINGS[framing](reply).bytes;
}

interface Plan {
  matches: (request: IncomingMessage) => boolean;
  faults: Fault[];
}

/** A stream without end is taken to be as long as what it sends before it pauses so long. */
const ENDLESS_PAUSE_MS = 20;

/** A reset takes back what was not read yet: later, the head has been read, and the error reaches another listener. */
const RESET_MS = 10;

/**
 * Stands before a real server over HTTP. Forwards requests as they are; answers those that a plan is made for with the real
 * response, wrongly framed or broken off. Written byte by byte: no library would send this.
 */
export class FaultyServer {
  readonly #server: Server;
  readonly #target: URL;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sockets = new Set<Socket>();
  #plans: Plan[] = [];
  /** The last faults that were dealt, newest first. */
  readonly recent: string[] = [];
  dealt = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((asked) => void this.#answer(asked).catch(() => asked.socket.destroy()));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {}); // the other side has cut it
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async before(target: string): Promise<FaultyServer> {
    const faulty = new FaultyServer(target);
    await new Promise<void>((resolve) => faulty.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      faulty.cutAll();
      faulty.#agent.destroy();
      faulty.#server.close();
    });
    return faulty;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that the other side has not closed. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Answers the requests that match with these faults, one after the other. */
  plan(matches: Plan['matches'], faults: readonly Fault[]): { left(): number } {
    const plan = { matches, faults: [...faults] };
    this.#plans.push(plan);
    return { left: () => plan.faults.length };
  }

  /** From now on, everything is forwarded. */
  mend(): void {
    this.#plans = [];
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #answer(asked: IncomingMessage): Promise<void> {
    const fault = this.#plans.find(({ matches, faults }) => faults.length > 0 && matches(asked))?.faults.shift();
    if (fault) {
      this.dealt++;
      this.recent.unshift(`${asked.method} ${asked.url?.slice(0, 80)}: ${describe(fault)}`);
      this.recent.length = Math.min(this.recent.length, 8);
    }
    const response = await this.#forward(asked);
    const headers = pairs(response.rawHeaders);
    const { statusCode: status = 0 } = response;
    const { socket } = asked;
    if (!fault) {
      const size = response.headers['content-length'];
      const framing = hasBody(asked, status) ? [CHUNKED] : size === undefined ? [] : [length(Number(size))];
      socket.write(head(status, [...headers, ...framing]));
      for await (const chunk of response as AsyncIterable<Buffer>)
        if (chunk.length > 0) socket.write(join(`${chunk.length.toString(16)}${CRLF}`, chunk, CRLF));
      if (hasBody(asked, status)) socket.write(`0${CRLF}${CRLF}`);
      return;
    }
    const body = await collect(response);
    const { bytes, keeps } = FRAMINGS[fault.framing]({ status, headers, body });
    // pause: the fault itself
    if (fault.lateMs !== undefined) await delay(fault.lateMs);
    const { at = Infinity, end = keeps || at < bytes.length ? undefined : 'fin' } = fault;
    socket.write(bytes.subarray(0, at), () => {
      if (end === 'fin') socket.end();
      if (end === 'rst') setTimeout(() => socket.resetAndDestroy(), RESET_MS);
    });
  }

  async #forward(asked: IncomingMessage): Promise<IncomingMessage> {
    const { method, url = '/', headers } = asked;
    const { hostname, port } = this.#target;
    const sent = request({ agent: this.#agent, hostname, port, method, path: url, headers });
    const leave = () => sent.destroy();
    asked.socket.once('close', leave);
    asked.pipe(sent);
    return new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve);
      sent.on('error', reject);
      sent.once('close', () => asked.socket.off('close', leave));
    });
  }
}

function describe({ framing, at, end, lateMs }: Fault): string {
  const cut = at === undefined ? '' : `, ${end} after ${at} bytes`;
  return `${framing}${cut}${lateMs === undefined ? '' : `, ${lateMs} ms late`}`;
}

function hasBody({ method }: IncomingMessage, status: number): boolean {
  return method !== 'HEAD' && status !== 204 && status !== 304;
}

function pairs(raw: readonly string[]): string[] {
  const lines = raw.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${raw[index + 1]}`] : []));
  return lines.filter((line) => !/^(content-length|transfer-encoding|connection|keep-alive):/i.test(line));
}

/** The whole body, or what of it comes without a pause. */
async function collect(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  const isEndless = response.headers['content-type']?.startsWith('text/event-stream') ?? false;
  response.on('data', (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((resolve) => response.once('close', resolve));
  if (!isEndless) await ended;
  else {
    for (let count = -1; count !== parts.length; ) {
      count = parts.length;
      await delay(ENDLESS_PAUSE_MS); // pause: the fault itself
    }
    response.destroy();
  }
  return Buffer.concat(parts);
}

const CUTS = ['fin', 'rst'] as const;

interface FramingChoice {
  except?: readonly FramingName[];
  /** Only every so many of them, beginning with this one: what is left is tried with responses that are read alike. */
  share?: { of: number; from: number };
}

/** Every framing as it is, and some of them late or cut somewhere; in a long run all of them. */
export function everyFraming(reply: Reply, { except = [], share = { of: 1, from: 0 } }: FramingChoice = {}): Fault[] {
  const names = FRAMING_NAMES.filter((name) => !OPEN_FRAMINGS.includes(name) && !except.includes(name));
  return names.flatMap((framing, index): Fault[] => {
    if (!IS_LONG_RUN && index % share.of !== share.from) return [];
    const at = Math.floor((frame(framing, reply).length * (index + 1)) / (names.length + 1));
    const late = { framing, lateMs: 10 };
    const cut = { framing, at, end: CUTS[index % 2] ?? 'fin' };
    if (IS_LONG_RUN) return [{ framing }, late, cut];
    return index % 4 === 0 ? [{ framing }, late] : index % 4 === 2 ? [{ framing }, cut] : [{ framing }];
  });
}

/** Cut at every byte of head and body, by turns with FIN and RST; in a long run with both. Or at so many of the bytes. */
export function everyByte(framing: FramingName, reply: Reply, count = Infinity): Fault[] {
  return spread(frame(framing, reply).length, count).flatMap((at, index) =>
    (IS_LONG_RUN ? CUTS : CUTS.slice(index % 2, (index % 2) + 1)).map((end) => ({ framing, at, end })),
  );
}

/** Silent after so many bytes of the head, which costs the time that is given to a response. */
export function silentHeads(reply: Reply, count: number): Fault[] {
  const bytes = frame('length', { ...reply, body: Buffer.alloc(0) }).length - 1;
  return spread(bytes, count).map((at) => ({ framing: 'length', at, end: 'stall' }));
}

/** Silent within the body, or at its end where more was announced. */
export function silentBodies(reply: Reply, count: number): Fault[] {
  const bytes = frame('length', reply).length;
  const cuts = spread(reply.body.length, count).map((at) => bytes - reply.body.length + at);
  return [
    ...OPEN_FRAMINGS.map((framing) => ({ framing })),
    ...cuts.flatMap((at) =>
      (['length', 'chunked'] as const).map((framing) => ({ framing, at, end: 'stall' as const })),
    ),
  ];
}

function spread(length: number, count: number): number[] {
  const positions = Math.min(length, runs(count));
  return Array.from({ length: positions }, (_, index) => Math.floor((length * index) / positions));
}

/** A response as the server really sends it. Of one without end, the beginning. */
export async function sampleReply(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init);
  const headers = [...response.headers]
    .filter(([name]) => !/^(content-length|transfer-encoding|connection|keep-alive)$/.test(name))
    .map(([name, value]) => `${name}: ${value}`);
  const isEndless = headers.some((line) => line.includes('text/event-stream'));
  if (isEndless) await response.body?.cancel();
  const body = isEndless ? Buffer.from('event: heartbeat\ndata: {}\n\n') : Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers, body };
}
