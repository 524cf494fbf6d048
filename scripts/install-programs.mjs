import { installPrograms, ProgramsMissing } from './programs.mjs';

// node scripts/install-programs.mjs NAME ...   in a process of its own, so that it runs beside a build
try {
  installPrograms(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ProgramsMissing)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
