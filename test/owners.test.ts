import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/* A socket, a process, a thread or a promise that fails while nobody listens ends the node: each has an owner. */

const packages = join(import.meta.dirname, '..', 'packages');

const sources = readdirSync(packages)
  .flatMap((name) =>
    readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' }).map(
      (file) => `${name}/src/${file}`,
    ),
  )
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\.d\.ts$|\/testing\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(packages, file), 'utf8') }));

/** Modules of what emits `error`. */
const RAW_MODULES = ['http', 'https', 'http2', 'net', 'tls', 'dgram', 'child_process', 'worker_threads', 'cluster']
  .map((name) => `node:${name}`)
  .concat('undici', '@grpc/grpc-js');

/** What they have besides: values, and parts of connections that others own. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...[
    'BlockList',
    'checkServerIdentity',
    'isIP',
    'isIPv4',
    'isIPv6',
    'createSecureContext',
    'constants',
    'STATUS_CODES',
  ],
  ...['parentPort', 'workerData', 'isMainThread', 'Metadata', 'status', 'credentials', 'ServerCredentials'],
  ...['ServerInterceptingCall', 'ServerListenerBuilder'],
]);

/** The only files that open connections, start processes or threads, and how each owns their errors for life. */
const OWNERS: Readonly<Record<string, string>> = {
  'archive/src/http/send-request.ts':
    'a listener from birth; the body is read with an idle time and fails if it is cut',
  'cli/src/commands/conform/exchange.ts':
    'a listener from birth, a deadline, and a limit of bytes; an error is the answer',
  'cli/src/commands/demo/demo-archive.ts': 'a listener as soon as it is started, which explains why it does not start',
  'cli/src/commands/demo/demo-nodes.ts': 'servers that are closed at once; an error is the answer',
  'cli/src/output/pager.ts':
    'the process and its input have listeners from birth; a failure ends the program with a message',
  'cli/src/sources/explain-tls.ts': 'one probe with a timeout; an error is the answer',
  'cli/src/sources/http-fetch.ts': 'a listener from birth; the reader of the body gets what comes after the head',
  'cluster/src/membership/etcd/etcd-connection.ts':
    'streams have a listener from birth, calls a callback and a deadline',
  'logs/src/scan/pool-thread.ts':
    'WorkerPool, its only user, adds its listeners in the turn in which a thread is started',
  'server/src/auth/certificate-check.ts': 'creates nothing: looks whether the socket of a request is one of TLS',
  'server/src/cluster/member-fetch.ts':
    'the agent reports every failure to the handler of a request (in the same file)',
  'server/src/config/running-config.ts': 'execFile calls back once, with the failure to start it too; bounded in time',
  'server/src/config/config-thread.ts': 'a listener from birth; a task reports what happens during it',
  'server/src/doctor/check-ports.ts': 'a server that is closed at once; an error is the answer',
  'server/src/doctor/probe-node.ts': 'a listener from birth, a deadline, and a limit of bytes; an error is the answer',
  'server/src/events/service-events.ts':
    'execFile calls back once, with the failure to start it too; bounded in time and output',
  'server/src/grpc/grpc-adapter.ts':
    'is given the sockets of grpc-server.ts, and owns the sessions and streams on them',
  'server/src/grpc/grpc-server.ts': 'listen() owns the errors of the server; every socket has a listener from birth',
  'server/src/http/embedded-http.ts': 'creates nothing: looks whether an object is a socket',
  'server/src/http/http-server.ts':
    'listen() owns the errors of the server, Node.js those of its sockets (clientError)',
  'server/src/http/http2-sessions.ts': 'sessions and streams have listeners from birth',
  'server/src/http/response/send-response.ts': 'creates nothing: looks whether a response is one of HTTP/1.1',
  'server/src/journal/journalctl.ts': 'the process has a listener for life, and has ended when its output was read',
};

/** Promises that are kept without Shared or owned(), by file and name. */
const KEPT: Readonly<Record<string, string>> = {
  'logs/src/shared.ts Owned': 'what owned() returns',
  'logs/src/shared.ts promise': 'this is Shared',
  'logs/src/file/shared-lookup.ts #gathered': 'on the path of every view; its caller awaits it, without a signal',
  'logs/src/file/shared-lookup.ts #running': 'the same; it has a handler from birth',
  'logs/src/file/shared-lookup.ts #next': 'the same; its caller awaits it',
  'logs/src/file/shared-reads.ts filled': 'the same; the buffer behind it is counted by its users',
  'logs/src/follow/history/search-history.ts next': 'belongs to one merge; it has a handler from birth',
  'logs/src/follow/shared-filter.ts Decision': 'one for each record; it has a handler from birth',
  'logs/src/follow/tail/tail-registry.ts started': 'LogTail.start() keeps its failure instead of rejecting',
  'logs/src/packed/decoders.ts lastTurn': 'turns of the event loop, which never fail',
  'logs/src/search/lane.ts #next': 'has a handler from the start, and is awaited by the pull it is begun for',
  'logs/src/search/plan/run-parts.ts filling': 'belongs to one scan, and is awaited or handled in the turn it is made',
  'logs/src/search/scan-context.ts map':
    'threads are cancelled by a flag, not by a signal; it has a handler from birth',
  'logs/src/text-index/file-text-indexes.ts updating': 'a chain; each link is awaited by who adds it',
  'cli/src/commands/demo/demo.ts written': 'awaited by the one who starts the demo',
  'cluster/src/contract-only/follow-tails.ts pending': 'belongs to one follow; it has a handler from birth',
  'server/src/events/node-events.ts #running': 'never rejects: each is owned, and reports its failure',
  'cluster/src/membership/registry-members.ts #known': 'is resolved, never rejected',
  'cluster/src/records/follow/cluster-follow.ts #stopping':
    'FollowedMember.stop() never rejects: what it awaits is owned',
  'cluster/src/settings/secrets.ts Masked': 'a result, kept by SharedByKey',
  'server/src/http/response/http-exchange.ts response': 'the result of one request, which its caller gets',
  'server/src/http/response/follow-stream.ts #batch': 'belongs to one response; it has a handler from birth',
};

/** What a source takes from these modules, except types. */
function rawNames(text: string): string[] {
  const named = text.matchAll(/^import\s+(?!type\s)([^;]*?)\s+from\s+'([^']+)'/gms);
  const taken = text.matchAll(/\bconst\s+(\{[^}]*\})\s*=\s*await import\('([^']+)'\)/g);
  const dynamic = [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, from = '']) => from);
  const parsed = [...named, ...taken].map(([, names = '', from = '']) => ({ from, names: parseNames(names) }));
  const whole = dynamic
    .filter((from) => !parsed.some((each) => each.from === from))
    .map((from) => ({ from, names: [from] }));
  return [...parsed, ...whole]
    .filter(({ from }) => RAW_MODULES.includes(from.replace(/^undici\/.*/, 'undici')))
    .flatMap(({ names }) => names)
    .filter((name) => !HARMLESS.has(name));
}

function parseNames(names: string): string[] {
  const inBraces = /\{([^}]*)\}/s.exec(names)?.[1];
  if (inBraces === undefined) return [names];
  return inBraces
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.replace(/(?:\s+as|:)\s.*$/s, ''));
}

/** A field, a variable that can be set again, or a map or set, whatever it is kept in. */
const DECLARED =
  /^\s*(?:(?:export|static|readonly|private|public|let|type)\s+)*(#?\w+)(?:<[^>]*>)?[?!]?\s*(?::|=\s*new\s+\w*(?:Map|Set)<|=(?!\s*\()).*Promise</;
const CONSTANT = /^\s*const\s+(#?\w+)\s*(?::[^=;]*|=\s*new\s+)\w*(?:Map|Set)<[^;]*Promise</;

/** The names of what promises are kept in. */
function keptPromises(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    // Functions return promises, which nobody keeps by that.
    const plain = line.replaceAll(/(?:=>|\)\??:)[^;,]*Promise<|new Promise</g, '');
    if (!plain.includes('Promise<') || !line.trimEnd().endsWith(';')) return [];
    return DECLARED.exec(plain)?.[1] ?? CONSTANT.exec(plain)?.[1] ?? [];
  });
}

describe('connections, processes and threads', () => {
  const found = sources.filter(({ text }) => rawNames(text).length > 0).map(({ file }) => file);

  it('are made only by files that own their errors for life', () => {
    expect(found.sort()).toEqual(Object.keys(OWNERS).sort());
  });

  it.each([
    ["import { get } from 'node:http';", ['get']],
    ["import { get as fetchIt, type Agent } from 'node:https';", ['get']],
    ["import * as net from 'node:net';", ['* as net']],
    ["const { connect } = await import('node:tls');", ['connect']],
    ["const request = (await import('node:https')).request;", ['node:https']],
    ["const { default: Agent } = await import('undici/lib/dispatcher/agent.js');", ['default']],
    ["import type { Socket } from 'node:net';\nimport { isIP } from 'node:net';", []],
  ])('finds %s', (text, names) => {
    expect(rawNames(text)).toEqual(names);
  });
});

describe('promises', () => {
  it('are kept only by Shared and owned()', () => {
    const found = sources.flatMap(({ file, text }) => keptPromises(text).map((name) => `${file} ${name}`));
    expect(found.sort()).toEqual(Object.keys(KEPT).sort());
  });

  it.each([
    ['  #loading: Promise<void> | undefined;', ['#loading']],
    ['  readonly #known = new Map<string, Promise<string>>();', ['#known']],
    ['  const known = new Map<string, Promise<string>>();', ['known']],
    ['  let opening: Promise<void> | undefined;', ['opening']],
    ['  #last: { id: string; value: Promise<void> } | undefined;', ['#last']],
    ['type Decision = boolean | Promise<boolean>;', ['Decision']],
    ['  readonly #load: (signal: AbortSignal) => Promise<void>;', []],
    ['  close(): Promise<void>;', []],
    ['  const [a, b] = await Promise.all<Promise<void>>(both);', []],
  ])('finds %s', (text, names) => {
    expect(keptPromises(text)).toEqual(names);
  });
});
