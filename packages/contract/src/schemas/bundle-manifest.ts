import type { MemberReport } from '../cluster-state.ts';
import { AS_OF, OUTCOME, RECORDED } from './member-schemas.ts';
import { bool, constant, exactObject, integer, listOf, nullableText, type Schema, text } from './schema-builders.ts';

/** Its name within the archive. */
export const MANIFEST_NAME = 'manifest.json';

/** `porthole-bundle-prod-20261115T120000Z.zip` */
export function bundleFileName({ cluster, madeMs }: Pick<BundleManifest, 'cluster' | 'madeMs'>): string {
  const time = new Date(madeMs).toISOString().replace(/[-:]|\.\d+/g, '');
  return `porthole-bundle-${cluster.replace(/[^A-Za-z0-9._-]/g, '_')}-${time}.zip`;
}

/** One file of a bundle. */
export interface BundleEntry {
  /** Its name within the archive; made of letters, digits and `._-` between slashes. */
  name: string;
  bytes: number;
  /** The hash of its content, hexadecimal. */
  sha256: string;
  /** The member it belongs to; `null`: all of them, or the node that created the bundle. */
  node: string | null;
  /** The log file it is part of, by its original name. */
  file: string | null;
  /** The rest of it was left out. */
  isCut: boolean;
  /** What is wrong with it; empty if nothing is. */
  problems: string[];
}

/** Something that could not be included. */
export interface MissingEntry {
  /** The name it would have had. */
  name: string;
  node: string | null;
  reason: string;
}

/** The last file of a bundle: it describes the others. */
export interface BundleManifest {
  format: 'porthole-bundle';
  /** Raised for changes that older readers do not understand. */
  formatVersion: 1;
  madeMs: number;
  /** The node that created it: its id and its version of Porthole. */
  madeBy: { id: string; porthole: string };
  cluster: string;
  /** Time range of the logs, by the clock of that node: from, inclusive, to, exclusive. */
  range: { fromMs: number; toMs: number };
  /** The requested members; empty and `null` for all. */
  selection: { nodes: string[]; role: string | null };
  /** Nothing is missing, nothing is cut, and there are no problems. */
  isComplete: boolean;
  members: Pick<MemberReport, 'id' | 'outcome' | 'detail' | 'asOfMs' | 'recordedBy' | 'missingMs' | 'isPartial'>[];
  /** All but the manifest, in the order of the archive. */
  entries: BundleEntry[];
  missing: MissingEntry[];
}

/** Not one of `SCHEMAS`: it is part of a response that is not JSON. */
export const BUNDLE_MANIFEST_SCHEMA: Schema<BundleManifest> = exactObject('The files of a support bundle.', {
  format: constant('porthole-bundle'),
  formatVersion: constant(1),
  madeMs: integer('When it was started, epoch milliseconds; also the time of every file in it.'),
  madeBy: exactObject<BundleManifest['madeBy']>('The node that created it.', {
    id: text('Its id.'),
    porthole: text('Its version of Porthole.'),
  }),
  cluster: text('Name of the cluster.'),
  range: exactObject<BundleManifest['range']>('Time range of the logs, by the clock of that node.', {
    fromMs: integer('Epoch milliseconds, inclusive.'),
    toMs: integer('Epoch milliseconds, exclusive.'),
  }),
  selection: exactObject<BundleManifest['selection']>('The requested members.', {
    nodes: listOf({ type: 'string' }, 'Ids and patterns; empty: all.'),
    role: nullableText('Only members with this role; null: any.'),
  }),
  isComplete: bool('Nothing is missing, nothing is cut, and there are no problems.'),
  members: listOf(
    exactObject<BundleManifest['members'][number]>(
      'A member, and whether it responded.',
      { id: text('Its id.'), outcome: OUTCOME, detail: nullableText('What went wrong.'), asOfMs: AS_OF },
      RECORDED,
    ),
  ),
  entries: listOf(
    exactObject<BundleEntry>('One file of the archive.', {
      name: text('Its name within the archive.'),
      bytes: integer('Its length.'),
      sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'The hash of its content.' },
      node: nullableText('The member it belongs to; null: all of them, or the node that created the bundle.'),
      file: nullableText('The log file it is part of.'),
      isCut: bool('Whether the rest of it was left out.'),
      problems: listOf({ type: 'string' }, 'What is wrong with it.'),
    }),
    'All but the manifest, in the order of the archive.',
  ),
  missing: listOf(
    exactObject<MissingEntry>('Something that could not be included.', {
      name: text('The name it would have had.'),
      node: nullableText('The member it belongs to.'),
      reason: text('Why it is missing.'),
    }),
  ),
});
