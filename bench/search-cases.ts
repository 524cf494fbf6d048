import { ABSENT_TEXT, CHOICE_REGEX, DIGITS_REGEX, RARE_ORDER_REGEX, RARE_TEXT, RARE_TEXT_REGEX } from './broker-mix.ts';
import type { Query } from './send-request.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** One question, as each of the programs is asked it. */
export interface SearchCase {
  figure: string;
  query: Query;
  rg: readonly string[];
  grep: readonly string[];
  /** A command of lnav that leaves only what was asked for. */
  lnav?: string;
  /** The most it may take, as a share of ripgrep's time, also on a machine where only one of two threads runs at a time. */
  mostRatio?: number;
  /** Porthole has been asked it before. */
  again?: true;
}

/**
 * In the order they are asked of a new node: what it remembers of a file comes from the question for a level and from
 * regexes that are tried on every record, so the level must come before those.
 */
export function searchCases(minute: string): readonly SearchCase[] {
  const level = { query: { level: 'error' }, rg: ['\\tERROR\\t'], grep: ['-F', '\tERROR\t'] };
  const minuteMs = Date.parse(`${minute.replace(' ', 'T')}Z`);
  return [
    {
      figure: 'literal, rare',
      query: { q: RARE_TEXT, case: 'sensitive' },
      rg: ['-F', RARE_TEXT],
      grep: ['-F', RARE_TEXT],
      lnav: `:filter-in ${RARE_TEXT}`,
      mostRatio: 2,
    },
    {
      figure: 'literal that occurs nowhere',
      query: { q: ABSENT_TEXT, case: 'sensitive' },
      rg: ['-F', ABSENT_TEXT],
      grep: ['-F', ABSENT_TEXT],
      mostRatio: 2,
    },
    {
      figure: 'literal in any case',
      query: { q: RARE_TEXT.toLowerCase() },
      rg: ['-i', '-F', RARE_TEXT.toLowerCase()],
      grep: ['-i', '-F', RARE_TEXT.toLowerCase()],
      mostRatio: 1,
    },
    { figure: 'level ERROR', ...level, lnav: ':set-min-log-level error', mostRatio: 2.5 },
    { figure: 'level ERROR, asked again', ...level, again: true, mostRatio: 0.3 },
    {
      figure: 'one second, asked again',
      query: { from: minuteMs, to: minuteMs + SECOND_MS },
      rg: [`^${minute}:00`],
      grep: [`^${minute}:00`],
      again: true,
      mostRatio: 0.3,
    },
    {
      // Most of it is the response: each record goes through JSON and HTTP.
      figure: 'one minute, asked again',
      query: { from: minuteMs, to: minuteMs + MINUTE_MS },
      rg: [`^${minute}`],
      grep: [`^${minute}`],
      again: true,
    },
    regexCase('regex with a rare text in it', RARE_TEXT_REGEX, 2.5),
    regexCase('regex with a choice of rare texts', CHOICE_REGEX, 2),
    regexCase('regex whose texts are in every line', RARE_ORDER_REGEX, 5),
    regexCase('regex without any text in it', DIGITS_REGEX),
  ];
}

function regexCase(figure: string, regex: string, mostRatio?: number): SearchCase {
  const query = { regex, case: 'sensitive' };
  return { figure, query, rg: [regex], grep: ['-E', regex], ...(mostRatio !== undefined && { mostRatio }) };
}
