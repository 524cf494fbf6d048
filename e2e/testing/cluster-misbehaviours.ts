import type { ServerResponse } from 'node:http';
import type { MemberOutcome } from '@porthole/contract';
import { type Behave, endLine, json, recordLine, startLines } from './cluster-fake-member.ts';

/** Larger than any item a client takes. */
const HUGE_BYTES = 20 * 1024 ** 2;

/** Between two bytes: never long enough to be taken for silent. */
const DRIP_MS = 50;

/** An old time: what belongs there stands behind what the others say, newest first. */
const LONG_AGO_MS = Date.parse('2020-01-01T00:00:00Z');

interface Misbehaviour {
  behave: Behave;
  /** What is reported of it in a search. */
  search: MemberOutcome;
  /** What is reported when it is asked who it is. */
  state: MemberOutcome;
}

/** What members may do that are broken, or that lie. */
export const MISBEHAVIOURS: Readonly<Record<string, Misbehaviour>> = {
  'an endless stream of records': {
    behave: onSearch((response) => pour(response, recordLine('again', LONG_AGO_MS).repeat(1000))),
    search: 'ok',
    state: 'ok',
  },
  'an endless stream of nothing': {
    behave: onSearch((response) => pour(response, '\n'.repeat(10_000))),
    search: 'timeout',
    state: 'ok',
  },
  'a slow drip': { behave: onSearch(drip), search: 'timeout', state: 'ok' },
  'an answer that never begins': { behave: () => true, search: 'timeout', state: 'timeout' },
  'an answer that breaks off': {
    behave: onSearch((response) => {
      response.write(recordLine('half', LONG_AGO_MS));
      // Not in the same breath: an answer of which nothing was seen is none.
      setTimeout(() => response.destroy(), DRIP_MS);
    }),
    search: 'failed',
    state: 'ok',
  },
  garbage: {
    behave: (path, response) => {
      response.writeHead(200, { 'content-type': path === '/log/search' ? 'application/x-ndjson' : 'application/json' });
      response.end('\u0000\u0001 <no json> \n'.repeat(100));
      return true;
    },
    search: 'version',
    state: 'version',
  },
  'another kind of answer': {
    behave: (_path, response) => {
      json(response, 200, [null, { type: 'record' }, 42]);
      return true;
    },
    search: 'version',
    state: 'version',
  },
  'huge records': {
    behave: onSearch((response) => response.end(recordLine('x'.repeat(HUGE_BYTES), LONG_AGO_MS) + endLine(1))),
    search: 'version',
    state: 'ok',
  },
  'times that are none': {
    behave: onSearch((response) => {
      const times = [null, 'yesterday', {}, 1e300, -1e300].map((timeMs) => recordLine('when?', 0, { timeMs }));
      response.end(times.join('') + endLine(times.length));
    }),
    search: 'version',
    state: 'ok',
  },
  'errors of its own': {
    behave: (_path, response) => {
      json(response, 500, { code: 'INTERNAL', detail: 'it is broken' });
      return true;
    },
    search: 'failed',
    state: 'failed',
  },
};

function onSearch(act: (response: ServerResponse) => void): Behave {
  return (path, response) => {
    if (path !== '/log/search') return false;
    startLines(response);
    act(response);
    return true;
  };
}

/** The same again and again, as fast as it is taken. */
function pour(response: ServerResponse, text: string): void {
  const more = () => {
    while (!response.destroyed && response.write(text));
  };
  response.on('drain', more);
  more();
}

function drip(response: ServerResponse): void {
  response.write('{"type":"record","message":"');
  const timer = setInterval(() => response.write('x'), DRIP_MS);
  response.on('close', () => clearInterval(timer));
}
