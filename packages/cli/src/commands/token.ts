import { type Command, InvalidArgumentError } from 'commander';

export function addTokenCommand(program: Command): void {
  program
    .command('token')
    .description('make a bearer token: the token goes to stderr once, the line for auth.token-file to stdout')
    .argument('<name>', 'whose token it is; shown in logs', parseName)
    .addHelpText(
      'after',
      '\nExample:\n  porthole token grafana >> tokens\n  porthole serve --auth-token-file tokens --http-host 0.0.0.0',
    )
    .action(async (name: string) => {
      const { createToken } = await import('@porthole/server/tokens');
      const { token, line } = createToken(name);
      console.error(`token for ${name}, shown only now: ${token}`);
      console.log(line);
    });
}

function parseName(text: string): string {
  if (/^[\w.@-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('use up to 64 letters, digits and any of . _ @ -');
}
