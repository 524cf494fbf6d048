import type { Command } from 'commander';

export function addVersionCommand(program: Command): void {
  program
    .command('version')
    .description('print the version of this program and of Node.js')
    .action(async () => {
      const { ownVersion } = await import('@porthole/server/settings');
      console.log(`porthole ${ownVersion()} (node ${process.versions.node})`);
    });
}
