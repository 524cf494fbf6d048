import type { MemberReport } from '../cluster-state.ts';
import { bool, exactObject, integer, type JsonSchema, listOf, nullableText, oneOf, text } from './schema-builders.ts';

/** Its name within the archive. */
export const MANIFEST_NAME = 'manifest.json';

/** `porthole-bundle-prod-20261115T120000Z.zip` */
export function bundleFileName({ cluster, madeMs }: Pick<BundleManifest, 'cluster' | 'madeMs'>): string {
  const time = new Date(madeMs).toISOString().replace(/[-:]|\.\d+/g, '');
  return `porthole-bundle-${cluster.replace(/[^A-Za-z0-9._-]/g, '_')}-${time}.zip`;
}

/** What one file of a bundle is. */
export interface BundleEntry {
  /** Its name within the archive; made of letters, digits and `._-` between slashes. */
  name: string;
  bytes: number;
  /** Of its content, in hexadecimal digits. */
  sha256: string;
  /** The member it is of; `null` where it is of all of them, or of the node that made the bundle. */
  node: string | null;
  /** The log file it is a part of, by its real name. */
  file: string | null;
  /** There was more of it. */
  isCut: boolean;
  /** What should be known of it; empty where all is well. */
  problems: string[];
}

/** What could not be had. */
export interface MissingEntry {
  /** What it would have been called. */
  name: string;
  node: string | null;
  reason: string;
}

/** The last file of a bundle, which says what the others are. */
export interface BundleManifest {
  format: 'porthole-bundle';
  /** Grows when a reader of an older one would go wrong. */
  formatVersion: 1;
  madeMs: number;
  /** The node that made it: its id and its version of Porthole. */
  madeBy: { id: string; porthole: string };
  cluster: string;
  /** Of the logs, by the clock of that node: from, inclusive, to, exclusive. */
  range: { fromMs: number; toMs: number };
  /** What was asked for; empty and `null` for all members. */
  selection: { nodes: string[]; role: string | null };
  /** Nothing is missing, nothing is cut, and there are no problems. */
  isComplete: boolean;
  members: Pick<MemberReport, 'id' | 'outcome' | 'detail'>[];
  /** All but the manifest, in the order of the archive. */
  entries: BundleEntry[];
  missing: MissingEntry[];
}

/** Not among the schemas of answers: it stands inside one that is no JSON. */
export const BUNDLE_MANIFEST_SCHEMA: JsonSchema = exactObject('What the files of a support bundle are.', {
  format: { const: 'porthole-bundle' },
  formatVersion: { const: 1 },
  madeMs: integer('When it was begun, epoch milliseconds; also the time of every file in it.'),
  madeBy: exactObject('The node that made it.', { id: text('Its id.'), porthole: text('Its version of Porthole.') }),
  cluster: text('Name of the cluster.'),
  range: exactObject('From when the logs are, by the clock of that node.', {
    fromMs: integer('Epoch milliseconds, inclusive.'),
    toMs: integer('Epoch milliseconds, exclusive.'),
  }),
  selection: exactObject('Which members were asked for.', {
    nodes: listOf({ type: 'string' }, 'Ids and patterns; empty: all.'),
    role: nullableText('Only members of this role; null: of any.'),
  }),
  isComplete: bool('Nothing is missing, nothing is cut, and there are no problems.'),
  members: listOf(
    exactObject('A member, and whether it answered.', {
      id: text('Its id.'),
      outcome: oneOf('Whether it answered.', [
        'ok',
        'refused',
        'timeout',
        'tls',
        'auth',
        'not supported',
        'version',
        'failed',
        'gone',
        'left',
      ]),
      detail: nullableText('What was wrong.'),
    }),
  ),
  entries: listOf(
    exactObject('One file of the archive.', {
      name: text('Its name within the archive.'),
      bytes: integer('Its length.'),
      sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Of its content.' },
      node: nullableText('The member it is of; null: all of them, or the node that made the bundle.'),
      file: nullableText('The log file it is a part of.'),
      isCut: bool('Whether there was more of it.'),
      problems: listOf({ type: 'string' }, 'What should be known of it.'),
    }),
    'All but the manifest, in the order of the archive.',
  ),
  missing: listOf(
    exactObject('What could not be had.', {
      name: text('What it would have been called.'),
      node: nullableText('The member it is of.'),
      reason: text('Why it is not there.'),
    }),
  ),
});
