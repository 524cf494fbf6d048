import { Command, CommanderError } from 'commander';
import { addServeCommand } from './commands/serve.ts';
import { addTokenCommand } from './commands/token.ts';
import { addVersionCommand } from './commands/version.ts';
import { EXIT } from './exit-codes.ts';

/** Runs one command line. Sets the exit code; the process ends when the command's work is done. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command('porthole')
    .description('A window into every node of a cluster: what it is configured to do, and what it is saying.')
    .showHelpAfterError('(add --help for what is possible)')
    .exitOverride();
  addServeCommand(program);
  addTokenCommand(program);
  addVersionCommand(program);
  try {
    // Not as the program's action: with one, a mistyped command would count as its argument.
    if (argv.length <= 2) program.help();
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

/** Commander has printed what was wrong already; anything else is told here, without a stack unless it is our bug. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.error;
  const told = error instanceof Error && (error.name === 'SettingsError' || error.name === 'StartError');
  console.error(`porthole: ${told ? error.message : error instanceof Error ? error.stack : error}`);
  return EXIT.error;
}
