import { useEffect } from 'react';

/**
 * Whoever works by keyboard never loses the place: when the element with the focus goes away or is switched off, as a form does that has led to
 * another page, the page's content takes the focus, and the next Tab goes on from its beginning.
 */
export function useKeptFocus(page: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: Element | null = null;
    let frame = 0;
    const remember = ({ target }: FocusEvent): void => {
      last = target instanceof Element ? target : null;
    };
    const look = (): void => {
      frame = 0;
      if (document.activeElement !== document.body || last === null || (last.isConnected && !last.matches(':disabled'))) return;
      last = null;
      page.current?.focus({ preventScroll: true });
    };
    // The browser takes the focus away with the frame after a change, and says nothing.
    const changes = new MutationObserver(() => {
      frame ||= requestAnimationFrame(() => {
        frame = requestAnimationFrame(look);
      });
    });
    document.addEventListener('focusin', remember);
    changes.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
    return () => {
      document.removeEventListener('focusin', remember);
      changes.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [page]);
}
