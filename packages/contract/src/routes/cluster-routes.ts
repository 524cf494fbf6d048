import {
  AROUND_ROWS,
  CLUSTER_FOLLOW_ROWS,
  CLUSTER_LAST_EVENT_ID_ROW,
  CLUSTER_SEARCH_ROWS,
  CONFIG_DIFF_ROWS,
  MEMBER_ID_ROW,
  MEMBER_ROWS,
  STORE_ROWS,
} from '../params/cluster-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { BUDGET_ROW, DIGEST_ROWS, FIELDS_ROWS, HISTOGRAM_ROWS, TOP_ROWS } from '../params/record-parameters.ts';
import { type CountRoute, JSON_TYPE, PATHS, type Route, toCountRoute } from './route.ts';

const SELECTION_ERRORS = ['PARAMETER_INVALID', 'MEMBER_NOT_FOUND', 'REQUEST_LOOP'] as const;
const RECORD_ERRORS = [
  ...SELECTION_ERRORS,
  'QUERY_INVALID',
  'REGEX_INVALID',
  'REGEX_TOO_COMPLEX',
  'TOO_MANY_STREAMS',
] as const;
/** The errors of reading the archive. */
const ARCHIVE_ERRORS = ['ARCHIVE_UNAVAILABLE', 'NOT_SUPPORTED'] as const;
const BODY_ERRORS = ['BODY_TOO_LARGE', 'CONTENT_TYPE_UNSUPPORTED'] as const;

const CURSOR_ERRORS = ['CURSOR_INVALID', 'CURSOR_GONE'] as const;

const countRoute = (route: CountRoute) =>
  toCountRoute(route, [...RECORD_ERRORS, ...BODY_ERRORS, ...ARCHIVE_ERRORS, 'TOO_MANY_SEARCHES']);

/** Requests to all members. Each response has a report of every member that was queried. */
export const CLUSTER_ROUTES = {
  clusterNodes: {
    path: PATHS.clusterNodes,
    role: 'viewer',
    summary: 'List members',
    description:
      'Every member of the cluster: whether it responds, its clock compared with this node, its newest record and recent errors; and how reliable the list of members is.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'ClusterNodes' },
    errors: ['REQUEST_LOOP'],
  },
  clusterForget: {
    path: PATHS.clusterForget,
    method: 'DELETE',
    role: 'admin',
    summary: 'Forget a member',
    description:
      'Drops what is known and recorded of a member that has left or failed, on this node and on every other member that responds, so that it is no longer listed. For a request from a member, only on this node.',
    parameters: documentParameters([MEMBER_ID_ROW]),
    response: { contentType: JSON_TYPE, schema: 'ForgottenMember' },
    errors: ['MEMBER_NOT_FOUND', 'MEMBER_REGISTERED', 'NOT_SUPPORTED'],
  },
  clusterRecording: {
    path: PATHS.clusterRecording,
    role: 'viewer',
    summary: 'Describe a recording',
    description:
      'What this node has recorded of a member: how old its last sign of life is, and since when nothing is missing. Members request it of each other. Every route of a member below `/api/v1/cluster/nodes/{id}` is also there below `/api/v1/cluster/recordings/{id}`: it answers from what was recorded.',
    parameters: documentParameters([MEMBER_ID_ROW]),
    response: { contentType: JSON_TYPE },
    errors: ['MEMBER_NOT_FOUND', 'NOT_SUPPORTED'],
    page: true,
  },
  clusterConfig: {
    path: PATHS.clusterConfig,
    role: 'config',
    summary: 'Get configuration of all members',
    description: 'The configuration of each member, or the last known one. Secrets are masked.',
    parameters: documentParameters(MEMBER_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ClusterConfig' },
    errors: SELECTION_ERRORS,
  },
  clusterConfigDiff: {
    path: PATHS.clusterConfigDiff,
    role: 'config',
    summary: 'Compare configurations',
    description: 'The keys in which members of the same role differ, with each value and the members that have it.',
    parameters: documentParameters(CONFIG_DIFF_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ClusterConfigDiff' },
    errors: SELECTION_ERRORS,
  },
  clusterLogFiles: {
    path: PATHS.clusterLogFiles,
    role: 'viewer',
    summary: 'Describe logs of all members',
    description: 'The log files of all members, each with the member that has it.',
    parameters: documentParameters(MEMBER_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ClusterLogFiles' },
    errors: SELECTION_ERRORS,
  },
  clusterLogSearch: {
    path: PATHS.clusterLogSearch,
    role: 'viewer',
    summary: 'Search logs of all members',
    description:
      'Records of all members that meet all conditions, merged by time, corrected for clock offsets: one JSON object per line, the last an `end` with a report of each member.',
    parameters: documentParameters([...CLUSTER_SEARCH_ROWS, BUDGET_ROW]),
    response: { contentType: 'application/x-ndjson', schema: 'ClusterItem', each: 'line' },
    errors: [...RECORD_ERRORS, ...CURSOR_ERRORS, ...BODY_ERRORS, ...ARCHIVE_ERRORS, 'TOO_MANY_SEARCHES'],
    stream: true,
  },
  clusterLogFollow: {
    path: PATHS.clusterLogFollow,
    role: 'viewer',
    summary: 'Follow logs of all members',
    description:
      'Records of all members as they are written, as server-sent events. New members are added automatically; changes of members are events too.',
    parameters: documentParameters([...CLUSTER_FOLLOW_ROWS, CLUSTER_LAST_EVENT_ID_ROW]),
    response: { contentType: 'text/event-stream', schema: 'ClusterFollowItem', each: 'event' },
    errors: [...RECORD_ERRORS, ...BODY_ERRORS, 'CURSOR_INVALID'],
    stream: true,
  },
  clusterLogHistogram: countRoute({
    path: PATHS.clusterLogHistogram,
    summary: 'Count records of all members over time',
    description: 'The number of records per bucket of time and level, of all members and of each.',
    parameters: documentParameters([...MEMBER_ROWS, ...STORE_ROWS, ...HISTOGRAM_ROWS, BUDGET_ROW]),
    schema: 'ClusterHistogram',
  }),
  clusterLogDigest: countRoute({
    path: PATHS.clusterLogDigest,
    summary: 'Group records of all members',
    description: 'Records of all members grouped by level and call site, with the number of each member.',
    parameters: documentParameters([...MEMBER_ROWS, ...STORE_ROWS, ...DIGEST_ROWS, BUDGET_ROW]),
    schema: 'ClusterDigest',
  }),
  clusterLogFields: countRoute({
    path: PATHS.clusterLogFields,
    summary: 'List fields of all members',
    description:
      'The fields that matching records of all members have, as `/log/fields` of each member reports them, with the number of records of each.',
    parameters: documentParameters([...MEMBER_ROWS, ...STORE_ROWS, ...FIELDS_ROWS, BUDGET_ROW]),
    schema: 'ClusterFields',
  }),
  clusterLogTop: countRoute({
    path: PATHS.clusterLogTop,
    summary: 'Count records of all members by value',
    description:
      'The most frequent values of a field in the records of all members, with the number of each member. Exact where each member returned all of its values; otherwise marked, with the error of each count.',
    parameters: documentParameters([...MEMBER_ROWS, ...STORE_ROWS, ...TOP_ROWS, BUDGET_ROW]),
    schema: 'ClusterTop',
  }),
  clusterLogMoment: {
    path: PATHS.clusterLogMoment,
    role: 'viewer',
    summary: 'Records of all members around a time',
    description: 'The records of all members around one record or one time, oldest first; lines as in a search.',
    parameters: documentParameters(AROUND_ROWS),
    response: { contentType: 'application/x-ndjson', schema: 'ClusterItem', each: 'line' },
    errors: [
      ...SELECTION_ERRORS,
      ...CURSOR_ERRORS,
      ...BODY_ERRORS,
      ...ARCHIVE_ERRORS,
      'TOO_MANY_STREAMS',
      'TOO_MANY_SEARCHES',
    ],
    stream: true,
  },
} as const satisfies Record<string, Route>;
