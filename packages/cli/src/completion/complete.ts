import type { Client } from '@porthole/client';
import { queryContext } from '@porthole/contract';
import type { DynamicCompletion, FlagDefinition } from '../command-definition.ts';
import { EXIT } from '../exit.ts';
import { type FlagValue, Invocation } from '../invocation.ts';
import { Terminal, type TerminalFilter } from '../output/terminal.ts';
import { NODE_FLAGS } from '../shared-flags.ts';
import { DEFAULT_URL, isUrl } from '../sources/endpoint.ts';
import { openNode } from '../sources/open-node.ts';

/** Someone waits for the key they pressed. PORTHOLE_COMPLETE_MS is for nodes that take longer. */
const MAX_MS = 1500;

/** More cannot be read. */
const MAX_CANDIDATES = 1000;

/**
 * Prints what may follow on a line, one candidate per line: `__complete KIND LINE`. A node that does not respond, a wrong flag
 * or a damaged file is not reported: the shell would print it into the line that is being typed.
 */
export async function complete([kind = '', line = '']: readonly string[], filter: TerminalFilter): Promise<void> {
  process.exitCode = EXIT.ok;
  const timer = setTimeout(() => process.exit(EXIT.ok), Number(process.env.PORTHOLE_COMPLETE_MS) || MAX_MS);
  try {
    const { words, last } = splitLine(line);
    const terminal = new Terminal(filter, { color: 'never', isQuiet: true });
    const invocation = new Invocation([], readFlags(words, NODE_FLAGS), terminal);
    const list = Object.hasOwn(CANDIDATES, kind) ? CANDIDATES[kind as keyof typeof CANDIDATES] : undefined;
    const candidates = (await list?.(invocation, { words, last })) ?? [];
    // What would break the line or the list of candidates is left out.
    const offered = [...new Set(candidates)].filter(
      (text) => text.startsWith(last) && /^[^\s\p{Cc}"'\\$`]+$/u.test(text),
    );
    await terminal.write(
      offered
        .slice(0, MAX_CANDIDATES)
        .map((text) => `${text}\n`)
        .join(''),
    );
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The values of these flags on an unfinished line; all others are skipped. */
function readFlags(words: readonly string[], flags: readonly FlagDefinition[]): Record<string, FlagValue> {
  const found: Record<string, FlagValue> = {};
  for (const [index, word] of words.entries()) {
    const [, name = '', joined] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = flags.find(({ long, short }) => name === `--${long}` || (short !== undefined && name === `-${short}`));
    const value = joined ?? words[index + 1];
    if (flag && value !== undefined) found[flag.long] = value;
  }
  return found;
}

/** What may be given, regardless of what has been typed of it; `last` may help to ask for less. */
type Candidates = (invocation: Invocation, line: SplitLine) => Promise<string[]>;

export const CANDIDATES: Readonly<Record<DynamicCompletion, Candidates>> = {
  context: async ({ env, terminal }) => {
    const { readContexts } = await import('../sources/context-file.ts');
    return Object.keys((await readContexts(env, terminal)).contexts);
  },
  node: listNodes,
  log: listLogs,
  source: listLogs,
  key: listKeys,
  field: (invocation, { last }) => listFields(invocation, last),
  query: listQueries,
  // The field comes before its values.
  value: (invocation, { words }) => listValues(invocation, words[words.indexOf('top') + 1] ?? ''),
  location: (invocation) => listValues(invocation, 'source'),
  component: (invocation) => listValues(invocation, 'component'),
  role: async (invocation) => (await clusterNodes(invocation)).flatMap(({ role }) => role ?? []),
  label: async (invocation) => (await listLabels(invocation)).map(([name, value]) => `${name}=${value}`),
  'label-name': async (invocation) => (await listLabels(invocation)).map(([name]) => name),
  zone: async () => ['UTC', ...Intl.supportedValuesOf('timeZone')],
  url: async ({ env, terminal }) => {
    const { readContexts } = await import('../sources/context-file.ts');
    return [DEFAULT_URL, ...Object.values((await readContexts(env, terminal)).contexts).map(({ url }) => url)];
  },
};

/** What a node needs to scan for a completion; someone waits. */
const BUDGET_MS = 800;
const MAX_FIELDS = 1000;
const MAX_VALUES = 50;

/** Whoever presses the key again tries again. */
function openOnce(invocation: Invocation, address?: string): Promise<Client> {
  return openNode(invocation, address, { retries: 0 });
}

async function clusterNodes(invocation: Invocation) {
  return (await (await openOnce(invocation)).nodes()).nodes;
}

async function listNodes(invocation: Invocation): Promise<string[]> {
  return (await clusterNodes(invocation)).map(({ id }) => id);
}

async function listLabels(invocation: Invocation): Promise<[string, string][]> {
  return (await clusterNodes(invocation)).flatMap(({ labels }) => Object.entries(labels));
}

/** Frequent values of a field. */
async function listValues(invocation: Invocation, by: string): Promise<string[]> {
  const node = await openOnce(invocation);
  const top = await node.top({ by, limit: MAX_VALUES }, { budgetMs: BUDGET_MS });
  return top.values.map(({ value }) => value);
}

/** Logs of the node and the nodes of its cluster; after a node and a colon, its logs. */
async function listLogs(invocation: Invocation, { last }: SplitLine): Promise<string[]> {
  // A path.
  if (/^[./~]/.test(last)) return [];
  const client = await openOnce(invocation);
  const [node = '', ...rest] = last.split(':');
  if (rest.length > 0) {
    const { files } = await client.logFiles({ nodes: [node] });
    return files.map((file) => `${file.node}:${file.name}`);
  }
  const [logs, nodes] = await Promise.allSettled([client.listLogs(), listNodes(invocation)]);
  return [
    ...(logs.status === 'fulfilled' ? logs.value.map(({ name }) => name) : []),
    ...(nodes.status === 'fulfilled' ? nodes.value.map((id) => `${id}:`) : []),
  ];
}

/** Keys and tables of the configuration that the line names, or of the node. */
async function listKeys(invocation: Invocation, { words }: SplitLine): Promise<string[]> {
  const { isMemberRef, readConfig } = await import('../commands/config/config-document.ts');
  const { settingNames } = await import('../commands/config/get.ts');
  const where = words.find((word) => isMemberRef(word) || word.endsWith('.toml'));
  if (where !== undefined) return settingNames((await readConfig(invocation, where)).settings);
  const { flattenToml } = await import('@porthole/server/config');
  const address = words.find((word, index) => isUrl(word) && !words[index - 1]?.startsWith('-'));
  const { config } = await (await openOnce(invocation, address)).config();
  return settingNames(flattenToml(config));
}

/** Names for the last part of a list separated by commas. */
async function listFields(invocation: Invocation, last: string): Promise<string[]> {
  const given = last.slice(0, last.lastIndexOf(',') + 1);
  return (await fieldNames(invocation)).map((name) => `${given}${name}`);
}

async function fieldNames(invocation: Invocation): Promise<string[]> {
  const { fields } = await (await openOnce(invocation)).fields({ limit: MAX_FIELDS }, { budgetMs: BUDGET_MS });
  return fields.map(({ name }) => name);
}

/** A query whose last term is completed: the name of a field, or a frequent value of it. */
async function listQueries(invocation: Invocation, { last }: SplitLine): Promise<string[]> {
  const term = queryContext(last, last.length);
  const given = last.slice(0, term.start);
  if (term.kind !== 'value') return (await fieldNames(invocation)).map((name) => `${given}${name}`);
  return (await listValues(invocation, term.field)).map((value) => `${given}${value}`);
}

export interface SplitLine {
  /** The complete words after the program. */
  words: string[];
  /** The word that is being typed; empty after a space. */
  last: string;
}

/** An unquoted part, a quoted one (perhaps unfinished), or an escaped character. */
const PART = /[^\s"'\\]+|"(?:[^"\\]|\\.)*"?|'[^']*'?|\\.?/gs;

/** Splits a command line into words as shells do, without expansions. */
export function splitLine(line: string): SplitLine {
  const words = [...line.matchAll(/(?:[^\s"'\\]|"(?:[^"\\]|\\.)*(?:"|$)|'[^']*(?:'|$)|\\(?:.|$))+/gs)].map(([word]) =>
    word.replace(PART, unquote),
  );
  const last = /(?:^|[^\\])\s$/s.test(line) || words.length === 0 ? '' : (words.pop() ?? '');
  return { words: words.slice(1), last };
}

function unquote(part: string): string {
  if (part.startsWith("'")) return part.replaceAll("'", '');
  if (part.startsWith('"')) return part.replace(/^"|"$/g, '').replace(/\\(["\\$`])/g, '$1');
  return part.startsWith('\\') ? part.slice(1) : part;
}
