/* The list is a grid for who does not see it. It cannot be a table of the browser: rows are placed by their height. */

export const ROW = { role: 'row' } as const;
export const FOCUSED_ROW = { role: 'row', 'aria-selected': true } as const;
export const CELL = { role: 'gridcell' } as const;

/** One tab stop, which names the row in focus; how many rows there are is not known. */
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
