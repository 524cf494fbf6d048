import { BUNDLE_ROWS } from '../params/cluster-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { PATHS } from './paths.ts';
import type { Route } from './route.ts';

/** What an operator attaches to a support ticket. */
export const BUNDLE_ROUTES = {
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
