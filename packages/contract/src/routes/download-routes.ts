import { BUNDLE_ROWS, DOWNLOAD_ROWS, TICKET_FOR_ROW, TICKET_ROW } from '../params/cluster-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { PATHS } from './paths.ts';
import { JSON_TYPE, type Route } from './route.ts';

/** Downloads: records as text, tickets for browsers, support bundles. */
export const DOWNLOAD_ROUTES = {
  clusterLogDownload: {
    path: PATHS.clusterLogDownload,
    role: 'viewer',
    summary: 'Download records of all members',
    description:
      'Every record that meets all conditions, however many, oldest first, merged by time, as text: each exactly as in its file. The last line begins with `# porthole: complete` or `# porthole: INCOMPLETE` and says what is missing; a file without it is truncated.',
    parameters: documentParameters([...DOWNLOAD_ROWS, TICKET_ROW]),
    response: { contentType: 'text/plain; charset=utf-8' },
    errors: [
      'PARAMETER_INVALID',
      'MEMBER_NOT_FOUND',
      'REQUEST_LOOP',
      'REGEX_INVALID',
      'REGEX_TOO_COMPLEX',
      'TOO_MANY_STREAMS',
      'TOO_MANY_SEARCHES',
    ],
    stream: true,
  },
  downloadTicket: {
    path: PATHS.downloadTicket,
    role: 'any',
    summary: 'Get a download ticket',
    description:
      'A ticket for one download, for browsers, which send no token with a link: added to that URL as its last parameter `ticket`, it stands for the `Authorization` header of this request, once and for a short time. For `/log/raw` and `/cluster/log/download`.',
    parameters: documentParameters([TICKET_FOR_ROW]),
    response: { contentType: JSON_TYPE, schema: 'DownloadTicket' },
    errors: ['PARAMETER_INVALID'],
  },
  bundle: {
    path: PATHS.bundle,
    role: 'admin',
    summary: 'Download a support bundle',
    description:
      'Configurations, their differences, logs of a time range, counts and health of all members as one ZIP archive, streamed while it is created. Its last file, `manifest.json`, lists the others with their SHA-256, and what is missing. Secrets are masked as in all other responses. One at a time.',
    parameters: documentParameters(BUNDLE_ROWS),
    response: { contentType: 'application/zip' },
    errors: ['PARAMETER_INVALID', 'MEMBER_NOT_FOUND', 'REQUEST_LOOP', 'TOO_MANY_STREAMS', 'BUNDLE_UNDER_WAY'],
    stream: true,
  },
} as const satisfies Record<string, Route>;
