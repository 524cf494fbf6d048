import { BUNDLE_ROWS } from '../params/cluster-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { PATHS } from './paths.ts';
import type { Route } from './route.ts';

/** All that an operator attaches to a ticket. */
export const BUNDLE_ROUTES = {
  bundle: {
    path: PATHS.bundle,
    role: 'admin',
    summary: 'Download a support bundle',
    description:
      'Configurations, their differences, logs of a time, counts and health of all members as one ZIP archive, as it is made. Its last file, `manifest.json`, tells what the others are, their SHA-256, and what is missing. Secrets are masked as in all other answers. One at a time.',
    parameters: documentParameters(BUNDLE_ROWS),
    response: { contentType: 'application/zip' },
    errors: ['PARAMETER_INVALID', 'MEMBER_NOT_FOUND', 'REQUEST_LOOP', 'TOO_MANY_STREAMS', 'BUNDLE_UNDER_WAY'],
    stream: true,
  },
} as const satisfies Record<string, Route>;
