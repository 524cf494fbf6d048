import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { listen } from '../state/listen.ts';

interface Tip {
  text: string;
  /** What it explains, in the window. */
  at: DOMRect;
}

/** Moving across many of them shows none. */
const DELAY_MS = 350;

const GAP_PX = 6;

/** The tooltip of whatever has a `data-tip` and the pointer or the focus on it. Mounted once. */
export function Tooltip() {
  const [tip, setTip] = useState<Tip | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = () => {
      clearTimeout(timer);
      setTip(null);
    };
    const show = (event: Event) => {
      hide();
      const element = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-tip]') : null;
      const isByKeys = event.type !== 'focusin' || element?.matches(':focus-visible');
      if (!element?.dataset.tip || !isByKeys || matchMedia('(hover: none)').matches) return;
      timer = setTimeout(() => {
        const { tip: text } = element.dataset;
        if (element.isConnected && text) setTip({ text, at: element.getBoundingClientRect() });
      }, DELAY_MS);
    };
    const endShowing = listen(document, 'pointerover focusin', show);
    const endHiding = listen(document, 'pointerdown keydown scroll focusout', hide, { capture: true, passive: true });
    return () => {
      clearTimeout(timer);
      endShowing();
      endHiding();
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !tip) return;
    const { width, height } = element.getBoundingClientRect();
    const left = tip.at.left + tip.at.width / 2 - width / 2;
    const isAbove = tip.at.bottom + GAP_PX + height > innerHeight;
    element.style.left = `${Math.max(GAP_PX, Math.min(left, innerWidth - width - GAP_PX))}px`;
    element.style.top = `${isAbove ? tip.at.top - height - GAP_PX : tip.at.bottom + GAP_PX}px`;
  }, [tip]);
  // Labels and texts of the page say the same to screen readers.
  return tip ? (
    <div ref={box} class="tooltip" aria-hidden="true">
      {tip.text}
    </div>
  ) : null;
}
