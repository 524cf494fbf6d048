import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { exchange, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

/** The samples of a Prometheus text, by name and labels. Throws at a line that is none. */
function parseSamples(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || /^# (HELP|TYPE) [a-zA-Z_:][\w:]* ./.test(line)) continue;
    const match =
      /^([a-zA-Z_:][\w:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\]|\\.)*",?)*\})?) (-?[\d.]+(?:e[+-]?\d+)?|nan|[+-]inf)$/i.exec(
        line,
      );
    if (!match) throw new Error(`not a sample: ${line}`);
    samples.set(match[1] ?? '', Number(match[2]));
  }
  return samples;
}

async function readSamples(port: number): Promise<Map<string, number>> {
  return parseSamples((await sendRequest(port, '/metrics')).body.toString());
}

describe('the metrics', () => {
  it('are Prometheus text and count the responses', async () => {
    const { port } = await startTestNode({ files: { 'a.log': 'twelve bytes' } });
    for (let i = 0; i < 3; i++) await sendRequest(port, '/api/v1/log/view?file=a.log');
    await sendRequest(port, '/api/v1/log/view?file=absent');
    await sendRequest(port, '/api/v1/config', { method: 'POST' });
    await sendRequest(port, '/api/v1/log/list', { method: 'HEAD' });
    await eventually(async () => {
      const samples = await readSamples(port);
      expect(samples.get('porthole_http_requests_total{route="logView",method="GET",status="200"}')).toBe(3);
      expect(samples.get('porthole_http_requests_total{route="logView",method="GET",status="404"}')).toBe(1);
      expect(samples.get('porthole_http_requests_total{route="none",method="POST",status="405"}')).toBe(1);
      expect(samples.get('porthole_http_requests_total{route="logList",method="HEAD",status="200"}')).toBe(1);
      expect(samples.get('porthole_http_response_bytes_total{route="logList"}')).toBe(0);
      expect(samples.get('porthole_http_request_duration_seconds_count{route="logView"}')).toBe(4);
      expect(samples.get('porthole_open_streams')).toBe(0);
      expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(0);
    });
  });

  it('do not grow with what clients make up', async () => {
    const { port } = await startTestNode();
    const warm = await readSamples(port);
    for (let i = 0; i < 50; i++) await sendRequest(port, `/made-up-${i}?x=${i}`);
    await exchange(port, 'MADEUP / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const after = await readSamples(port);
    const made = [...after.keys()].filter(
      (name) => !warm.has(name) && !name.includes('route="metrics"') && !name.startsWith('nodejs_gc'),
    );
    expect(made.every((name) => name.includes('route="none"'))).toBe(true);
    expect(made.join()).not.toContain('made-up');
  });

  it('of two nodes in one process are their own', async () => {
    const [one, other] = [await startTestNode(), await startTestNode()];
    await sendRequest(one.port, '/api/v1/log/list');
    expect(
      (await readSamples(other.port)).has('porthole_http_requests_total{route="logList",method="GET",status="200"}'),
    ).toBe(false);
  });
});
