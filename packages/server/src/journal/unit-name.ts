/** The kinds of systemd units, which end their names. */
const SUFFIX = /\.(?:service|socket|device|mount|automount|swap|target|path|timer|slice|scope)$/;

/** A leading dash and backslashes are left out: the name is also that of a file and of a log. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,199}$/;

export const UNIT_NAMES = 'letters, digits and any of ".:_@-", like "nginx" or "getty@tty1.service"';

/** The full name of a unit: `nginx` is `nginx.service`, as for systemctl. `undefined` if it is not one. */
export function parseUnitName(text: string): string | undefined {
  if (!NAME.test(text)) return undefined;
  return SUFFIX.test(text) ? text : `${text}.service`;
}
