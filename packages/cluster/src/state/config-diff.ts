import type { CallOptions, ClusterConfigDiff, Member, MemberReport, MemberSelection } from '@porthole/contract';
import { chooseMembers } from './choose-members.ts';
import { diffSettings, type MemberSettings } from './diff-settings.ts';
import type { MemberWords } from './member-words.ts';
import { askEach, goneReport, type StateParts } from './state-parts.ts';
import { askSettings, type Settings, type SettingsParts, settingsOfText } from './told-settings.ts';

/** A member's settings with its place in the answer. */
interface Compared extends MemberSettings {
  role: string;
}

/**
 * Where members of the same role are configured differently, and which. A member that does not answer is compared by
 * what was last known of it; one that is gone only if it is named.
 */
export async function configDiff(
  parts: StateParts & SettingsParts,
  request: MemberSelection,
  options: CallOptions = {},
): Promise<ClusterConfigDiff> {
  const { peers, gone } = chooseMembers(parts, request);
  const answers = await askEach(parts, peers, (member, asking) => askSettings(member, parts, asking), {
    ...options,
    countOf: (settings) => settings.size,
  });
  const compared: Compared[] = [];
  const members: MemberReport[] = [];
  const addWords = (words: MemberWords | undefined, report: MemberReport) => {
    const settings = words && settingsOfWords(words, parts);
    if (settings) compared.push(comparedOf(words.member, settings));
    members.push(settings ? { ...report, count: settings.size, asOfMs: words.asOfMs } : report);
  };
  for (const { peer, value, report } of answers) {
    if (value === undefined) addWords(parts.lastWords.of(peer.member.id), report);
    else {
      compared.push(comparedOf(peer.member, value));
      members.push(report);
    }
  }
  if (request.nodes?.length) for (const words of gone) addWords(words, goneReport(words, 0));
  return { roles: diffRoles(compared), members: members.sort((a, b) => compareText(a.id, b.id)) };
}

function diffRoles(compared: readonly Compared[]): ClusterConfigDiff['roles'] {
  const roles = [...new Set(compared.map(({ role }) => role))].sort();
  return roles.map((role) => {
    const members = compared.filter((member) => member.role === role);
    return { role, nodes: members.map(({ id }) => id).sort(), ...diffSettings(members) };
  });
}

/** Last words are masked, and say nothing of what is behind a mask. */
function settingsOfWords({ config }: MemberWords, parts: SettingsParts): Settings | undefined {
  if (config === null) return undefined;
  try {
    return settingsOfText(config, { ...parts, fingerprint: undefined });
  } catch {
    // Written by who knows whom: it is as if it were not there.
    return undefined;
  }
}

function comparedOf({ id, role, node }: Member, settings: Settings): Compared {
  return { id, role, node, settings };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
