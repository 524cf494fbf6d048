/* One script: what is opened by a key or a button of the bar. */

export { KeySheet } from './key-sheet.tsx';
export { Palette } from './palette.tsx';
export { RangeChoices } from './range-choices.tsx';
export { SessionItems } from './session-menu.tsx';
export { TokenDialog } from './token-dialog.tsx';
