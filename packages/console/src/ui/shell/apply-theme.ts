import { preferences } from '../../state/preferences.ts';

/** Shows the theme that is wished for, now and whenever it changes; the system's where none is. */
export function applyTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    const theme = preferences.theme.value;
    document.documentElement.dataset.theme = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
  };
  apply();
  preferences.theme.subscribe(apply);
  dark.addEventListener('change', apply);
}
