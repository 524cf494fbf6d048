import {
  DEFAULT_AROUND_RECORDS,
  DEFAULT_AROUND_SPAN,
  MAX_NODE_PATTERNS,
  MEMBER_ID,
  RESUME_OVERLAP_MS,
} from '../requests/cluster-request.ts';
import { number, text } from './parameter-builders.ts';
import { DIGEST_PARAMETERS, FOLLOW_PARAMETERS, HISTOGRAM_PARAMETERS, SEARCH_PARAMETERS } from './record-parameters.ts';
import type { RouteParameter } from './route.ts';

/** Which members are asked. */
export const SELECTION_PARAMETERS: readonly RouteParameter[] = [
  {
    ...text(
      'nodes',
      `Only this member: its id, or a pattern with \`*\` and \`?\`. May be given up to ${MAX_NODE_PATTERNS} times.`,
    ),
    repeated: true,
  },
  text('role', 'Only members of this role.'),
];

/** Places in the files of one member, which mean nothing to the others. */
const SINGLE_NODE_PARAMETERS = new Set(['record', 'offset', 'until']);

export const CLUSTER_SEARCH_PARAMETERS: readonly RouteParameter[] = [
  ...SELECTION_PARAMETERS,
  ...SEARCH_PARAMETERS.filter(({ name }) => !SINGLE_NODE_PARAMETERS.has(name)).map((parameter) =>
    parameter.name === 'cursor'
      ? text('cursor', 'Go on here: the `cursor` of the end of an earlier answer. Of `cursor` and `time` give one.')
      : parameter,
  ),
];

export const CLUSTER_FOLLOW_PARAMETERS: readonly RouteParameter[] = [
  ...SELECTION_PARAMETERS,
  ...FOLLOW_PARAMETERS.filter(({ in: location, name }) => location === 'query' && name !== 'cursor' && name !== 'time'),
  text('time', 'Start at this time, written like `from`.'),
  text(
    'positions',
    'Continue behind these records: `@`, then `id=cursor` of each member, joined by `|`; a cursor is that of the last record of a log, several logs joined by `~`, written with percent signs. What is not named starts at `time`.',
  ),
  {
    ...text(
      'Last-Event-ID',
      `The \`id\` of the last event seen: goes on ${RESUME_OVERLAP_MS / 1000} seconds before it, whatever the other start is.`,
    ),
    in: 'header',
  },
];

export const CLUSTER_HISTOGRAM_PARAMETERS: readonly RouteParameter[] = [
  ...SELECTION_PARAMETERS,
  ...HISTOGRAM_PARAMETERS,
];

export const CLUSTER_DIGEST_PARAMETERS: readonly RouteParameter[] = [...SELECTION_PARAMETERS, ...DIGEST_PARAMETERS];

export const AROUND_PARAMETERS: readonly RouteParameter[] = [
  ...SELECTION_PARAMETERS,
  text('node', 'The member whose record `cursor` names.'),
  text('cursor', 'The record around which to look; needs `node`. Give this or `time`.'),
  text('time', 'The time around which to look, by the clock of the node that answers.'),
  text('before', `How long before it, like \`30s\`; \`${DEFAULT_AROUND_SPAN}\` unless told.`),
  text('after', `How long after it, like \`30s\`; \`${DEFAULT_AROUND_SPAN}\` unless told.`),
  number(
    'limit',
    { minimum: 1 },
    `At most so many records of each member, those next to the moment; ${DEFAULT_AROUND_RECORDS} unless told.`,
  ),
];

export const MEMBER_ID_PARAMETER: RouteParameter = {
  name: 'id',
  in: 'path',
  required: true,
  type: 'string',
  pattern: MEMBER_ID.source,
  description: 'Id of the member, as `/api/v1/cluster/nodes` tells it.',
};
