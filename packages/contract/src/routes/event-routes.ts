import { EVENT_ROWS, HISTORY_ROWS, INCIDENT_ROWS, VERSION_NODE_ROW, VERSION_ROW } from '../params/event-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { LAST_EVENT_ID_ROW } from '../params/record-parameters.ts';
import { JSON_TYPE, PATHS, type Route } from './route.ts';

const EVENT_ERRORS = [
  'PARAMETER_INVALID',
  'QUERY_INVALID',
  'REGEX_INVALID',
  'REGEX_TOO_COMPLEX',
  'CURSOR_INVALID',
  'CURSOR_GONE',
  'BODY_TOO_LARGE',
  'CONTENT_TYPE_UNSUPPORTED',
  'TOO_MANY_STREAMS',
  'TOO_MANY_SEARCHES',
  'NOT_SUPPORTED',
  'MEMBER_NOT_FOUND',
  'REQUEST_LOOP',
] as const;

const EVENTS_ARE_RECORDS =
  'Each is a record, in lines as in a search; its `context` has the `kind` and what else is known of it.';

const INCIDENT_ERRORS = [
  'PARAMETER_INVALID',
  'QUERY_INVALID',
  'REGEX_INVALID',
  'REGEX_TOO_COMPLEX',
  'TOO_MANY_SEARCHES',
  'NOT_SUPPORTED',
  'MEMBER_NOT_FOUND',
  'REQUEST_LOOP',
] as const;

const INCIDENT_PARTS =
  'The most unusual stretch of the time range: what happened in which order, what stands out against the hour before and the other nodes, with the numbers behind it, and what was not read. Values of settings are in it only for the role `config`.';

/** What happened: events, the history of configurations, and incidents. */
export const EVENT_ROUTES = {
  events: {
    path: PATHS.events,
    role: 'viewer',
    summary: 'List events',
    description: `What happened to nodes: starts, stops and kills, changes of a configuration, a clock that was set, a disk that is nearly full. ${EVENTS_ARE_RECORDS}`,
    parameters: documentParameters([...EVENT_ROWS, LAST_EVENT_ID_ROW]),
    response: { contentType: 'application/x-ndjson', schema: 'ClusterItem', each: 'line' },
    errors: EVENT_ERRORS,
    stream: true,
  },
  configHistory: {
    path: PATHS.configHistory,
    role: 'config',
    summary: 'List past configurations',
    description:
      'Every configuration that each node has had, newest first: since when, until when, and what changed. Secrets are masked; a change of a secret alone is not seen.',
    parameters: documentParameters(HISTORY_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ClusterConfigHistory' },
    errors: ['PARAMETER_INVALID', 'NOT_SUPPORTED', 'MEMBER_NOT_FOUND', 'REQUEST_LOOP'],
  },
  configVersion: {
    path: PATHS.configVersion,
    role: 'config',
    summary: 'Get a past configuration',
    description:
      'A configuration of the history of one node as it was served; of a node that does not respond, as it was recorded.',
    parameters: documentParameters([VERSION_ROW, VERSION_NODE_ROW]),
    response: { contentType: JSON_TYPE, schema: 'ConfigVersion' },
    errors: [
      'CONFIG_VERSION_NOT_FOUND',
      'NOT_SUPPORTED',
      'PARAMETER_INVALID',
      'MEMBER_NOT_FOUND',
      'REQUEST_LOOP',
      'UNREACHABLE',
    ],
  },
  incident: {
    path: PATHS.incident,
    role: 'viewer',
    summary: 'Report what happened',
    description: INCIDENT_PARTS,
    parameters: documentParameters(INCIDENT_ROWS),
    response: { contentType: JSON_TYPE, schema: 'Incident' },
    errors: INCIDENT_ERRORS,
  },
} as const satisfies Record<string, Route>;
