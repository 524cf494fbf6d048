import type { CommandDefinition, CommandModule, FlagDefinition } from './command-definition.ts';
import { ARCHIVE_COMMAND } from './commands/archive/definition.ts';
import { CONFIG_COMMAND } from './commands/config/definition.ts';
import { DEMO_COMMAND } from './commands/demo/definition.ts';
import { LOGS_COMMAND } from './commands/logs/definition.ts';
import { EXIT } from './exit.ts';
import { checkSpan, checkTokenOwner, checkTokenRoles } from './flag-checks.ts';
import { parameterFlags } from './parameter-flags.ts';
import {
  GLOBAL_FLAGS,
  NODE_FLAGS,
  NODE_OUTPUT_FLAGS,
  NODES_ARGUMENT,
  OUTPUT_FLAGS,
  outputFlag,
  PAGED_NODE_FLAGS,
  PAGER_FLAG,
  SHOWN_ZONE_FLAGS,
} from './shared-flags.ts';

const SERVE_COMMAND: CommandDefinition = {
  name: 'serve',
  about: 'run a node; without flags it serves its own logs and settings on http://127.0.0.1:7300/',
  flags: async () => (await import('./commands/serve/setting-flags.ts')).SERVE_FLAGS,
  notes: [
    'Flags override environment variables (PORTHOLE_HTTP_PORT, ...), which override the settings file.\n' +
      'Exit codes: 0 stopped by SIGTERM or SIGINT, 2 could not start, 130 or 143 killed by a second signal.',
  ],
  examples: [
    ['porthole serve', 'serve this node itself'],
    [
      'porthole serve --log-dir /var/log/lindb --service-config /etc/lindb.toml',
      'serve the logs and configuration of a service',
    ],
    ['porthole serve --config porthole.toml --http-port 0 --grpc-port 0', 'settings from a file, free ports'],
  ],
  load: () => import('./commands/serve/serve.ts'),
};

const NODES_COMMAND: CommandDefinition = {
  name: 'nodes',
  about: 'list the nodes of the cluster with their state, clock offset and recent errors',
  flags: [
    outputFlag(['table', 'json', 'names'], 'output format; json prints one node per line'),
    ...parameterFlags('logSearch', ['label']),
    { long: 'by', value: 'label', about: 'group the nodes by their value of this label' },
    ...SHOWN_ZONE_FLAGS.map((flag) =>
      flag.long === 'utc' ? flag : { ...flag, default: "the system's", about: 'show times in this zone' },
    ),
    ...NODE_OUTPUT_FLAGS,
    PAGER_FLAG,
  ],
  isPaged: true,
  notes: [
    'Missing nodes are marked with !, and stderr shows the reason. STATE is up, unreachable (registered but not responding), failed (its registration expired without a clean shutdown), unregistered (the same, but it responds), left (shut down cleanly), degraded (up, but a health check fails), or unknown (not responding while the registry is unavailable). CLOCK is the offset of its clock from the clock of the queried node, with the uncertainty. ERRORS counts records of level error and above in the last 15 minutes.\n' +
      'Exit codes: 0 all nodes except those that left are up and healthy, 2 error, 3 some are not.',
  ],
  examples: [
    ['porthole nodes', 'the cluster of the local node'],
    ['porthole nodes --by zone', 'zone by zone'],
    ['porthole nodes --label zone=eu-* --label rack=7', 'the nodes of a rack in the zones of a region'],
    ['porthole nodes --url http://10.8.0.21:7300 -o names', 'only the ids'],
  ],
  commands: [
    {
      name: 'forget',
      about:
        'remove a node that left or failed from the list, with what was recorded of it, on every node of the cluster',
      args: [{ name: 'node', complete: 'node', about: 'the id of the node' }],
      flags: [{ long: 'yes', short: 'y', about: 'do not ask; needed if there is no terminal' }, ...NODE_OUTPUT_FLAGS],
      notes: [
        'Says what will be deleted, and asks first. Needs the admin role if authentication is enabled. A node that is still registered cannot be forgotten; one that registers again reappears. Nodes are forgotten automatically after cluster.record-keep.\n' +
          'Exit codes: 0 forgotten, 1 not confirmed, 2 error, 3 some nodes did not respond and may still list it.',
      ],
      examples: [['porthole nodes forget storage-3', 'storage-3 was decommissioned']],
      load: () => import('./commands/nodes/forget.ts'),
    },
  ],
  load: () => import('./commands/nodes/nodes.ts'),
};

const NOTIFY_COMMAND: CommandDefinition = {
  name: 'notify',
  about: 'check where events are sent to',
  commands: [
    {
      name: 'test',
      about: 'send a test event to each webhook of notify.webhook',
      flags: async () => {
        const { SERVE_FLAGS } = await import('./commands/serve/setting-flags.ts');
        return [...SERVE_FLAGS.filter(({ long }) => /^(?:config$|notify-)/.test(long)), ...OUTPUT_FLAGS];
      },
      notes: [
        'Reads the settings of "porthole serve" from flags, environment and settings file, and sends from here.\n' +
          'Exit codes: 0 all delivered, 1 some are not, 2 error.',
      ],
      examples: [['porthole notify test --config /etc/porthole.toml', 'with the settings of a node']],
      load: () => import('./commands/notify.ts'),
    },
  ],
};

const EVENTS_COMMAND: CommandDefinition = {
  name: 'events',
  about: 'what happened to the nodes: starts, stops, kills, changes of configurations',
  args: [NODES_ARGUMENT],
  flags: [
    ...parameterFlags('events', ['since', 'until', 'kind', 'role', 'label', 'follow']),
    ...parameterFlags('events', ['limit'], { default: '50', about: 'the newest n events' }),
    outputFlag(['table', 'json'], 'output format; json prints one event per line'),
    ...PAGED_NODE_FLAGS,
  ],
  isPaged: true,
  notes: ['Oldest first.\n' + 'Exit codes: 0 found, 1 nothing happened, 2 error, 3 some nodes did not respond.'],
  examples: [
    ['porthole events -S 1h', 'the last hour of the cluster'],
    ['porthole events --kind config-changed --kind killed', 'changes and crashes'],
    ['porthole events "storage-*" -f', 'some nodes, as it happens'],
  ],
  load: () => import('./commands/events.ts'),
};

const INCIDENT_COMMAND: CommandDefinition = {
  name: 'incident',
  about: 'report what happened: the most unusual stretch of a time range, what came before it and what stands out',
  args: [NODES_ARGUMENT],
  flags: [
    ...parameterFlags('incident', ['from', 'to', 'query', 'role', 'label']),
    {
      long: 'last',
      value: 'span',
      check: checkSpan,
      default: '1h',
      about: 'look at the time up to --to, or up to now',
    },
    outputFlag(['text', 'json', 'markdown', 'html'], 'output format; html is a page that needs nothing else'),
    ...PAGED_NODE_FLAGS,
  ],
  isPaged: true,
  notes: ['Exit codes: 0 something unusual, 1 nothing unusual, 2 error, 3 some of it could not be read.'],
  examples: [
    ['porthole incident', 'what happened in the last hour'],
    ['porthole incident --from 03:00 --to 04:00', 'that night'],
    ['porthole incident --last 6h -o html > incident.html', 'a report to send to others'],
  ],
  load: () => import('./commands/incident.ts'),
};

const BUNDLE_COMMAND: CommandDefinition = {
  name: 'bundle',
  about:
    'download a support bundle: configurations, logs of a time range, counts and health of all nodes in one archive',
  args: [NODES_ARGUMENT],
  flags: [
    ...parameterFlags('bundle', ['since', 'until', 'role', 'label']),
    {
      long: 'output',
      short: 'o',
      value: 'file',
      complete: 'file',
      default: 'porthole-bundle-CLUSTER-TIME.zip in the working directory',
      about: 'output file, or - for stdout; an existing file is not overwritten',
    },
    ...SHOWN_ZONE_FLAGS.map((flag) => (flag.long === 'utc' ? flag : { ...flag, about: 'read times in this zone' })),
    ...NODE_OUTPUT_FLAGS,
  ],
  notes: [
    'The nodes mask secrets. The archive is verified against the hashes of its manifest, renamed, and its name printed on stdout. Needs the admin role.\n' +
      'Exit codes: 0 complete, 2 error, 3 something is missing or truncated; stderr and the manifest list it.',
  ],
  examples: [
    ['porthole bundle', 'the last hour of all nodes'],
    ['porthole bundle -S "14:00" -U "14:30" "broker-*"', 'half an hour of the brokers'],
    ['porthole bundle -o - | ssh desk "cat > ticket-4711.zip"', 'to another machine'],
  ],
  commands: [
    {
      name: 'verify',
      about: 'check the files of a bundle against the hashes of its manifest and list what is missing',
      args: [{ name: 'file', about: 'the bundle', complete: 'file' }],
      flags: OUTPUT_FLAGS,
      notes: [
        'Exit codes: 0 intact and complete, 2 damaged, or not a bundle, 3 intact, but something was missing when it was created.',
      ],
      examples: [
        ['porthole bundle verify porthole-bundle-prod-20261115T120000Z.zip', 'check a bundle before using it'],
      ],
      load: () => import('./commands/bundle/verify.ts'),
    },
  ],
  load: () => import('./commands/bundle/bundle.ts'),
};

const DOCTOR_COMMAND: CommandDefinition = {
  name: 'doctor',
  about:
    'check settings, directories, permissions, clock, ports and TLS, and suggest fixes; exit code 1 if there are problems',
  flags: async () => {
    const { SERVE_FLAGS } = await import('./commands/serve/setting-flags.ts');
    return [outputFlag(['text', 'json']), ...OUTPUT_FLAGS, ...SERVE_FLAGS];
  },
  notes: [
    'Takes the flags, environment and settings file of "porthole serve" and checks whether it would start and work with them.',
  ],
  examples: [
    ['porthole doctor', 'the default settings'],
    ['porthole doctor --config /etc/porthole.toml', 'check this settings file'],
  ],
  load: () => import('./commands/doctor.ts'),
};

const CONFORM_COMMAND: CommandDefinition = {
  name: 'conform',
  about: 'test whether a node implements the node state interface: any node, of any database, in any language',
  args: [{ name: 'url', about: 'address of the node' }],
  flags: [
    {
      long: 'log-dir',
      value: 'dir',
      complete: 'directory',
      default: 'nothing is written',
      about: 'the log directory of the node, as this machine sees it; test files are written there and removed again',
    },
    {
      long: 'profile',
      value: 'name',
      choices: ['porthole', 'lindb-0.4'],
      about: 'what the interface leaves open must be as in this implementation',
    },
    {
      long: 'check-timeout',
      complete: ['10s', '30s', '2m'],
      value: 'duration',
      check: checkSpan,
      default: '30s',
      about: 'a check that takes longer has failed; after ten times as long, no other one begins',
    },
    outputFlag(['tap', 'json']),
    ...NODE_FLAGS.filter(({ long }) => long.endsWith('-file')),
    ...OUTPUT_FLAGS,
  ],
  notes: [
    'Core cases check what the interface says, robust ones (with --log-dir) what happens to log files, and open points are measured and reported. Sends GET and HEAD, and POST without a body, which must be refused. docs/conformance.md describes every case.\n' +
      'Exit codes: 0 conforms, 1 a case failed, 2 error.',
  ],
  examples: [
    ['porthole conform http://10.8.0.21:9000', 'only reads'],
    ['porthole conform http://127.0.0.1:7300 --log-dir /var/log/db', 'also what happens to log files'],
    ['porthole conform http://127.0.0.1:9000 --profile lindb-0.4 -o json', 'compared with LinDB, as JSON'],
  ],
  load: () => import('./commands/conform/conform.ts'),
};

/** A context keeps the paths of these files. */
const FILE_FLAGS = NODE_FLAGS.filter(({ long }) => long.endsWith('-file')).map(
  ({ default: _default, ...flag }): FlagDefinition =>
    flag.long === 'token-file' ? { ...flag, about: 'file with the token for the node' } : flag,
);

const NAME = { name: 'name', about: 'the name of the context', complete: 'context' } as const;

function loadCommand(name: keyof typeof import('./commands/context.ts')): () => Promise<CommandModule> {
  return async () => ({ run: (await import('./commands/context.ts'))[name] });
}

const CONTEXT_COMMAND: CommandDefinition = {
  name: 'context',
  about: 'name nodes with their addresses and credentials, for -c NAME and PORTHOLE_CONTEXT',
  notes: [
    'Contexts are in $XDG_CONFIG_HOME/porthole/contexts.json (~/.config), readable by its owner only. They name the files of credentials, which are sent to the address of the context only.',
  ],
  commands: [
    {
      name: 'add',
      about: 'add a context',
      args: [
        { name: 'name', about: 'letters, digits, dots, dashes and underscores' },
        { name: 'url', about: 'address of the node' },
      ],
      flags: [...FILE_FLAGS, { long: 'force', about: 'replace the context of this name' }, ...OUTPUT_FLAGS],
      examples: [
        ['porthole context add prod https://n1:7300 --token-file token --ca-file ca.pem', 'a node with TLS'],
        ['porthole nodes -c prod', 'its cluster'],
      ],
      load: loadCommand('addContext'),
    },
    {
      name: 'list',
      about: 'list the contexts; * marks the one in use',
      flags: [outputFlag(['table', 'json', 'names']), ...OUTPUT_FLAGS],
      load: loadCommand('listContexts'),
    },
    {
      name: 'show',
      about: 'print one context, by default the one in use',
      args: [{ ...NAME, optional: true }],
      flags: [outputFlag(['text', 'json']), ...OUTPUT_FLAGS],
      load: loadCommand('showContext'),
    },
    {
      name: 'use',
      about: 'use a context where no --url, -c, PORTHOLE_URL or PORTHOLE_CONTEXT names another node',
      args: [NAME],
      flags: OUTPUT_FLAGS,
      load: loadCommand('useContext'),
    },
    {
      name: 'remove',
      about: 'remove a context; its files are kept',
      args: [NAME],
      flags: OUTPUT_FLAGS,
      load: loadCommand('removeContext'),
    },
  ],
};

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
    EVENTS_COMMAND,
    INCIDENT_COMMAND,
    NOTIFY_COMMAND,
    BUNDLE_COMMAND,
    ARCHIVE_COMMAND,
    DOCTOR_COMMAND,
    CONFORM_COMMAND,
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
      load: async () => {
        const { createToken } = await import('@porthole/server/tokens');
        return {
          async run(invocation) {
            const [name = ''] = invocation.args;
            const { token, line } = createToken(name, invocation.text('roles')?.split(',') ?? []);
            console.error(`token for ${name}, shown only now: ${token}`);
            await invocation.terminal.write(`${line}\n`);
            return EXIT.ok;
          },
        };
      },
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
      load: async () => (await import('./completion/completed-command.ts')).printScript(COMMAND_TREE),
    },
    {
      name: 'version',
      about: 'print the version of this program and of Node.js',
      // Prints the same as bin/porthole.cjs, for command lines that it does not handle itself.
      load: async () => {
        const { ownVersion } = await import('@porthole/server/version');
        return {
          async run({ terminal }) {
            await terminal.write(`porthole ${ownVersion()} (node ${process.versions.node})\n`);
            return EXIT.ok;
          },
        };
      },
    },
  ],
};
