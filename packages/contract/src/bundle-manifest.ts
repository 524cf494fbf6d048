import type { MemberReport } from './cluster-state.ts';

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
  /** Its length. */
  bytes: number;
  /** The SHA-256 of its content, hexadecimal. */
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
  /** The member it belongs to. */
  node: string | null;
  /** Why it is missing. */
  reason: string;
}

/** The last file of a bundle: it describes the others. */
export interface BundleManifest {
  format: 'porthole-bundle';
  /** Raised for changes that older readers do not understand. */
  formatVersion: 1;
  /** When it was started, epoch milliseconds; also the time of every file in it. */
  madeMs: number;
  /** The node that created it. */
  madeBy: {
    /** Its id. */
    id: string;
    /** Its version of Porthole. */
    porthole: string;
  };
  /** Name of the cluster. */
  cluster: string;
  /** Time range of the logs, by the clock of that node. */
  range: {
    /** Epoch milliseconds, inclusive. */
    fromMs: number;
    /** Epoch milliseconds, exclusive. */
    toMs: number;
  };
  /** The requested members. */
  selection: {
    /** Ids and patterns; empty: all. */
    nodes: string[];
    /** Only members with this role; `null`: any. */
    role: string | null;
  };
  /** Nothing is missing, nothing is cut, and there are no problems. */
  isComplete: boolean;
  /** Whether each member responded. */
  members: Pick<MemberReport, 'id' | 'outcome' | 'detail' | 'asOfMs' | 'recordedBy' | 'missingMs' | 'isPartial'>[];
  /** All but the manifest, in the order of the archive. */
  entries: BundleEntry[];
  /** What could not be included. */
  missing: MissingEntry[];
}
