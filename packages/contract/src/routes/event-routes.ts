import { CLUSTER_LAST_EVENT_ID_ROW } from '../params/cluster-parameters.ts';
import {
  CLUSTER_EVENT_ROWS,
  CLUSTER_HISTORY_ROWS,
  CLUSTER_INCIDENT_ROWS,
  EVENT_ROWS,
  HISTORY_OWN_ROWS,
  INCIDENT_ROWS,
  VERSION_ROW,
} from '../params/event-parameters.ts';
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
] as const;

const INCIDENT_PARTS =
  'The most unusual stretch of the time range: what happened in which order, what stands out against the hour before and the other nodes, with the numbers behind it, and what was not read. Values of settings are in it only for the role `config`.';

/** What happened: events, the history of configurations, and incidents. */
export const EVENT_ROUTES = {
  events: {
    path: PATHS.events,
    role: 'viewer',
    summary: 'List events',
    description: `What happened to the node: starts, stops and kills, changes of its configuration, a clock that was set, a disk that is nearly full. ${EVENTS_ARE_RECORDS}`,
    parameters: documentParameters([...EVENT_ROWS, LAST_EVENT_ID_ROW]),
    response: { contentType: 'application/x-ndjson', schema: 'SearchItem', each: 'line' },
    errors: EVENT_ERRORS,
    stream: true,
  },
  configHistory: {
    path: PATHS.configHistory,
    role: 'config',
    summary: 'List past configurations',
    description:
      'Every configuration that the node has had, newest first: since when, until when, and what changed. Secrets are masked; a change of a secret alone is not seen.',
    parameters: documentParameters(HISTORY_OWN_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ConfigHistory' },
    errors: ['PARAMETER_INVALID', 'NOT_SUPPORTED'],
  },
  configVersion: {
    path: PATHS.configVersion,
    role: 'config',
    summary: 'Get a past configuration',
    description: 'A configuration of the history as it was served.',
    parameters: documentParameters([VERSION_ROW]),
    response: { contentType: JSON_TYPE, schema: 'ConfigVersion' },
    errors: ['CONFIG_VERSION_NOT_FOUND', 'NOT_SUPPORTED'],
  },
  clusterEvents: {
    path: PATHS.clusterEvents,
    role: 'viewer',
    summary: 'List events of all members',
    description: `The events of all members, merged by time. ${EVENTS_ARE_RECORDS}`,
    parameters: documentParameters([...CLUSTER_EVENT_ROWS, CLUSTER_LAST_EVENT_ID_ROW]),
    response: { contentType: 'application/x-ndjson', schema: 'ClusterItem', each: 'line' },
    errors: [...EVENT_ERRORS, 'MEMBER_NOT_FOUND', 'REQUEST_LOOP'],
    stream: true,
  },
  clusterConfigHistory: {
    path: PATHS.clusterConfigHistory,
    role: 'config',
    summary: 'List past configurations of all members',
    description: 'The history of the configuration of each member.',
    parameters: documentParameters(CLUSTER_HISTORY_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ClusterConfigHistory' },
    errors: ['PARAMETER_INVALID', 'MEMBER_NOT_FOUND', 'REQUEST_LOOP'],
  },
  incident: {
    path: PATHS.incident,
    role: 'viewer',
    summary: 'Report what happened',
    description: `${INCIDENT_PARTS} Of this node only.`,
    parameters: documentParameters(INCIDENT_ROWS),
    response: { contentType: JSON_TYPE, schema: 'Incident' },
    errors: INCIDENT_ERRORS,
  },
  clusterIncident: {
    path: PATHS.clusterIncident,
    role: 'viewer',
    summary: 'Report what happened on all members',
    description: INCIDENT_PARTS,
    parameters: documentParameters(CLUSTER_INCIDENT_ROWS),
    response: { contentType: JSON_TYPE, schema: 'Incident' },
    errors: [...INCIDENT_ERRORS, 'MEMBER_NOT_FOUND', 'REQUEST_LOOP'],
  },
} as const satisfies Record<string, Route>;
