import type { PeerCertificate } from 'node:tls';

/** The types of alternative names that rules can match, by their OpenSSL spelling. */
const TYPES: Readonly<Record<string, string>> = {
  DNS: 'DNS',
  URI: 'URI',
  email: 'EMAIL',
  'IP Address': 'IP',
};

/** The names in a certificate, each with its type: `CN:ann`, `DNS:db-1.example.org`. */
export function certificateNames({ subject, subjectaltname }: PeerCertificate): string[] {
  const common: unknown = subject?.CN;
  const commons = (Array.isArray(common) ? common : [common]).filter((name) => typeof name === 'string');
  return [...commons.map((name) => `CN:${name}`), ...alternativeNames(subjectaltname ?? '')];
}

/** `DNS:a.example.org, URI:"spiffe://x, DNS:evil"`: a name with a comma or a quote is written as a JSON string. */
function alternativeNames(text: string): string[] {
  const entry = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;
  const names: string[] = [];
  for (let match = entry.exec(text); match; match = entry.exec(text)) {
    const [whole, type = '', value = ''] = match;
    if (whole === '') break;
    const name = value.startsWith('"') ? unquoted(value) : value;
    if (TYPES[type] !== undefined && name !== undefined) names.push(`${TYPES[type]}:${name}`);
    if (entry.lastIndex >= text.length) return names;
  }
  // A list that cannot be parsed completely is not trusted at all.
  return text === '' ? names : [];
}

function unquoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
