/** What programs, colours and pagers take from the environment: tests say what they need of it. */
const VARIABLES = /^(PORTHOLE_.*|NO_COLOR|FORCE_COLOR|PAGER|LESS|EDITOR|VISUAL|BROWSER|SYSTEMD_UNIT_PATH)$/;

/**
 * Makes the environment of whoever runs the tests one that they know: without settings of a node, with the usual umask, in
 * UTC. Tests of other time zones name them.
 */
export function plainEnvironment(): void {
  for (const name of Object.keys(process.env)) if (VARIABLES.test(name)) delete process.env[name];
  process.env.TZ = 'UTC';
  process.umask(0o022);
}
