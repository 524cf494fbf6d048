import { describe, expect, it } from 'vitest';
import { checkMarkers, linesWith, type MarkerRule, readSources } from './markers.ts';

/**
 * The time of day jumps: where it is read is meant. Whatever lasts some time (limits, caches, deadlines, waits) uses
 * `performance.now()`.
 */
const CLOCK: MarkerRule = {
  word: 'clock',
  findUses: (text) => linesWith(/\bDate\.now\b(?!\(\)')|\bnew Date\(\)/, text),
};

/** A socket, a process or a thread that fails while nobody listens ends the node: the reason says how its errors are owned. */
const OWNER: MarkerRule = { word: 'owner', findUses: findRawImports };

/** Modules of what emits `error`. */
const RAW_MODULES =
  /^(node:(https?|http2|net|tls|dgram|child_process|worker_threads|cluster)|undici(\/.*)?|@grpc\/grpc-js)$/;

/** What they have besides: values, and parts of connections that others own. */
const HARMLESS = new RegExp(
  `^(${[
    'BlockList|checkServerIdentity|isIP|isIPv4|isIPv6|createSecureContext|constants|STATUS_CODES',
    'parentPort|workerData|isMainThread|Metadata|status|credentials|ServerCredentials',
    'ServerInterceptingCall|ServerListenerBuilder',
  ].join('|')})$`,
);

/** Lines that import something else of these modules than types, as a whole or by name. */
function findRawImports(text: string): number[] {
  const imports = text.matchAll(
    /^(?:import|export)\s+(?!type\s)([^;]*?)\s+from\s+'([^']+)'|(?:\bconst\s+(\{[^}]*\})\s*=\s*await )?\bimport\('([^']+)'\)/gms,
  );
  return [...imports]
    .filter(([, named, from, taken, dynamic]) => {
      const names = /\{([^}]*)\}/s.exec(named ?? taken ?? '')?.[1];
      const values = names?.split(',').map((name) => name.trim().replace(/(?:\s+as|:)\s.*$/s, '')) ?? ['*'];
      const isRaw = values.some((name) => name !== '' && !name.startsWith('type ') && !HARMLESS.test(name));
      return isRaw && RAW_MODULES.test(from ?? dynamic ?? '');
    })
    .map(({ index }) => text.slice(0, index).split('\n').length - 1);
}

/** A promise that several callers wait for is in `Shared` or from `owned()`: if it is kept otherwise, somebody handles its failure. */
const KEPT: MarkerRule = { word: 'kept', findUses: findKeptPromises };

/** A field, a variable that can be set again, or a map or set, whatever it is kept in. */
const DECLARED =
  /^\s*(?:(?:export|static|readonly|private|public|let|type)\s+)*#?\w+(?:<[^>]*>)?[?!]?\s*(?::|=\s*new\s+\w*(?:Map|Set)<|=(?!\s*\()).*Promise</;
const CONSTANT = /^\s*const\s+#?\w+\s*(?::[^=;]*|=\s*new\s+)\w*(?:Map|Set)<[^;]*Promise</;

function findKeptPromises(text: string): number[] {
  return text.split('\n').flatMap((line, index) => {
    // Functions return promises, which nobody keeps by that.
    const plain = line.replace(/ \/\/ .*$/, '').replaceAll(/(?:=>|\)\??:)[^;,]*Promise<|new Promise</g, '');
    const isKept = plain.trimEnd().endsWith(';') && (DECLARED.test(plain) || CONSTANT.test(plain));
    return isKept ? [index] : [];
  });
}

/** A client says that something is not there, or is all there is, only where it knows how much was read. */
const ABSENCE: MarkerRule = {
  word: 'absence',
  findUses: (text) =>
    /\b(absenceText|isPart|isEverything|Coverage|coverageOf)\b/.test(text) ? [] : linesWith(ABSENT, text),
};

const ABSENT =
  /^(?!.*Exit codes: ).*['"`>][^'"`<{}]*\b(no (older )?(match|matches|records?|differences?|drift|timestamped records)|nothing (new|within)|no .* differs|every match is shown|is empty)\b/i;

const NODES = /^(?!cli\/|console\/)/;
const CLIENTS = /^(cli|console|server\/src\/mcp)\//;

describe('a reason stands beside', () => {
  const sources = readSources();

  it.each([
    ['every read of the time of day', CLOCK, NODES],
    ['every import of what opens connections, starts processes or threads', OWNER, /./],
    ['every promise that is kept without Shared and owned()', KEPT, /./],
    ['every absence that is stated without its coverage', ABSENCE, CLIENTS],
  ])('%s', (_what, rule, where) => {
    const files = sources.filter(({ file }) => where.test(file));
    expect(files.flatMap(({ file, text }) => checkMarkers(text, rule).map((each) => `${file}:${each}`))).toEqual([]);
  });

  it.each([
    [CLOCK, '    const nowMs = Date.now();'],
    [CLOCK, '  now: Date.now,'],
    [CLOCK, '  const now = new Date();'],
    [OWNER, "import { get } from 'node:http';"],
    [OWNER, "import { get as fetchIt, type Agent } from 'node:https';"],
    [OWNER, "import {\n  isIP,\n  connect,\n} from 'node:net';"],
    [OWNER, "import * as net from 'node:net';"],
    [OWNER, "export { spawn } from 'node:child_process';"],
    [OWNER, "const { connect } = await import('node:tls');"],
    [OWNER, "const request = (await import('node:https')).request;"],
    [OWNER, "const { default: Agent } = await import('undici/lib/dispatcher/agent.js');"],
    [KEPT, '  #loading: Promise<void> | undefined;'],
    [KEPT, '  readonly #known = new Map<string, Promise<string>>();'],
    [KEPT, '  const known = new Map<string, Promise<string>>();'],
    [KEPT, '  let opening: Promise<void> | undefined;'],
    [KEPT, '  #last: { id: string; value: Promise<void> } | undefined;'],
    [KEPT, 'type Decision = boolean | Promise<boolean>;'],
    [ABSENCE, "  return 'no match';"],
    [ABSENCE, '  <p>Nothing new</p>'],
  ])('or it is found: $word, %s', (rule, code) => {
    const marker = `// ${rule.word}:`;
    expect(checkMarkers(code, rule)).toHaveLength(1);
    expect(checkMarkers(`${marker} it is meant\n${code}`, rule)).toEqual([]);
    expect(checkMarkers(`${marker}\n${code}`, rule)).toHaveLength(1);
    expect(checkMarkers(`${marker} it is meant\n\n${code}`, rule)).toHaveLength(2);
    if (!code.includes('\n')) expect(checkMarkers(`${code} ${marker} it is meant`, rule)).toEqual([]);
    expect(checkMarkers(`${code} ${marker} it is meant\n${code}`, rule)).toHaveLength(code.includes('\n') ? 3 : 1);
  });

  it.each([
    [CLOCK, 'const startedMs = performance.now();'],
    [CLOCK, ' * Like `Date.now()`.'],
    [OWNER, "import type { Socket } from 'node:net';\nimport { isIP, type Server } from 'node:net';"],
    [KEPT, '  readonly #load: (signal: AbortSignal) => Promise<void>;'],
    [KEPT, '  close(): Promise<void>;'],
    [KEPT, '  const [a, b] = await Promise.all<Promise<void>>(both);'],
    [ABSENCE, "  return absenceText('no match', coverage);"],
  ])('and nothing else needs one: $word, %s', (rule, code) => {
    expect(checkMarkers(code, rule)).toEqual([]);
    expect(checkMarkers(`// ${rule.word}: it is meant\n${code}`, rule)).toHaveLength(1);
  });
});

it('no timeout is combined with another signal: Node.js collects it before it aborts', () => {
  const found = readSources().filter(
    ({ file, text }) => NODES.test(file) && /AbortSignal\.any\(/.test(text) && /AbortSignal\.timeout\(/.test(text),
  );
  expect(found.map(({ file }) => file)).toEqual([]);
});
