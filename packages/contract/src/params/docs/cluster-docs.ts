import {
  type AROUND_OWN_ROWS,
  type BUNDLE_OWN_ROWS,
  type DOWNLOAD_OWN_ROWS,
  type MEMBER_ROWS,
  RESUME_OVERLAP_SECONDS,
  type STORE_ROWS,
  type TICKET_FOR_ROW,
  type TICKET_ROW,
} from '../cluster-parameters.ts';
import type { DocsOf, ParameterDocs } from '../parameter.ts';
import { FILTER_DOCS } from './record-docs.ts';

/** Of the routes of the cluster, gRPC has those that search and count: the field `cluster` of their requests. */
const NOT_IN_GRPC = { absent: 'gRPC has no such request for the cluster' };
const BROWSER_DOWNLOAD = { absent: 'a download for browsers; "porthole logs -o raw" prints the same' };

export const MEMBER_DOCS: DocsOf<typeof MEMBER_ROWS> = {
  nodes: {
    meaning:
      'Only this member: its id, or a pattern with `*` and `?`. May be given up to 64 times. An unknown id is 404 `MEMBER_NOT_FOUND`.',
    proto: 'nodes',
    cli: { absent: 'arguments name nodes: NODE:FILE or NODE' },
  },
  role: {
    meaning: 'Only members with this role, and those whose role is not known yet.',
    proto: 'role',
    cli: { long: 'role', value: 'role', about: 'only nodes with this role' },
  },
  label: {
    meaning:
      'Only members with this label: `zone=a`; the value may have `*` and `?`. May be given up to 64 times: of each name one value must match. Members whose labels are not known yet are included.',
    proto: 'labels',
    cli: {
      long: 'label',
      value: 'name=value',
      about: 'only nodes with this label, like zone=a or zone=eu-*; repeat for other names, or other values of a name',
    },
  },
};

export const STORE_DOCS: DocsOf<typeof STORE_ROWS> = {
  store: {
    meaning:
      'Where records are read. `nodes`: what members have on disk. `archive`: what they have shipped to the archive. `auto`: from members what they still have, and everything older, or of nodes that no longer exist, from the archive, if the responding node has one (`archive.url`).',
    defaultText: 'auto',
    proto: 'store',
    cli: {
      long: 'store',
      value: 'store',
      about: 'where records are read: auto, nodes or archive; auto reads older ones from the archive, if there is one',
    },
  },
  floor: {
    meaning:
      'Only records at or after this time, by the clock of the member that logged them: `ID=MS`, in epoch milliseconds, `*=MS` for all other members. Records without a timestamp are left out. What `store=auto` sends to members.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'set by store=auto' },
  },
};

export const CLUSTER_DOCS = {
  diffBy: {
    meaning: 'The name of a label: only members of the same role with the same value of it are compared.',
    proto: NOT_IN_GRPC,
    cli: { long: 'by', value: 'label', about: 'for a cluster, compare only nodes with the same value of this label' },
  },
  clusterCursor: {
    meaning: 'Continue here: the `cursor` of the end of an earlier response. Give at most one of `cursor` and `time`.',
    proto: 'cursor',
    cli: { absent: 'the CLI pages by itself' },
  },
  clusterFollowTime: {
    meaning: 'Start at this time, written like `from`.',
    proto: NOT_IN_GRPC,
    cli: { absent: '--since and --until' },
  },
  positions: {
    meaning:
      'Continue after these records: `@`, then `id=cursor` of each member, joined by `|`; a cursor is that of the last record of a log, several logs joined by `~`, percent-encoded. Members and logs it does not name start at `time`.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'the CLI resumes by itself' },
  },
  clusterLastEventId: {
    meaning: `The \`id\` of the last event seen: resumes ${RESUME_OVERLAP_SECONDS} seconds before it, whatever the other parameters say.`,
    proto: { absent: 'a header of HTTP' },
    cli: { absent: 'the CLI resumes by itself' },
  },
  id: {
    meaning: 'Id of the member, as `/api/v1/cluster/nodes` returns it.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'arguments name nodes' },
  },
} as const satisfies Readonly<Record<string, ParameterDocs>>;

export const AROUND_DOCS: DocsOf<typeof AROUND_OWN_ROWS> = {
  node: {
    meaning: 'The member whose record `cursor` names.',
    proto: NOT_IN_GRPC,
    cli: {
      long: 'at',
      value: 'node:cursor',
      about: 'around this record; -o json shows the node and cursor of records',
    },
  },
  aroundCursor: {
    meaning: 'The record to show the surroundings of; needs `node`. Give this or `time`.',
    proto: NOT_IN_GRPC,
    cli: { absent: '--at gives node and cursor' },
  },
  aroundTime: {
    meaning: 'The time to show the surroundings of, by the clock of the responding node.',
    proto: NOT_IN_GRPC,
    cli: { long: 'time', short: 't', value: 'time', about: 'around this time, same format as --since' },
  },
  aroundBefore: {
    meaning: 'How long before it, like `30s`, at most `1h`.',
    defaultText: '5s',
    proto: NOT_IN_GRPC,
    cli: { long: 'around', value: 'span', about: 'how long before and after, at most 1h' },
  },
  aroundAfter: {
    meaning: 'How long after it, like `30s`, at most `1h`.',
    defaultText: '5s',
    proto: NOT_IN_GRPC,
    cli: { absent: '--around gives both' },
  },
  aroundLimit: {
    meaning:
      'Return at most this many records of each member, the ones closest to that time: 1 to `search.max-records`.',
    proto: NOT_IN_GRPC,
    cli: { long: 'limit', short: 'n', value: 'n', about: 'at most n records per node, the closest ones' },
  },
};

export const DOWNLOAD_DOCS: DocsOf<typeof DOWNLOAD_OWN_ROWS | readonly [typeof TICKET_ROW, typeof TICKET_FOR_ROW]> = {
  src: {
    meaning:
      'Logs to read: `NODE`, `NODE/FAMILY` or `NODE/=FILE`; NODE may contain `*` and `?`. May be given up to 64 times; without it, all logs of all members.',
    proto: NOT_IN_GRPC,
    cli: BROWSER_DOWNLOAD,
  },
  prefix: {
    meaning: '`true`: each record begins with the id of its node and a colon.',
    defaultText: 'false',
    proto: NOT_IN_GRPC,
    cli: BROWSER_DOWNLOAD,
  },
  ticket: {
    meaning: 'Replaces the `Authorization` header; must be the last parameter.',
    proto: NOT_IN_GRPC,
    cli: BROWSER_DOWNLOAD,
  },
  for: { meaning: 'Path and query of the download.', proto: NOT_IN_GRPC, cli: BROWSER_DOWNLOAD },
};

export const BUNDLE_DOCS: DocsOf<typeof BUNDLE_OWN_ROWS> = {
  since: {
    meaning:
      'Logs from this time on: RFC 3339, `2026-11-15 14:05`, `14:05`, `15m` (15 minutes ago), epoch seconds or ms.',
    defaultText: '1h',
    proto: NOT_IN_GRPC,
    cli: FILTER_DOCS.from.cli,
  },
  bundleUntil: {
    meaning: 'Logs before this time, written like `since`.',
    defaultText: 'now',
    proto: NOT_IN_GRPC,
    cli: FILTER_DOCS.to.cli,
  },
};
