import { AROUND_ROWS, CONFIG_DIFF_ROWS, MEMBER_ID_ROW } from '../params/cluster-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { JSON_TYPE, PATHS, type Route } from './route.ts';

const SELECTION_ERRORS = ['PARAMETER_INVALID', 'MEMBER_NOT_FOUND', 'REQUEST_LOOP'] as const;

/** Which nodes there are, and what needs several of them. */
export const CLUSTER_ROUTES = {
  nodes: {
    path: PATHS.nodes,
    role: 'viewer',
    summary: 'List nodes',
    description:
      'Every member of the cluster: whether it responds, its clock compared with this node, its newest record and recent errors; and how reliable the list of members is. A node alone lists itself.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'ClusterNodes' },
    errors: ['REQUEST_LOOP'],
  },
  nodeForget: {
    path: PATHS.nodeForget,
    method: 'DELETE',
    role: 'admin',
    summary: 'Forget a node',
    description:
      'Drops what is known and recorded of a member that has left or failed, on this node and on every other member that responds, so that it is no longer listed. For a request from a member, only on this node.',
    parameters: documentParameters([MEMBER_ID_ROW]),
    response: { contentType: JSON_TYPE, schema: 'ForgottenMember' },
    errors: ['MEMBER_NOT_FOUND', 'MEMBER_REGISTERED', 'NOT_SUPPORTED'],
  },
  recording: {
    path: PATHS.recording,
    role: 'viewer',
    summary: 'Describe a recording',
    description:
      'What this node has recorded of a member: how old its last sign of life is, and since when nothing is missing. Members request it of each other. Every route of a member below `/api/v1/nodes/{id}` is also there below `/api/v1/member/recordings/{id}`: it answers from what was recorded.',
    parameters: documentParameters([MEMBER_ID_ROW]),
    response: { contentType: JSON_TYPE },
    errors: ['MEMBER_NOT_FOUND', 'NOT_SUPPORTED'],
    page: true,
  },
  configDiff: {
    path: PATHS.configDiff,
    role: 'config',
    summary: 'Compare configurations',
    description:
      'The keys in which nodes of the same role differ, with each value and the nodes that have it. Without `nodes`, `role` and `label`, all nodes are compared.',
    parameters: documentParameters(CONFIG_DIFF_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ClusterConfigDiff' },
    errors: SELECTION_ERRORS,
  },
  logAround: {
    path: PATHS.logAround,
    role: 'viewer',
    summary: 'Records around a time',
    description: 'The records around one record or one time, oldest first; lines as in a search.',
    parameters: documentParameters(AROUND_ROWS),
    response: { contentType: 'application/x-ndjson', schema: 'ClusterItem', each: 'line' },
    errors: [
      ...SELECTION_ERRORS,
      'CURSOR_INVALID',
      'CURSOR_GONE',
      'BODY_TOO_LARGE',
      'CONTENT_TYPE_UNSUPPORTED',
      'ARCHIVE_UNAVAILABLE',
      'NOT_SUPPORTED',
      'TOO_MANY_STREAMS',
      'TOO_MANY_SEARCHES',
    ],
    stream: true,
  },
} as const satisfies Record<string, Route>;
