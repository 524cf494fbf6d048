import { RARE_TEXT } from './broker-mix.ts';
import type { OperatorInput } from './operator-inputs.ts';
import type { PeerName } from './peers.ts';

/** A command line as a shell takes it; `$@` are the files. */
export type Shell = string;

/** What an operator asks, as each of the programs is asked it. `undefined`: it has no way to, or none we know of. */
export interface Question {
  figure: string;
  /** Of a node: path and parameters. */
  node: { path: string; query: Readonly<Record<string, string | number>> };
  /** Arguments of `porthole logs`, before the files and behind them. */
  porthole: { command: readonly string[]; flags: readonly string[] };
  peers: Partial<Record<PeerName, Shell>>;
  /** Those that print the same lines as we do. */
  sameLines: readonly PeerName[];
  /** The most a node may take, as a share of the time of the fastest peer. */
  mostRatio: number;
}

export interface AskedAbout {
  input: OperatorInput['name'];
  minute: string;
  journalDir: string;
  /** Other texts and times each time: no program has been asked the same before. */
  round: number;
}

const SECONDS = 10;
const NEWEST = 200;
const TOP = 10;

/** Lines with the rare text have one of ninety numbers behind it. */
const NUMBERS = 90;
const FIRST_NUMBER = 77_777;
const NEXT_NUMBER = 320_000;

export function questions(about: AskedAbout): readonly Question[] {
  const { input, minute, round, journalDir } = about;
  const isPacked = input === 'gz';
  const rg = `rg --no-config --no-filename${isPacked ? ' -z' : ''}`;
  const read = isPacked ? 'zcat "$@" | mawk' : 'mawk';
  const files = isPacked ? '' : ' "$@"';
  const text = `${RARE_TEXT} after ${(FIRST_NUMBER + round * NEXT_NUMBER) % NUMBERS} of`;
  const second = 10 + 2 * round;
  const [fromTime, toTime] = [second, second + SECONDS].map((value) => `${minute}:${value}`) as [string, string];
  const range = { from: Date.parse(`${fromTime.replace(' ', 'T')}Z`), to: Date.parse(`${toTime.replace(' ', 'T')}Z`) };
  const seconds = Array.from({ length: SECONDS }, (_, index) => second + index).join('|');
  const journal = (flags: string) =>
    isPacked ? {} : { journalctl: `journalctl -D ${journalDir} --utc -q --no-pager -o short-iso ${flags}` };
  // It takes minutes for a compressed file.
  const lnav = (command: string) => (isPacked ? {} : { lnav: `lnav -n ${command} "$@"` });
  return [
    {
      figure: `newest ${NEWEST} errors`,
      node: { path: 'search', query: { level: 'error', limit: NEWEST } },
      porthole: { command: [], flags: ['-l', 'error', '-n', String(NEWEST)] },
      peers: {
        rg: `${rg} -F '\tERROR\t' "$@" | sort | tail -n ${NEWEST}`,
        ...(isPacked && { zgrep: `zgrep -F '\tERROR\t' "$@" | tail -n ${NEWEST}` }),
        ...lnav(`-c ':set-min-log-level error'`),
        ...journal(`-p err -n ${NEWEST}`),
      },
      sameLines: ['rg', 'zgrep', 'journalctl'],
      mostRatio: 4,
    },
    {
      figure: 'a rare text',
      node: { path: 'search', query: { q: text, case: 'sensitive', limit: 1000 } },
      porthole: { command: [], flags: ['-g', text, '--case-sensitive', '-n', 'all'] },
      peers: {
        rg: `${rg} -F '${text}' "$@"`,
        ...(isPacked && { zgrep: `zgrep -F '${text}' "$@"` }),
        ...lnav(`-c ':filter-in ${text}'`),
        ...journal(`--case-sensitive=yes -g '${text}'`),
      },
      sameLines: ['rg', 'zgrep', 'journalctl'],
      mostRatio: 0.5,
    },
    {
      figure: 'how many of each level, by the minute',
      node: { path: 'histogram', query: { bucket: '1m' } },
      porthole: { command: ['histogram', '--bucket', '1m', '-o', 'tsv'], flags: [] },
      peers: {
        mawk: `${read} -F'\\t' '{ n[substr($1, 1, 16) " " $2]++ } END { for (k in n) print k, n[k] }'${files}`,
        ...lnav(`-c ';SELECT strftime("%Y-%m-%d %H:%M", log_time), log_level, count(*) FROM all_logs GROUP BY 1, 2'`),
      },
      sameLines: [],
      mostRatio: 0.4,
    },
    {
      figure: `the ${TOP} sources that log most`,
      node: { path: 'top', query: { by: 'source', limit: TOP } },
      porthole: { command: ['top', 'source', '-n', String(TOP)], flags: [] },
      peers: {
        mawk: `${read} -F'\\t' '{ n[$3]++ } END { for (k in n) print n[k], k }'${files} | sort -rn | head -n ${TOP}`,
        ...(!isPacked && {
          goaccess: `cat "$@" | goaccess - --no-global-config --no-progress --no-ip-validation --log-format='%d %t.%^\t%h\t%r\t%^' --date-format=%Y-%m-%d --time-format=%H:%M:%S -o json`,
        }),
        ...lnav(
          `-c ";SELECT regexp_match('^(\\S+)', log_body), count(*) AS n FROM all_logs GROUP BY 1 ORDER BY 2 DESC LIMIT ${TOP}"`,
        ),
      },
      sameLines: [],
      mostRatio: 2,
    },
    {
      figure: `${SECONDS} seconds around a time`,
      node: { path: 'search', query: range },
      porthole: {
        command: [],
        flags: ['-S', `${fromTime}Z`.replace(' ', 'T'), '-U', `${toTime}Z`.replace(' ', 'T'), '-n', 'all'],
      },
      peers: {
        rg: `${rg} '^${minute}:(${seconds})' "$@"`,
        ...(isPacked && { zgrep: `zgrep -E '^${minute}:(${seconds})' "$@"` }),
        ...lnav(`-c ':hide-lines-before ${fromTime}' -c ':hide-lines-after ${toTime}'`),
        ...journal(`-S '${fromTime}' -U '${toTime}'`),
      },
      sameLines: ['rg', 'zgrep'],
      mostRatio: 2,
    },
  ];
}
