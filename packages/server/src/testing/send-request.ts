import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import type { ClusterConfig, NodeSettings } from '@porthole/contract';
import { onTestFinished } from 'vitest';

export interface TestResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface SendRequestOptions {
  method?: string;
  headers?: OutgoingHttpHeaders;
  agent?: Agent;
  body?: string;
  /** Where the request comes from. */
  localAddress?: string;
}

/** One request with its whole answer; rejects when the answer ends before its last byte. The path is sent as it is. */
export async function sendRequest(port: number, path: string, options: SendRequestOptions = {}): Promise<TestResponse> {
  const response = await openRequest(port, path, options);
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) };
}

/** The settings that a node says it has itself. */
export async function requestSettings(port: number): Promise<NodeSettings> {
  const { configs } = await requestJson<ClusterConfig>(port, '/api/v1/config/settings');
  const settings = configs[0]?.settings;
  if (!settings) throw new Error('the node does not say its settings');
  return settings;
}

/** One request up to the head of its answer; nothing of the body is read until the caller does. */
export function openRequest(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, agent, localAddress }: SendRequestOptions = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: agent ?? false, localAddress });
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

export async function requestJson<T>(port: number, path: string, options?: SendRequestOptions): Promise<T> {
  return JSON.parse((await sendRequest(port, path, options)).body.toString()) as T;
}

/** An error answer, taken apart. */
export async function requestProblem(
  port: number,
  path: string,
  options?: SendRequestOptions,
): Promise<{ status: number; code: string; detail: string; position?: number; headers: IncomingHttpHeaders }> {
  const { status, headers, body } = await sendRequest(port, path, options);
  const { code, detail, position } = JSON.parse(body.toString()) as { code: string; detail: string; position?: number };
  return { status, code, detail, ...(position !== undefined && { position }), headers };
}

/** A connection that ends with the test. It reads nothing until someone listens. */
export function openSocket(port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.on('error', () => {}); // a connection that the node cuts is what many tests are about
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Sends the bytes and gives everything that comes back until the node closes. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const socket = openSocket(port);
  socket.write(bytes, 'latin1');
  return readToEnd(socket);
}

export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (part) => {
      text += part.toString('latin1');
    });
    socket.once('end', () => resolve(text));
    socket.once('close', () => resolve(text));
  });
}
