import type { CommandDefinition } from './command-definition.ts';
import { ARCHIVE_COMMAND } from './commands/archive/definition.ts';
import { BUNDLE_COMMAND } from './commands/bundle/definition.ts';
import { CONFIG_COMMAND } from './commands/config/definition.ts';
import { CONTEXT_COMMAND } from './commands/context/definition.ts';
import { DEMO_COMMAND } from './commands/demo/definition.ts';
import { DOCTOR_COMMAND } from './commands/doctor/definition.ts';
import { LOGS_COMMAND } from './commands/logs/definition.ts';
import { NODES_COMMAND } from './commands/nodes/definition.ts';
import { SERVE_COMMAND } from './commands/serve/definition.ts';
import { checkTokenOwner, checkTokenRoles } from './flag-checks.ts';
import { GLOBAL_FLAGS, NODE_FLAGS } from './shared-flags.ts';

/** All commands. Help, completion, docs/cli.md and the parser are generated from it. */
export const COMMAND_TREE: CommandDefinition = {
  name: 'porthole',
  about: 'A window into every node of a cluster: what it is configured to do, and what it is saying.',
  flags: GLOBAL_FLAGS,
  notes: ['Exit codes: 0 ok, 1 no match or a difference, 2 error, 3 partial, 130 interrupted, 143 terminated.'],
  commands: [
    SERVE_COMMAND,
    DEMO_COMMAND,
    NODES_COMMAND,
    CONFIG_COMMAND,
    LOGS_COMMAND,
    BUNDLE_COMMAND,
    ARCHIVE_COMMAND,
    DOCTOR_COMMAND,
    CONTEXT_COMMAND,
    {
      name: 'token',
      about: 'create a bearer token: prints the token once to stderr and its line for auth.token-file to stdout',
      args: [{ name: 'name', about: 'owner of the token; appears in logs', check: checkTokenOwner }],
      flags: [
        {
          long: 'roles',
          value: 'list',
          check: checkTokenRoles,
          complete: ['viewer', 'config', 'viewer,config', 'admin', 'none'],
          default: 'all',
          about: 'what the token may read: viewer (logs), config (configurations), admin (everything), or none',
        },
      ],
      examples: [
        ['porthole token ann >> tokens', 'add a token with all roles'],
        ['porthole token grafana --roles viewer >> tokens', 'add one that may only read logs'],
        ['porthole serve --auth-token-file tokens --http-host 0.0.0.0', 'start a node that accepts these tokens'],
      ],
      load: () => import('./commands/token.ts'),
    },
    {
      name: 'mcp',
      about: 'serve the Model Context Protocol on standard input and output, for an assistant that starts this program',
      flags: NODE_FLAGS,
      notes: ['The assistant gets tools that only read; docs/assistants.md lists them.'],
      examples: [['porthole mcp -c prod', 'the command to enter in the settings of the assistant']],
      load: () => import('./commands/mcp.ts'),
    },
    {
      name: 'completion',
      about: 'print the shell completion script',
      args: [{ name: 'shell', about: 'bash, zsh or fish', complete: ['bash', 'zsh', 'fish'] }],
      examples: [
        ['source <(porthole completion bash)', 'for this shell'],
        ['porthole completion fish > ~/.config/fish/completions/porthole.fish', 'permanently'],
      ],
      load: () => import('./commands/completion.ts'),
    },
    {
      name: 'version',
      about: 'print the version of this program and of Node.js',
      load: () => import('./commands/version.ts'),
    },
  ],
};
