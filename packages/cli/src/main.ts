import { existsSync } from 'node:fs';
import { CommanderError } from 'commander';
import type { CommandDefinition } from './command-definition.ts';
import { COMMAND_TREE } from './command-tree.ts';
import { EXIT, interruptionIn, ProgramError } from './exit.ts';
import { type FlagValue, Invocation } from './invocation.ts';
import { type ColorChoice, Terminal, TerminalFilter } from './output/terminal.ts';
import { buildProgram, expandHabit, expandHelp, VERSION_REQUESTED } from './program.ts';

/** What completion scripts call: no command for people, so not among the commands. */
const COMPLETE = '__complete';

/** Runs one command line and sets the exit code; the process ends when the command is done. */
export async function run(argv: readonly string[]): Promise<void> {
  const filter = new TerminalFilter().install();
  endWithOutput();
  try {
    if (argv[2] === COMPLETE) return await (await import('./completion/complete.ts')).complete(argv.slice(3), filter);
    const line = expandHelp(withoutHabit(argv), COMMAND_TREE);
    const program = await buildProgram(COMMAND_TREE, line, (...command) => runCommand(filter, ...command));
    // Not a default action: it would take a mistyped command for its argument.
    if (line.length <= 2) program.help();
    await program.parseAsync(line);
  } catch (error) {
    if (error instanceof CommanderError && error.code === VERSION_REQUESTED)
      return run([...argv.slice(0, 2), 'version']);
    process.exitCode = reportError(error);
  }
}

/** A word of habit is replaced by the command that it means, unless it is a file here. */
function withoutHabit(argv: readonly string[]): readonly string[] {
  const habit = expandHabit(argv);
  if (habit === undefined || (argv[2] === 'logs' && existsSync(argv[3] ?? ''))) return argv;
  if (!argv.some((word) => word === '-q' || word === '--quiet')) console.error(`porthole: ${habit.note}`);
  return habit.argv;
}

async function runCommand(
  filter: TerminalFilter,
  definition: CommandDefinition,
  args: string[],
  flags: Record<string, FlagValue>,
): Promise<void> {
  const command = await definition.load?.();
  const color = flags['no-color'] ? 'never' : (flags.color as ColorChoice | undefined);
  const terminal = new Terminal(filter, { color, isQuiet: flags.quiet === true });
  if (definition.isPaged && terminal.isTty && !flags['no-pager'] && !flags.follow) await startPager(terminal);
  try {
    process.exitCode = await command?.run(new Invocation(args, withZone(flags), terminal));
  } finally {
    await terminal.close();
  }
}

async function startPager(terminal: Terminal): Promise<void> {
  const { findPager } = await import('./output/pager.ts');
  const command = findPager(process.env);
  if (command !== undefined) await terminal.page(command);
}

/** `--utc` is short for a time zone. */
function withZone(flags: Record<string, FlagValue>): Record<string, FlagValue> {
  if (!flags.utc) return flags;
  if (flags['time-zone'] !== undefined) throw new ProgramError('--utc cannot be combined with --time-zone');
  return { ...flags, 'time-zone': 'UTC' };
}

/**
 * Exits when output cannot be written, since nothing that follows would arrive. A reader that stops early (`| head`) is a
 * success.
 */
function endWithOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    console.error(`porthole: cannot write the output: ${error.message}`);
    process.exit(EXIT.error);
  });
  // Node.js would print the error unfiltered. `porthole serve` installs its own handler.
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') > 1) return;
    console.error(`porthole: ${explainError(error)}`);
    process.exit(EXIT.error);
  });
  // A closed stderr must not stop the output on stdout.
  process.stderr.on('error', () => {});
}

/** Commander has already printed its own errors; all others are printed here. */
function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.error;
  const interruption = interruptionIn(error);
  if (interruption) return interruption.exitCode;
  console.error(`porthole: ${explainError(error)}`);
  return EXIT.error;
}

/** Formats an error as one line with what to do about it; bugs keep their stack. */
function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (USER_ERRORS.has(error.name)) return error.message;
  if (error.name === 'ClientError') return explainClientError(error);
  if (isSystemError(error)) return error.message;
  return error.stack ?? error.message;
}

/** Errors whose message is written for the user. */
const USER_ERRORS = new Set([
  'ProgramError',
  'SettingsError',
  'StartError',
  'LogError',
  'PortholeError',
  'JournalError',
]);

function explainClientError(error: Error & { code?: string; url?: string }): string {
  const { code = '', message } = error;
  const hint = HINTS[code];
  return hint === undefined ? message : `${message}. ${hint}`;
}

const HINTS: Readonly<Record<string, string>> = {
  NOT_SUPPORTED: 'It may only have the routes of the contract; name another node with --url',
  UNREACHABLE: 'Is the node running? Set its address with --url or PORTHOLE_URL ("porthole serve" starts one here)',
  UNAUTHENTICATED:
    'Pass a token with --token-file FILE or PORTHOLE_TOKEN, or a client certificate with --cert-file FILE and --key-file FILE',
};

function isSystemError(error: Error): boolean {
  return 'syscall' in error;
}
