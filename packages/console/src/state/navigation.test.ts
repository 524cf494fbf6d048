import { describe, expect, test } from 'vitest';
import { Navigation } from './navigation.ts';
import { ALL_LOGS, OVERVIEW } from './view.ts';

/** The parts of a window that navigation needs: location, history and events. */
class FakeWindow extends EventTarget {
  readonly document = new EventTarget();
  readonly entries = ['http://node.example/'];
  canWrite = true;

  get location() {
    return new URL(this.entries.at(-1) ?? '');
  }

  readonly history = {
    pushState: (_state: unknown, _title: string, url: string) => this.#write(() => this.entries.push(this.#full(url))),
    replaceState: (_state: unknown, _title: string, url: string) =>
      this.#write(() => this.entries.splice(-1, 1, this.#full(url))),
  };

  scrollTo() {}

  back() {
    this.entries.pop();
    this.dispatchEvent(new Event('popstate'));
  }

  #full(url: string) {
    return new URL(url, this.location).href;
  }

  #write(act: () => void) {
    if (!this.canWrite) throw new DOMException('too often', 'SecurityError');
    act();
  }
}

function started(window = new FakeWindow()) {
  const navigation = new Navigation(window as unknown as Window);
  navigation.start();
  return { window, navigation };
}

describe('navigation', () => {
  test('pushes or replaces history entries', () => {
    const { window, navigation } = started();
    navigation.go(ALL_LOGS);
    navigation.go({ ...ALL_LOGS, text: 'slow' }, { replace: true });
    expect(window.entries).toEqual(['http://node.example/', 'http://node.example/logs?q=slow']);
    expect(navigation.view.value).toMatchObject({ page: 'logs', text: 'slow' });
  });

  test('does not push the same URL twice', () => {
    const { window, navigation } = started();
    navigation.go(ALL_LOGS);
    navigation.go({ ...ALL_LOGS });
    expect(window.entries).toHaveLength(2);
  });

  test('goes back with the history', () => {
    const { window, navigation } = started();
    navigation.go(ALL_LOGS);
    window.back();
    expect(navigation.view.value).toEqual(OVERVIEW);
  });

  test('shows the view even if the browser refuses to change the URL', () => {
    const { window, navigation } = started();
    window.canWrite = false;
    navigation.go(ALL_LOGS);
    expect(navigation.view.value).toEqual(ALL_LOGS);
  });

  test('without a window is only a store', () => {
    const navigation = new Navigation(undefined);
    navigation.start();
    navigation.go(ALL_LOGS);
    expect(navigation.view.value).toEqual(ALL_LOGS);
  });
});
