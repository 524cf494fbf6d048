import { exactNumber } from '../exact-context.ts';
import { type Columns, columns } from '../formats/define-format.ts';

/**
 * Address, identity and user, which may contain spaces; preceded by the virtual host if what follows can be an address.
 */
const LEAD = /^(?:(\S+) (?=[^\s.:]*[.:]))?(\S+) (\S+) (.+?) \[/;
const QUOTED = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"';
const ACCESS_BODY = new RegExp(`^${QUOTED} (\\d{3}) (\\d+|-)(?: ${QUOTED} ${QUOTED})?`, 's');

/** The common and the combined log format of nginx and Apache. */
export function readAccessColumns(afterTime: string, lead: string): Columns | undefined {
  const body = afterTime.replace(/^ /, '');
  const [, request, status, bytes, referer, userAgent] = ACCESS_BODY.exec(body) ?? [];
  if (request === undefined) return undefined;
  const [, method, uri] = /^([A-Z]+) (\S+)/.exec(request) ?? [];
  return columns(body, {
    context: {
      ...readLead(lead),
      ...{ method, uri, status: exactNumber(status ?? '') },
      ...{
        bytes: bytes === '-' ? 0 : exactNumber(bytes ?? ''),
        referer: present(referer),
        userAgent: present(userAgent),
      },
    },
  });
}

/** A line of an access log whose request is not in quotes, or missing. */
export function readOtherAccessColumns(afterTime: string, lead: string): Columns {
  return columns(afterTime.replace(/^ /, ''), { context: readLead(lead) });
}

function readLead(lead: string): Record<string, string | undefined> {
  const [, host, remoteAddr = lead.split(' ', 1)[0], ident, user] = LEAD.exec(lead) ?? [];
  return { host, remoteAddr, ident: present(ident), user: present(user) };
}

function present(value: string | undefined): string | undefined {
  return value === '-' ? undefined : value;
}

const ERROR_BODY = /^ \[[a-z]+\] (\d+)#(\d+): (?:\*(\d+) )?(.*)$/s;

/** nginx's error log: `2026/11/15 00:21:26 [error] 123#0: *1 message`. */
export function readNginxErrorColumns(body: string): Columns | undefined {
  const [, pid, tid, connection, message] = ERROR_BODY.exec(body) ?? [];
  if (!pid) return undefined;
  const context = {
    pid: exactNumber(pid),
    tid: exactNumber(tid ?? ''),
    connection: connection && exactNumber(connection),
  };
  return columns(message ?? '', { context });
}
