import { type ClusterRecord, type MemberReport, type NodeDescription, PortholeError } from '@porthole/client';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { type ColumnRange, type CountColumn, columnRange, countColumns } from '../../ui/count-chart.tsx';
import { type FileFamily, fileFamilies, type NodeFile } from './file-families.ts';

const HOUR_MS = 3_600_000;

const DAY_MS = 24 * HOUR_MS;

const BUCKET_MS = 60_000;

const NEWEST = 5;

/** Time budget: this runs next to the requests of users. */
const BUDGET_MS = 3000;

const HEAVY_MS = 30_000;

const LIGHT_MS = 10_000;

export interface HourCounts {
  range: ColumnRange;
  columns: CountColumn[];
  report: MemberReport | null;
}

export interface NodeFiles {
  files: NodeFile[];
  families: FileFamily[];
  report: MemberReport | null;
}

export interface NewestErrors {
  records: ClusterRecord[];
  report: MemberReport | null;
}

/** Whether the node is ready, and the checks this depends on. */
interface Readiness {
  status: string;
  checks: { name: string; ok: boolean; detail: string }[];
}

const cluster = () => session.client.cluster;

export function descriptionResource(id: string): Resource<NodeDescription> {
  return new Resource((signal) => cluster().member(id).describe({ signal }), { everyMs: LIGHT_MS });
}

/** Only of the node that serves this page: the others reject requests from another origin. */
export function readinessResource(): Resource<Readiness> {
  return new Resource((signal) => readReadiness((path) => session.fetch(path, { signal })), { everyMs: LIGHT_MS });
}

export function hourResource(id: string): Resource<HourCounts> {
  return new Resource(
    async (signal) => {
      const range = columnRange(Date.now(), { spanMs: HOUR_MS, bucketMs: BUCKET_MS });
      const { buckets, members } = await cluster().logHistogram(
        { nodes: [id], minLevel: 'WARN', fromMs: range.fromMs, toMs: range.toMs, bucketMs: BUCKET_MS, buckets: 60 },
        { signal, budgetMs: BUDGET_MS },
      );
      return { range, columns: countColumns(buckets, range), report: members[0] ?? null };
    },
    { everyMs: HEAVY_MS },
  );
}

export function filesResource(id: string): Resource<NodeFiles> {
  return new Resource(
    async (signal) => {
      const { files, members } = await cluster().logFiles({ nodes: [id] }, { signal });
      return { files, families: fileFamilies(files), report: members[0] ?? null };
    },
    { everyMs: HEAVY_MS },
  );
}

/** The newest errors of the last day, newest first. */
export function newestErrorsResource(id: string): Resource<NewestErrors> {
  return new Resource(
    async (signal) => {
      const records: ClusterRecord[] = [];
      let report: MemberReport | null = null;
      const query = { nodes: [id], minLevel: 'ERROR', order: 'newest', limit: NEWEST, before: 0, after: 0 } as const;
      const found = cluster().searchLogs({ ...query, fromMs: Date.now() - DAY_MS }, { signal, budgetMs: BUDGET_MS });
      for await (const batch of found)
        for (const item of batch) {
          if (item.type === 'end') report = item.members[0] ?? null;
          else records.push(item);
        }
      return { records, report };
    },
    { everyMs: HEAVY_MS },
  );
}

/** Requests the readiness of the node. A stopping node responds, too, with 503. */
export async function readReadiness(fetch: (path: string) => Promise<Response>): Promise<Readiness> {
  const response = await fetch('/health/ready');
  const body = await readJson(response);
  if (!isReadiness(body)) throw new PortholeError('BAD_ANSWER', `/health/ready responded with ${response.status}`);
  return body;
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isReadiness(body: unknown): body is Readiness {
  if (typeof body !== 'object' || body === null) return false;
  const { status, checks } = body as Partial<Record<keyof Readiness, unknown>>;
  return typeof status === 'string' && Array.isArray(checks);
}
