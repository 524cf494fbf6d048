/** As slow as a regex can be: the text keeps it in a new state at every character. */
export const SLOW_REGEX = '[ab]*a[ab]{900}Q';

/** Text in which each character costs the slow regex most. Deterministic, and without a period. */
export function slowText(characters: number): string {
  let state = 1;
  const letters: string[] = [];
  for (let count = 0; count < characters; count++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    letters.push((state >> 16) % 3 === 0 ? 'b' : 'a');
  }
  return letters.join('');
}
