import { describe, expect, it } from 'vitest';
import { encodeParameters } from '../params/parameter.ts';
import { REQUEST_ROWS } from '../params/request-rows.ts';
import type { RequestClock } from '../time/time-text.ts';
import { parseBundleRequest } from './cluster-requests.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-11-15T12:00:00Z');
const CLOCK: RequestClock = { nowMs: NOW, offsetMsAt: () => 0 };

const parse = (text: string) => parseBundleRequest(new URLSearchParams(text), CLOCK);

describe('the request for a bundle', () => {
  it.each([
    ['', { fromMs: NOW - HOUR_MS, toMs: NOW }],
    ['since=2h', { fromMs: NOW - 2 * HOUR_MS, toMs: NOW }],
    ['since=&until=', { fromMs: NOW - HOUR_MS, toMs: NOW }],
    ['until=2026-11-15T10:00:00Z', { fromMs: NOW - 3 * HOUR_MS, toMs: NOW - 2 * HOUR_MS }],
    [
      'since=09:00&until=10:00&nodes=b*&nodes=s-1&role=broker',
      { fromMs: NOW - 3 * HOUR_MS, toMs: NOW - 2 * HOUR_MS, nodes: ['b*', 's-1'], role: 'broker' },
    ],
  ])('%j', (text, request) => {
    expect(parse(text)).toEqual(request);
  });

  it.each(['since=soon', 'until=1x', 'since=1h&until=2h', 'since=now', 'nodes=a/b', 'role=%20'])(
    'refuses %j',
    (text) => {
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'PARAMETER_INVALID' }));
    },
  );

  it('refuses a time that is given twice', () => {
    expect(() => parse('since=1h&since=2h')).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
  });

  it('is the same once it was written and read', () => {
    const request = { fromMs: 1, toMs: 2, nodes: ['a', 'b?'], role: 'broker' };
    expect(parse(encodeParameters(REQUEST_ROWS.bundle, request).toString())).toEqual(request);
  });
});
