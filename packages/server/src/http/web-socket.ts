import { createHash } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { ReaderStalled } from '../errors.ts';
import type { HttpResponse } from './response/http-exchange.ts';

/*
 * The part of RFC 6455 that a server needs which only sends: text frames, pings and its close go out, and of what
 * comes in, only pings and the close mean anything.
 */

const TEXT = 0x1;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;
const LAST_FRAME = 0x80;
const MASKED = 0x80;

export const PING_FRAME = encodeFrame(PING, Buffer.alloc(0));

/** Why a connection is closed. */
type CloseCode = 1000 | 1001 | 1002 | 1009;

/** Clients have nothing to say: longer frames are refused. */
const MAX_FRAME_BYTES = 4096;

/** Answers to pings that a client may leave unread. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** After its close, a client has this long to close its side. */
const LINGER_MS = 1000;

/** Text that a client gets as one message. */
export function textFrame(text: string): Buffer {
  return encodeFrame(TEXT, Buffer.from(text));
}

export function closeFrame(code: CloseCode): Buffer {
  const reason = Buffer.alloc(2);
  reason.writeUInt16BE(code);
  return encodeFrame(CLOSE, reason);
}

function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = LAST_FRAME | opcode;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** Headers of the response that opens a WebSocket; `undefined` if the request is none. */
export function webSocketHeaders({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>) {
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version } = headers;
  if (method !== 'GET' || version !== '13' || !/^[A-Za-z0-9+/]{22}==$/.test(key)) return undefined;
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-accept': accept };
}

export function wantsWebSocket({ headers: { upgrade = '' } }: Pick<IncomingMessage, 'headers'>): boolean {
  return upgrade.toLowerCase() === 'websocket';
}

type Done = (error?: Error | null) => void;

/**
 * The response to a request for a WebSocket: what is written after a head of status 101 are frames, after any other it is
 * the body of a refusal. It owns the socket from its creation to its end.
 */
export class UpgradeResponse extends Writable implements HttpResponse {
  headersSent = false;
  statusCode = 200;
  readonly #socket: Socket;
  readonly #stallTimeoutMs: number;
  #received: Buffer;
  #stallTimer: NodeJS.Timeout | undefined;

  /** `received` is what has come after the request. */
  constructor(socket: Socket, received: Buffer, { stallTimeoutMs }: { stallTimeoutMs: number }) {
    super();
    this.#socket = socket;
    this.#received = received;
    this.#stallTimeoutMs = stallTimeoutMs;
    socket.setTimeout(0);
    socket.on('error', () => this.destroy()); // the client is gone, which the close reports
    socket.on('close', () => this.destroy());
    socket.on('end', () => this.destroy());
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
  }

  writeHead(status: number, list: string[]): void {
    this.headersSent = true;
    this.statusCode = status;
    const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`];
    for (let at = 0; at + 1 < list.length; at += 2) lines.push(`${list[at]}: ${list[at + 1]}`);
    if (status !== 101 && !list.includes('connection')) lines.push('connection: close');
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    if (status === 101) this.#receive(Buffer.alloc(0));
  }

  /** The head is sent when it is written. */
  flushHeaders(): void {}

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done): void {
    this.#stallTimer = setTimeout(() => this.destroy(new ReaderStalled()), this.#stallTimeoutMs).unref();
    this.#socket.write(chunk, (error) => {
      clearTimeout(this.#stallTimer);
      done(error);
    });
  }

  override _final(done: Done): void {
    const socket = this.#socket;
    socket.setTimeout(LINGER_MS, () => socket.destroy());
    socket.end(() => done());
  }

  /** Without an error: it would be emitted, and the close is enough. */
  override _destroy(_error: Error | null, done: Done): void {
    clearTimeout(this.#stallTimer);
    const socket = this.#socket;
    // One that was ended has its close on the way.
    if (socket.writableEnded) socket.setTimeout(LINGER_MS, () => socket.destroy());
    else socket.destroy();
    done(null);
  }

  #receive(bytes: Buffer): void {
    // Of a request that is refused, nothing is read; more than one small frame is not kept before the response.
    if (this.statusCode !== 101) {
      this.#received = this.headersSent ? NOTHING : Buffer.concat([this.#received, bytes]).subarray(0, MAX_FRAME_BYTES);
      return;
    }
    this.#received = Buffer.concat([this.#received, bytes]);
    for (let frame = takeFrame(this.#received); frame; frame = takeFrame(this.#received)) {
      if ('refusal' in frame || frame.opcode === CLOSE) {
        this.#close('refusal' in frame ? frame.refusal : 1000);
        return;
      }
      this.#received = this.#received.subarray(frame.bytes);
      if (frame.opcode === PING) this.#socket.write(encodeFrame(PONG, frame.payload));
    }
    if (this.#socket.writableLength > MAX_UNREAD_BYTES + this.writableLength) this.destroy();
  }

  /** The client leaves, or must: whatever is written next has no reader. */
  #close(code: CloseCode): void {
    this.#received = NOTHING;
    this.#socket.end(closeFrame(code));
    this.destroy();
  }
}

const NOTHING = Buffer.alloc(0);

type Frame = { opcode: number; payload: Buffer; bytes: number } | { refusal: CloseCode };

/** The first frame of what was received; `undefined` if it is not complete. */
function takeFrame(received: Buffer): Frame | undefined {
  if (received.length < 2) return undefined;
  const [first = 0, second = 0] = received;
  const isControl = (first & 0x8) !== 0;
  const short = second & 0x7f;
  if ((second & MASKED) === 0 || (isControl && (short > 125 || (first & LAST_FRAME) === 0))) return { refusal: 1002 };
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (received.length < 2 + extended) return undefined;
  const length =
    extended === 2 ? received.readUInt16BE(2) : extended === 8 ? Number(received.readBigUInt64BE(2)) : short;
  if (length > MAX_FRAME_BYTES) return { refusal: 1009 };
  const start = 2 + extended + 4;
  if (received.length < start + length) return undefined;
  const payload = Buffer.from(received.subarray(start, start + length));
  for (let at = 0; at < length; at++)
    payload[at] = (payload[at] as number) ^ (received[start - 4 + (at % 4)] as number);
  return { opcode: first & 0xf, payload, bytes: start + length };
}
