import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { selfSigned } from '../doctor/testing/self-signed.ts';
import { certificateMetrics, eventMetrics } from './metrics.ts';
import { renderMetrics } from './prometheus-text.ts';

const DAY_S = 86_400;
const DAY_MS = DAY_S * 1000;

async function expiries(files: { certFile?: string; clientCaFile?: string }, nowMs = Date.now()) {
  const { certFile = '', clientCaFile = '' } = files;
  const settings = { tls: { certFile }, auth: { clientCaFile } } as Parameters<typeof certificateMetrics>[0];
  const [metric] = await certificateMetrics(settings, nowMs);
  return Object.fromEntries(metric?.samples.map(({ labels, value }) => [labels?.certificate, value]) ?? []);
}

it('says how long certificates are valid, and of a file with several the first that expires', async () => {
  const dir = tempDir();
  const { certFile } = selfSigned(dir, { days: 30 });
  const clientCaFile = join(dir, 'authorities.pem');
  const { certFile: soon } = selfSigned(dir, { days: 3, name: 'soon' });
  writeFileSync(clientCaFile, `${readFileSync(certFile)}${readFileSync(soon)}`);
  const found = await expiries({ certFile, clientCaFile });
  expect(Math.round((found.server ?? 0) / DAY_S)).toBe(30);
  expect(Math.round((found['client-ca'] ?? 0) / DAY_S)).toBe(3);
  const later = await expiries({ certFile }, Date.now() + 31 * DAY_MS);
  expect(later.server).toBeLessThan(0);
});

it('has no value without TLS, and none that looks valid for a file that cannot be read', async () => {
  const broken = join(tempDir(), 'broken.pem');
  writeFileSync(broken, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  expect(await expiries({ clientCaFile: broken })).toEqual({});
  expect(await expiries({ certFile: broken })).toEqual({ server: Number.NaN });
  expect(await expiries({ certFile: join(tempDir(), 'absent') })).toEqual({ server: Number.NaN });
});

it('counts events by kind and records by log, whose names may be anything', () => {
  const name = 'a"b\\c\nd.log';
  const counted = Array.from({ length: 120 }, (_, index) => ({ name: `${index}.log`, totals: { INFO: 1000 - index } }));
  const logs = [{ name, totals: { ERROR: 5000, INFO: 1 } }, ...counted];
  const text = renderMetrics(eventMetrics({ counts: new Map([['killed', 2]]), logs }));
  expect(text).toContain('porthole_events_total{kind="killed"} 2\n');
  expect(text).toContain('porthole_log_records_total{log="a\\"b\\\\c\\nd.log",level="error"} 5000\n');
  // What is alerted on is there before it happens: an increase is only seen of a series.
  expect(text).toContain('porthole_events_total{kind="member-lost"} 0\n');
  expect(text).toContain('porthole_log_records_total{log="0.log",level="error"} 0\n');
  expect(text.match(/^porthole_log_records_total\{/gm)).toHaveLength(101 * 4);
  expect(text).toContain('porthole_log_records_total{log="(others)",level="info"} 18711\n');
  expect(text).toMatch(/^porthole_build_info\{version="[^"]+",node="[^"]+"\} 1$/m);
  expect(renderMetrics(eventMetrics(undefined))).not.toContain('porthole_events_total');
});
