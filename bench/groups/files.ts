import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { below, type Row } from '../group.ts';
import { startPorthole } from '../porthole.ts';
import { residentBytes, watchResident } from '../process-usage.ts';
import { median, showNumber } from '../rounds.ts';
import { runPeer } from '../run-peer.ts';
import { searchNode, sendRequest } from '../send-request.ts';

const MB = 1_000_000;
const FILES = 100_000;

const MOST_LIST_MS = 1000;
const MOST_FILES_MS = 3000;
const MOST_MB = 150;

const HEAD = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t';

/** A log in the middle of the directory. */
const ONE = `service-${FILES / 2}.log`;

/** What a directory of 100,000 files costs: its listing, the details of all files, and a search of one of them. */
export const filesGroup: Group = {
  name: 'files',
  needs: ['ls'],
  async run(context) {
    const dir = ensureManyFiles(context);
    const rounds: Round[] = [];
    for (let round = 0; round < context.effort.rounds; round++) {
      context.log(`  a directory of ${FILES} files, round ${round + 1}`);
      rounds.push(await runRound(context, dir));
    }
    return toRows(rounds);
  },
};

/** Milliseconds, except for memory. */
interface Round {
  ls: number;
  list: number;
  listAgain: number;
  details: number;
  detailsAgain: number;
  search: number;
  searchAgain: number;
  addedMb: number;
}

/** Each with new nodes, one of which is asked for the details first. */
async function runRound(context: BenchContext, dir: string): Promise<Round> {
  const { tookMs: ls, lines } = await runPeer(context, 'ls', ['-l', dir]);
  if (lines !== FILES + 1) throw new Error(`ls lists ${lines - 1} files`);
  const lists = await startPorthole(context, dir);
  const list = await fetchAll(`${lists.url}/api/v1/log/list`);
  const listAgain = await fetchAll(`${lists.url}/api/v1/log/list`);
  const { tookMs: search } = await searchNode(lists.url, { family: ONE, q: 'line' });
  const { tookMs: searchAgain } = await searchNode(lists.url, { family: ONE, q: 'line' });
  await lists.stop();
  const described = await startPorthole(context, dir);
  await sendRequest(`${described.url}/api/v1/log/view`, { file: ONE }); // the code is loaded
  const before = residentBytes(described.pid);
  const memory = watchResident(described.pid, 20);
  const details = await fetchAll(`${described.url}/api/v1/log/files`);
  const addedMb = (memory.stop() - before) / MB;
  const detailsAgain = await fetchAll(`${described.url}/api/v1/log/files`);
  await described.stop();
  return { ls, list, listAgain, details, detailsAgain, search, searchAgain, addedMb };
}

/** A response with every file; how long it took. */
async function fetchAll(url: string): Promise<number> {
  const { tookMs, body } = await sendRequest(url, {});
  const { length } = JSON.parse(body.toString()) as unknown[];
  if (length !== FILES) throw new Error(`${url} has ${length} files`);
  return tookMs;
}

function toRows(rounds: readonly Round[]): Row[] {
  const middle = (key: keyof Round) => median(rounds.map((round) => round[key]));
  const row = (figure: string, key: keyof Round, most?: number, unit = 'ms'): Row => ({
    figure: `${figure}, ${unit}`,
    porthole: showNumber(middle(key)),
    rounds: rounds.map((round) => showNumber(round[key])).join(', '),
    ...(most !== undefined && { bar: below(middle(key), most, unit) }),
  });
  const besideLs = (figure: string, key: keyof Round): Row => ({
    ...row(figure, key, MOST_LIST_MS),
    against: `ls -l ${showNumber(middle('ls'))}`,
    ratio: middle(key) / middle('ls'),
  });
  return [
    besideLs(`list of ${FILES} files, first request of a node`, 'list'),
    besideLs(`list of ${FILES} files, again`, 'listAgain'),
    row(`/log/files of ${FILES} files, nothing known of them`, 'details', MOST_FILES_MS),
    row(`/log/files of ${FILES} files, again`, 'detailsAgain'),
    row(`/log/files of ${FILES} files: resident memory it adds`, 'addedMb', MOST_MB, 'MB'),
    row(`search of one log among ${FILES} files, after a listing`, 'search'),
    row(`search of one log among ${FILES} files, again`, 'searchAgain'),
  ];
}

/** Kept for the next run. */
function ensureManyFiles(context: BenchContext): string {
  const dir = context.dataDir('many-files');
  if (readdirSync(dir).length === FILES) return dir;
  context.log(`making ${FILES} files in ${dir} (kept for the next run)`);
  for (let made = 1; made <= FILES; made++) writeFileSync(join(dir, `service-${made}.log`), `${HEAD}line of ${made}\n`);
  return dir;
}
