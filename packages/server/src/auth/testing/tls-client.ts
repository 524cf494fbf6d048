import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { onTestFinished } from 'vitest';

export interface TlsResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** The fingerprint of the server's certificate, on the connection it came on. */
  fingerprint: string;
}

export interface TlsClientOptions {
  ca: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

export type SendTlsRequest = (
  path: string,
  options?: { method?: string; headers?: OutgoingHttpHeaders },
) => Promise<TlsResponse>;

/** Asks a node over HTTPS, on one connection while that lasts. */
export function createTlsClient(port: number, options: TlsClientOptions): SendTlsRequest {
  const agent = new Agent({ ...options, keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return (path, { method = 'GET', headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent }, async (response) => {
        const { fingerprint256 } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate();
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part as Buffer);
        const body = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, fingerprint: fingerprint256 });
      });
      outgoing.once('error', reject);
      outgoing.end();
    });
}
