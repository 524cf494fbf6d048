import { type NodeState, parseCount, parseSearchRequest, searchItems, withoutSelection } from '@porthole/contract';
import { CURSOR, SELECTION_CASES, SELECTION_FILES, selectionNames } from '@porthole/contract/testing';
import { createZone, type FoundRecord, LogDir } from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ContractNode } from './contract-only/contract-node.ts';
import { RecordedNode } from './recorder/recorded-node.ts';
import { Recording } from './recorder/recording.ts';
import { LogDirNode } from './testing/log-dir-node.ts';

/* A parameter that a copied member ignores would show records that were not asked for. */

const CLOCK = { nowMs: Date.UTC(2026, 10, 16), offsetMsAt: () => 0 };
const ALL = { order: 'oldest', limit: 100, before: 0, after: 0, raw: true } as const;

function openLogs(): LogDirNode {
  const node = new LogDirNode();
  for (const [name, text] of Object.entries(SELECTION_FILES)) node.write(name, text);
  return node;
}

async function recorded(): Promise<NodeState> {
  const recording = await Recording.open(tempDir(), { maxBytes: 1024 ** 3, maxMs: 3_600_000 });
  for await (const items of openLogs().respond(ALL))
    await recording.append(items.filter((item): item is FoundRecord => item.type === 'record'));
  recording.facts = { ...recording.facts, zone: 'UTC', sinceMs: 0, asOfMs: CLOCK.nowMs };
  const logs = new LogDir(recording.logDir, { zone: createZone('UTC'), threads: SHARED_THREADS });
  onTestFinished(() => logs.close());
  return new RecordedNode({ id: 'b', recording, profile: undefined, logs, label: 'recorded' });
}

/** A node with only the routes of the contract, which sends no first line. */
async function contractOnly(): Promise<NodeState> {
  const { logs } = openLogs();
  const tails = {
    listLogs: () => logs.list(),
    viewLog: ({ file, sizeBytes }: { file: string; sizeBytes: number }) => logs.tail(file, sizeBytes),
    config: () => Promise.reject(new Error('not asked')),
  };
  const node = new ContractNode({ node: tails, threads: SHARED_THREADS, zone: createZone('UTC') });
  onTestFinished(() => node.close());
  return node;
}

const IMPLEMENTATIONS = { 'a recording': recorded, 'a contract-only member': contractOnly };

async function search(node: NodeState, query: string): Promise<unknown> {
  const request = withoutSelection(parseSearchRequest(new URLSearchParams(query), CLOCK, { maxRecords: 1000 }));
  const records: unknown[] = [];
  for await (const items of searchItems(node, request))
    for (const item of items) if (item.type === 'record') records.push(shown(item));
  return records;
}

function shown({ message, raw, fields, before, after }: FoundRecord): unknown {
  return { message, raw, fields, before: before?.map(shown), after: after?.map(shown) };
}

const COUNTS = { logHistogram: '', logDigest: '', logFields: '', logTop: 'by=shard' } as const;

async function count(node: NodeState, id: keyof typeof COUNTS, query: string): Promise<unknown> {
  const request = withoutSelection(parseCount(id, new URLSearchParams(`${COUNTS[id]}&${query}`), CLOCK));
  const { end: _end, ...counted } = (await node[id](request as never)) as { end: unknown };
  return counted;
}

/** What a cluster decides, and never asks a member. */
function isOfCluster(name: string): boolean {
  const parse = (query: string) =>
    JSON.stringify(withoutSelection(parseSearchRequest(new URLSearchParams(query), CLOCK, { maxRecords: 1000 })));
  return (
    ['nodes', 'role', 'label', 'store', 'floor'].includes(name) &&
    parse(SELECTION_CASES[name]?.given ?? '') === parse('')
  );
}

for (const [what, open] of Object.entries(IMPLEMENTATIONS)) {
  describe(what, () => {
    it.each(selectionNames('logSearch').filter((name) => !isOfCluster(name)))(
      'heeds or refuses "%s" in a search',
      async (name) => {
        const node = await open();
        await expectEffect(name, await cursorIn(node), (query) => search(node, query));
      },
    );

    it.each(
      (Object.keys(COUNTS) as (keyof typeof COUNTS)[]).flatMap((id) =>
        selectionNames(id).flatMap((name) => (isOfCluster(name) || name === 'limit' ? [] : [[id, name] as const])),
      ),
    )('%s heeds or refuses "%s"', async (id, name) => {
      const node = await open();
      await expectEffect(name, '', (query) => count(node, id, query));
    });
  });
}

async function cursorIn(node: NodeState): Promise<string> {
  for await (const items of searchItems(node, { ...ALL, src: ['a.log'], terms: ['three'] }))
    for (const item of items) if (item.type === 'record') return item.cursor;
  throw new Error('the record is not there');
}

async function expectEffect(name: string, cursor: string, ask: (query: string) => Promise<unknown>): Promise<void> {
  const known = SELECTION_CASES[name];
  if (!known) throw new Error(`"${name}" has no case in selection-cases.ts`);
  const { beside = '', given } = known;
  const without = await ask(beside);
  const refusal = { refused: true };
  const found = await ask(`${beside}&${given.replace(CURSOR, cursor)}`).catch(() => refusal);
  expect(found).not.toEqual(without);
}
