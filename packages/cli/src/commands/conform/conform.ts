import { resolve } from 'node:path';
import { parseSpan } from '@porthole/contract';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { visibleJson, visibleText } from '../../output/visible-text.ts';
import { findEndpoint } from '../../sources/endpoint.ts';
import { checkAddress, findToken } from '../../sources/open-node.ts';
import { readTlsFiles } from '../../sources/tls-files.ts';
import { CORE_CASES, FRAMING_CASE, type Verdict } from './core-cases.ts';
import type { Target } from './exchange.ts';
import { LateError, NodeUnderTest, parseJson, ROUTES, TestFiles } from './node-under-test.ts';
import { OPEN_POINTS, PROFILES } from './open-points.ts';
import { ROBUST_CASES } from './robust-cases.ts';

interface Result {
  group: 'core' | 'robust' | 'open';
  id: string;
  title: string;
  state: 'ok' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  detail?: string;
  /** What an open point is. */
  measured?: string;
  /** What the profile expects of it. */
  expected?: string;
}

const CHECK_MS = 30_000;

/** All checks together take at most as long as this many that use all of their time. */
const MOST_LATE = 10;

/** Runs the cases of the interface against a node and prints the results as they come. */
export async function run(invocation: Invocation): Promise<number> {
  const [address = ''] = invocation.args;
  const profile = invocation.text('profile');
  const isJson = invocation.text('output') === 'json';
  const checkMs = parseSpan(invocation.text('check-timeout') ?? '') ?? CHECK_MS;
  const { terminal } = invocation;
  const target = await openTarget(invocation, address);
  const logDir = invocation.text('log-dir');
  const files = logDir === undefined ? undefined : await TestFiles.open(resolve(logDir));
  const node = new NodeUnderTest(target, files);
  const results: Result[] = [];
  try {
    if (!isJson) await terminal.write('TAP version 14\n');
    const reach = async () => {
      await checkReachable(node, target);
      if (files) await checkDirectory(node, files);
    };
    await node.inTime(AbortSignal.timeout(checkMs), reach).catch((error: unknown) => {
      if (!(error instanceof LateError)) throw error;
      throw new ProgramError(`${target.url} does not answer within ${checkMs / 1000} s`, { cause: error });
    });
    for await (const result of runCases(node, profile, checkMs)) {
      results.push(result);
      if (!isJson) await terminal.write(formatTap(result, results.length));
    }
  } finally {
    await files?.clear();
  }
  const isOk = results.every(({ state }) => state !== 'failed');
  const likeness = Object.keys(PROFILES).map((name) => compareProfile(results, name));
  await terminal.write(
    isJson
      ? `${JSON.stringify({ url: target.url, ok: isOk, profile: profile ?? null, cases: results, profiles: likeness }, null, 2)}\n`
      : `1..${results.length}\n${summarize(results, likeness)}`,
  );
  return isOk ? EXIT.ok : EXIT.different;
}

async function openTarget(invocation: Invocation, address: string): Promise<Target> {
  const endpoint = await findEndpoint(invocation, address);
  const tls = (await readTlsFiles(endpoint)) ?? {};
  const url = (await checkAddress(endpoint.url)).replace(/\/+$/, '');
  return { url, tls, token: await findToken(invocation, endpoint), signal: interruptSignal() };
}

/** A node that does not respond, or wants credentials, has not been tested. */
async function checkReachable(node: NodeUnderTest, target: Target): Promise<void> {
  const { url } = target;
  const { status, failure, errorCode } = await node.send(ROUTES.config);
  node.badFrames.length = 0;
  if (status === 0) {
    const { explainTlsFailure } = await import('../../sources/explain-tls.ts');
    const error = Object.assign(new Error(failure), { code: errorCode });
    const reason = await explainTlsFailure({ url, hasCertificate: target.tls.cert !== undefined, error });
    throw new ProgramError(reason ?? `cannot reach ${url}: ${failure}`);
  }
  if (status === 401 || status === 403)
    throw new ProgramError(
      `${url} refuses the request (${status}): pass a token with --token-file FILE or PORTHOLE_TOKEN, or a certificate with --cert-file and --key-file`,
    );
  const { status: listStatus, body } = await node.send(ROUTES.list);
  const list = parseJson(body);
  if (listStatus === 200 && (list === null || (Array.isArray(list) && list.length === 0)))
    node.emptyList = JSON.stringify(list);
}

/** Files written where the node does not look would make every case fail. */
async function checkDirectory(node: NodeUnderTest, files: TestFiles): Promise<void> {
  if (await node.show(files, 'probe.log', 'one\n')) return;
  throw new ProgramError(
    `--log-dir ${files.dir} does not seem to be the log directory of the node: a file written there is not listed`,
  );
}

async function* runCases(node: NodeUnderTest, profile: string | undefined, checkMs: number): AsyncGenerator<Result> {
  const whole = AbortSignal.timeout(checkMs * MOST_LATE);
  /** What a check finds, or that it took too long. */
  const find = async <T>(check: () => Promise<T>): Promise<T | { problem: string }> => {
    if (whole.aborted) return { problem: 'not run: the checks before it took too long' };
    const deadline = AbortSignal.any([whole, AbortSignal.timeout(checkMs)]);
    return node.inTime(deadline, check).catch((error: unknown) => {
      if (error instanceof LateError) return { problem: error.message };
      throw error;
    });
  };
  const groups = [
    { group: 'core', cases: CORE_CASES },
    { group: 'robust', cases: ROBUST_CASES },
  ] as const;
  for (const { group, cases } of groups) {
    for (const { id, title, check } of cases) {
      const needsFiles = group === 'robust' && !node.files;
      const verdict: Verdict = needsFiles ? { skipped: 'needs --log-dir' } : await find(() => check(node));
      yield toResult(group, { id, title }, verdict);
    }
  }
  const expectations = profile === undefined ? {} : PROFILES[profile];
  for (const { id, title, measure } of OPEN_POINTS) {
    const found = await find(() => measure(node));
    if (!('value' in found)) {
      yield toResult('open', { id, title }, found);
      continue;
    }
    const expected = expectations?.[id];
    const isExpected = expected === undefined || expected === found.value;
    yield {
      group: 'open',
      id,
      title,
      state: isExpected ? 'ok' : 'failed',
      measured: found.value,
      ...(expected !== undefined && { expected }),
      ...(!isExpected && { detail: `${profile}: ${expected}` }),
    };
  }
  const { id, title, check } = FRAMING_CASE;
  yield toResult('core', { id, title }, await find(() => check(node)));
}

function toResult(
  group: Result['group'],
  { id, title }: { id: string; title: string },
  { problem, skipped }: Verdict,
): Result {
  const detail = problem ?? skipped;
  const state = problem !== undefined ? 'failed' : skipped !== undefined ? 'skipped' : 'ok';
  return { group, id, title, state, ...(detail !== undefined && { detail }) };
}

interface Likeness {
  profile: string;
  /** Points that were measured and of which the profile says something. */
  compared: number;
  equal: number;
}

function compareProfile(results: readonly Result[], profile: string): Likeness {
  const points = results.filter(({ id, measured }) => measured !== undefined && PROFILES[profile]?.[id] !== undefined);
  const equal = points.filter(({ id, measured }) => measured === PROFILES[profile]?.[id]).length;
  return { profile, compared: points.length, equal };
}

function formatTap({ group, id, title, state, detail, measured }: Result, number: number): string {
  const sign = state === 'failed' ? 'not ok' : 'ok';
  const text = escapeTap(`${group}/${id}: ${title}${measured === undefined ? '' : `: ${measured}`}`);
  if (state === 'skipped') return `${sign} ${number} - ${text} # SKIP ${escapeTap(detail ?? '')}\n`;
  if (state === 'ok') return `${sign} ${number} - ${text}\n`;
  const key = measured === undefined ? 'message' : 'expected';
  return `${sign} ${number} - ${text}\n  ---\n  ${key}: ${visibleJson(JSON.stringify(detail))}\n  ...\n`;
}

/** On one line, and without what starts a directive. */
function escapeTap(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll('#', '\\#');
}

function summarize(results: readonly Result[], likeness: readonly Likeness[]): string {
  const count = (group: Result['group']) => {
    const own = results.filter((result) => result.group === group && result.state !== 'skipped');
    return `${own.filter(({ state }) => state === 'ok').length} of ${own.length}`;
  };
  const like = likeness.map(({ profile, equal, compared }) => `${equal} of ${compared} like ${profile}`);
  return `# core: ${count('core')} ok; robust: ${count('robust')} ok; open points: ${like.join(', ')}\n`;
}
