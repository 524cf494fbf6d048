/* One script: what is opened by a key or a button of the bar. */

export { KeySheet } from './key-sheet.tsx';
export { Palette } from './palette.tsx';
export { TokenDialog } from './token-dialog.tsx';
