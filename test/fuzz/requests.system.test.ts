import { isIP } from 'node:net';
import { parseView, viewUrl } from '@porthole/console/testing';
import {
  decodeMemberId,
  parseAroundRequest,
  parseCount,
  parseFileRequest,
  parseFollowRequest,
  parseSearchRequest,
  parseViewRequest,
} from '@porthole/contract';
import { createZone } from '@porthole/logs';
import {
  bearerToken,
  chooseEncoding,
  createHostCheck,
  findRoute,
  parseByteRange,
  parseTarget,
} from '@porthole/server/testing';
import { expect } from 'vitest';
import { fuzz, tryParse } from './testing/fuzz.ts';

const ZONE = createZone('Europe/Berlin');
const CLOCK = { nowMs: Date.UTC(2026, 10, 15), offsetMsAt: ZONE.offsetMsAt };
const MOST = { maxRecords: 10_000 };

fuzz('queries', {
  corpus: [
    'file=broker.log&size=1MiB',
    'q=slow&level=warn&order=oldest&limit=100&before=2&after=3&case=sensitive',
    'regex=took%22%3A%22[0-9]{3}ms&from=-15m&to=2026-11-15T05:00:00Z&file=a.log&file=b.log',
    'time=2026-11-15%2005:00:00.000&cursor=0123456789abcdef.s.0.1.1.YS5sb2c',
    'node=broker-*&node=storage-1&role=broker&at=1794702000000&span=5s',
    'buckets=60&width=1h&groups=50&back=100&start=end&since=1h',
  ],
  runs: 800,
  check(input) {
    const query = new URLSearchParams(input.toString());
    const parsers = [
      () => parseViewRequest(query),
      () => parseFileRequest(query),
      () => parseSearchRequest(query, CLOCK, MOST),
      () => parseFollowRequest(query, CLOCK, query.get('cursor') ?? undefined),
      () => parseCount('logHistogram', query, CLOCK),
      () => parseCount('logDigest', query, CLOCK),
      () => parseAroundRequest(query, CLOCK, MOST),
      () => decodeMemberId(query.get('node') ?? ''),
    ];
    const [view, , search] = parsers.map((parse) => tryParse<unknown>(parse));
    const { sizeBytes = 0 } = (view ?? {}) as { sizeBytes?: number };
    expect(Number.isSafeInteger(sizeBytes)).toBe(true);
    expect(((search ?? {}) as { limit?: number }).limit ?? 0).toBeLessThanOrEqual(MOST.maxRecords);
  },
});

fuzz('request targets', {
  corpus: [
    '/api/v1/log/view?file=a.log',
    'http://localhost:7300/api/v1/config?x=%00',
    'HTTPS://[::1]:7300?a',
    '/api/v1/nodes/broker-1/log/raw?file=a.log',
    '*',
    '//evil/%2e%2e/..;/etc/passwd#f',
  ],
  check(input) {
    const target = tryParse(() => parseTarget(input.toString('latin1')));
    if (target === undefined) return;
    expect(target.path.startsWith('/')).toBe(true);
    expect(findRoute(target.path)?.rest ?? '').not.toContain('?');
  },
});

fuzz('Range headers', {
  corpus: ['bytes=0-499', 'bytes=-500', 'bytes=9500-', 'bytes=0-0,-1', 'Bytes = 1-2', 'bytes=99999999999999999999-'],
  check(input) {
    for (const size of [0, 1, 1000, 2 ** 53 - 1]) {
      const range = parseByteRange(input.toString('latin1'), size);
      if (range === undefined || range === 'unsatisfiable') continue;
      const { start, end } = range;
      expect([start >= 0, start < end, end <= size, Number.isSafeInteger(end)]).toEqual([true, true, true, true]);
    }
  },
});

fuzz('Accept-Encoding headers', {
  corpus: ['gzip, deflate, br', 'br;q=0.5, gzip;q=1.0, *;q=0', 'identity;q=1, *;q=0', ' , ;q=, gzip ; q=0.999'],
  runs: 2000,
  check(input) {
    const header = input.toString('latin1');
    expect([undefined, 'br', 'gzip']).toContain(chooseEncoding(header, ['br', 'gzip']));
    expect(chooseEncoding(header, [])).toBeUndefined();
  },
});

fuzz('Host headers', {
  corpus: ['localhost:7300', '127.0.0.1', '[::1]:7300', 'broker-1.example.', 'LOCALHOST', '[::ffff:127.0.0.1]', 'evil'],
  check(input) {
    const host = input.toString('latin1');
    let allowed = true;
    try {
      createHostCheck(['broker-1.example'])(host);
    } catch (error) {
      allowed = false;
      expect(error).toHaveProperty('code');
    }
    // No page can have an address for a name of its own.
    const name = host.replace(/:\d*$/, '').replace(/\.$/, '');
    if (allowed && !isIP(name)) expect(host).toMatch(/localhost|^\[|^broker-1\.example/i);
  },
});

fuzz('Authorization headers', {
  corpus: ['Bearer abc.def.ghi', 'bearer   x', 'Basic YTpi', 'Bearer abc=', 'Bearer'],
  check(input) {
    const token = bearerToken(input.toString('latin1'));
    if (token !== undefined) expect(token).toMatch(/^[\w\-.~+/]+=*$/);
  },
});

fuzz('addresses of the console', {
  corpus: [
    '/logs?q=x&level=warn&file=a.log&from=-1h&node=n1',
    '/nodes/broker-1/logs?q=%25',
    '/config?key=a.b&diff=1',
    '/nodes/~../config',
    '/',
  ],
  check(input) {
    const url = resolved(input.toString());
    if (!url) return;
    const view = parseView(url);
    if (view.page === 'unknown') return;
    expect(parseView(new URL(viewUrl(view), url))).toEqual(view);
  },
});

function resolved(text: string): URL | undefined {
  const url = URL.canParse(text, 'http://localhost:7300') ? new URL(text, 'http://localhost:7300') : undefined;
  return url?.host === 'localhost:7300' ? url : undefined; // a browser shows no other with our code
}
