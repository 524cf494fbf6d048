import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Settings } from '../settings/settings.ts';
import { CERTIFICATE_BLOCKS } from '../tls-files.ts';
import type { Metric } from './prometheus-text.ts';

type TlsSettings = Pick<Settings, 'tls' | 'auth'>;

/** When the certificates that this node uses expire; no sample without TLS, NaN for a file that cannot be read. */
export async function certificateMetrics({ tls, auth }: TlsSettings, nowMs: number): Promise<Metric[]> {
  const files = tls.certFile === '' ? [] : [{ name: 'server', path: tls.certFile }];
  if (files.length > 0 && auth.clientCaFile !== '') files.push({ name: 'client-ca', path: auth.clientCaFile });
  const samples = files.map(async ({ name, path }) => ({
    labels: { certificate: name },
    value: (await readExpiry(path)).map((expiryMs) => (expiryMs - nowMs) / 1000).reduce(earliest, Number.NaN),
  }));
  return [
    {
      name: 'porthole_certificate_expiry_seconds',
      type: 'gauge',
      help: 'Time until the first certificate of a file expires; negative if one has.',
      samples: await Promise.all(samples),
    },
  ];
}

/** Of each certificate of a file; none if it cannot be read. Its reload fails, too, and reports why. */
async function readExpiry(path: string): Promise<number[]> {
  try {
    const blocks = (await readFile(path, 'latin1')).match(CERTIFICATE_BLOCKS) ?? [];
    return blocks.map((block) => Date.parse(new X509Certificate(block).validTo));
  } catch (error) {
    if (error instanceof Error) return [];
    throw error;
  }
}

function earliest(first: number, second: number): number {
  return Number.isNaN(first) ? second : Math.min(first, second);
}
