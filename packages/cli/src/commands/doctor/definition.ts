import type { CommandDefinition } from '../../command-definition.ts';
import { OUTPUT_FLAGS } from '../../shared-flags.ts';

export const DOCTOR_COMMAND: CommandDefinition = {
  name: 'doctor',
  about:
    'check settings, directories, permissions, clock, ports and TLS, and suggest fixes; exit code 1 if there are problems',
  flags: async () => {
    const { SERVE_FLAGS } = await import('../serve/setting-flags.ts');
    const output = {
      long: 'output',
      short: 'o',
      value: 'format',
      choices: ['text', 'json'],
      default: 'text',
      about: 'output format',
    } as const;
    return [output, ...OUTPUT_FLAGS, ...SERVE_FLAGS];
  },
  notes: [
    'Takes the flags, environment and settings file of "porthole serve" and checks whether it would start and work with them.',
  ],
  examples: [
    ['porthole doctor', 'the default settings'],
    ['porthole doctor --config /etc/porthole.toml', 'check this settings file'],
  ],
  load: () => import('./doctor.ts'),
};
