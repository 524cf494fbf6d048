/* ARIA roles of the list. It cannot be an HTML table: rows are positioned by their height. */

export const ROW = { role: 'row' } as const;
export const FOCUSED_ROW = { role: 'row', 'aria-selected': true } as const;
export const CELL = { role: 'gridcell' } as const;

/** One tab stop, which names the focused row; the total number of rows is unknown. */
export function gridRole({ activeId, isBusy }: { activeId: string | undefined; isBusy: boolean }) {
  return {
    role: 'grid',
    tabIndex: 0,
    'aria-label': 'Log records',
    'aria-rowcount': -1,
    'aria-busy': isBusy,
    'aria-activedescendant': activeId,
  } as const;
}
