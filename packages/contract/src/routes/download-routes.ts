import { MAX_SOURCES } from '../requests/download-request.ts';
import { flag, text } from './parameter-builders.ts';
import { PATHS } from './paths.ts';
import { FILTER_PARAMETERS } from './record-parameters.ts';
import { JSON_TYPE, type Route } from './route.ts';

const OF_ONE_LOG = new Set(['file', 'family']);

/** What a browser saves to disk by itself. */
export const DOWNLOAD_ROUTES = {
  clusterLogDownload: {
    path: PATHS.clusterLogDownload,
    role: 'viewer',
    summary: 'Download records of all members',
    description:
      'Every record that meets all conditions, however many, oldest first, merged by time, as text: each as it stands in its file. The last line begins with `# porthole: complete` or `# porthole: INCOMPLETE` and says what is missing; a file without it was cut.',
    parameters: [
      {
        ...text(
          'src',
          `Logs to read: \`NODE\`, \`NODE/FAMILY\` or \`NODE/=FILE\`; NODE may have \`*\` and \`?\`. May be given up to ${MAX_SOURCES} times; without it, all logs of all members.`,
        ),
        repeated: true,
      },
      ...FILTER_PARAMETERS.filter(({ name }) => !OF_ONE_LOG.has(name)),
      flag('prefix', 'Begin each record with the id of its node and a colon.'),
      text('ticket', 'Stands for the `Authorization` header; must be the last parameter.'),
    ],
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
      'A ticket for one download, for browsers, which send no token with a link: added to that URL as its last parameter `ticket`, it stands for the `Authorization` header of this request, once and only for a short time. Of `/log/raw` and `/cluster/log/download`.',
    parameters: [{ ...text('for', 'Path and query of the download.'), required: true }],
    response: { contentType: JSON_TYPE, schema: 'DownloadTicket' },
    errors: ['PARAMETER_INVALID'],
  },
} as const satisfies Record<string, Route>;
