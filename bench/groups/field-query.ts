import type { BenchContext } from '../context.ts';
import { ensureFieldFolder } from '../field-files.ts';
import type { Group } from '../group.ts';
import { atMost, type Row } from '../group.ts';
import type { PortholeServer } from '../porthole.ts';
import { median, showNumber } from '../rounds.ts';
import { fetchHistogram, type Query, searchNode } from '../send-request.ts';
import { startWarmNode, WARM_UP_FILE } from '../warm-node.ts';

/** Until code that only such queries use has been compiled. */
const WARM_UP_TIMES = 20;

const MOST_RATIO = 2;

interface FieldCase {
  figure: string;
  /** By field, and by the rarest text that such records contain. */
  field: Query;
  text: Query;
  /** All matching records are counted: there are too many to return. */
  counted?: true;
  mostRatio?: number;
}

/** In a few records; in every ninth; and a number that is in nearly every record as text. */
const CASES: readonly FieldCase[] = [
  {
    figure: 'a rare field',
    field: { query: 'retries=3' },
    text: { q: '"retries":3', case: 'sensitive' },
    mostRatio: MOST_RATIO,
  },
  {
    figure: 'a value that no record has',
    field: { query: 'family=20260299' },
    text: { q: '20260299', case: 'sensitive' },
    mostRatio: MOST_RATIO,
  },
  {
    figure: 'every ninth record, counted',
    field: { query: 'family=20260105' },
    text: { q: '"family":"20260105"', case: 'sensitive' },
    counted: true,
  },
  {
    figure: 'a short number, one record in 64, counted',
    field: { query: 'shard=13' },
    text: { q: '"shard":13,', case: 'sensitive' },
    counted: true,
  },
];

/** Queries by field of a whole log over HTTP, against searches for their rarest text. The file is in the page cache. */
export const fieldQueryGroup: Group = {
  name: 'field-query',
  needs: [],
  async run(context) {
    const { dir, file, jsonFile, size } = await ensureFieldFolder(context);
    const server = await startWarmNode(context, dir);
    for (let times = 0; times < WARM_UP_TIMES; times++) {
      for (const { field } of CASES) await searchNode(server.url, { file: WARM_UP_FILE, limit: 100, ...field });
    }
    const rows: Row[] = [];
    for (const [name, log] of Object.entries({ "the contract's format": file, JSON: jsonFile })) {
      for (const each of CASES)
        rows.push(await compare(context, server, each, { name: `${size} of ${name}`, file: log }));
    }
    await server.stop();
    return rows;
  },
};

async function compare(
  context: BenchContext,
  server: PortholeServer,
  { figure, field, text, counted, mostRatio }: FieldCase,
  log: { name: string; file: string },
): Promise<Row> {
  const ask = async (query: Query) => {
    const request = { file: log.file, ...query };
    if (counted) return (await fetchHistogram(server.url, { ...request, buckets: 1 })).tookMs;
    return (await searchNode(server.url, { ...request, limit: 10_000 })).tookMs;
  };
  const times = { field: [] as number[], text: [] as number[] };
  context.log(`  ${log.name}: ${figure}`);
  await ask(text);
  for (let round = 0; round < context.effort.rounds; round++) {
    const runs = [async () => times.field.push(await ask(field)), async () => times.text.push(await ask(text))];
    for (const run of round % 2 === 0 ? runs : runs.reverse()) await run();
  }
  const ratio = median(times.field) / median(times.text);
  const show = (values: readonly number[]) => values.map(showNumber).join(', ');
  return {
    figure: `field query ${log.name}: ${figure} (${field.query}), ms`,
    porthole: showNumber(median(times.field)),
    against: `its rarest text ${showNumber(median(times.text))}`,
    ratio,
    rounds: `${show(times.field)} against ${show(times.text)}`,
    ...(mostRatio !== undefined && { bar: atMost(ratio, mostRatio) }),
  };
}
