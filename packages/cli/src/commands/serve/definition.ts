import type { CommandDefinition } from '../../command-definition.ts';

export const SERVE_COMMAND: CommandDefinition = {
  name: 'serve',
  about: 'run a node; without flags it serves its own logs and settings on http://127.0.0.1:7300/',
  flags: async () => (await import('./setting-flags.ts')).SERVE_FLAGS,
  notes: [
    'Flags override environment variables (PORTHOLE_HTTP_PORT, ...), which override the settings file.\n' +
      'Exit codes: 0 stopped by SIGTERM or SIGINT, 2 could not start, 130 or 143 killed by a second signal.',
  ],
  examples: [
    ['porthole serve', 'serve this node itself'],
    [
      'porthole serve --log-dir /var/log/lindb --service-config /etc/lindb/broker.toml',
      'serve the logs and configuration of a service',
    ],
    ['porthole serve --config porthole.toml --http-port 0 --grpc-port 0', 'settings from a file, free ports'],
  ],
  load: () => import('./serve.ts'),
};
