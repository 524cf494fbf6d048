import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { preferences } from '../../state/preferences.ts';
import { isTextField } from '../../ui/is-text-field.ts';

/** `/` goes to the field, unless someone is writing or a dialog is open. */
export function useSlashKey(field: RefObject<HTMLInputElement>): void {
  useEffect(() => {
    const take = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || !preferences.hasKeys.value) return;
      if (isTextField(event.target) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener('keydown', take);
    return () => document.removeEventListener('keydown', take);
  }, [field]);
}
