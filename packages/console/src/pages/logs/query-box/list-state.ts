/* The list below the query box: completions, or the last queries. */

export interface ListState {
  kind: 'closed' | 'completions' | 'history';
  /** The chosen option; -1: none, so that Enter runs the query as it is typed. */
  index: number;
}

export const CLOSED: ListState = { kind: 'closed', index: -1 };

export interface ListSituation {
  /** Number of options in the open list. */
  count: number;
  isEmpty: boolean;
  hasHistory: boolean;
}

export interface PressedKey {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** What a key does to the list; `choose`: it takes the chosen option. `null`: the key is not for the list. */
export function pressInList(
  state: ListState,
  pressed: PressedKey,
  situation: ListSituation,
): { list: ListState; choose?: true } | null {
  const { key, ctrlKey, altKey, shiftKey } = pressed;
  if (ctrlKey && key === ' ') return { list: { kind: 'completions', index: 0 } };
  if (ctrlKey || altKey) return null;
  const isOpen = state.kind !== 'closed' && situation.count > 0;
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  if (step !== 0) {
    if (isOpen) return { list: { ...state, index: moved(state.index, step, situation.count) } };
    if (situation.isEmpty && situation.hasHistory) return { list: { kind: 'history', index: 0 } };
    // Up moves the caret to the start of the text, as in any field.
    return step > 0 ? { list: { kind: 'completions', index: 0 } } : null;
  }
  if (!isOpen) return null;
  // A list that nobody asked for takes no key away.
  if (state.index < 0 || state.index >= situation.count) return null;
  if (key === 'Escape') return { list: CLOSED };
  return (key === 'Enter' || key === 'Tab') && !shiftKey ? { list: CLOSED, choose: true } : null;
}

function moved(index: number, step: number, count: number): number {
  if (index < 0) return step > 0 ? 0 : count - 1;
  return (index + step + count) % count;
}
