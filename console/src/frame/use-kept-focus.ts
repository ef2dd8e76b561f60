import { useEffect } from 'react';

/**
 * Whoever works by keyboard never loses the place: when the element with the focus goes away or is switched off, as a form does that has led to
 * another page, the page's content takes the focus, and the next Tab goes on from its beginning. While a question is open, it is the question.
 */
export function useKeptFocus(page: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: HTMLElement | null = null;
    /** It was switched off, which takes the focus away; it may be switched on again by now. */
    let wasOff = false;
    let frame = 0;
    /** Something has changed since the look was planned: it may come too early for that. */
    let hasMore = false;
    const remember = ({ target }: FocusEvent): void => {
      last = target instanceof HTMLElement ? target : null;
      wasOff = false;
    };
    const look = (): void => {
      if (document.activeElement !== document.body || last === null) return;
      const isThere = last.isConnected && !last.matches(':disabled');
      if (isThere && wasOff) last.focus({ preventScroll: true });
      if (isThere) return;
      last = null;
      const place = document.querySelector<HTMLElement>('[role=dialog]') ?? page.current;
      place?.focus({ preventScroll: true });
    };
    // The browser takes the focus away with the frame after a change, and says nothing.
    const lookSoon = (): void => {
      frame = requestAnimationFrame(() => {
        frame = requestAnimationFrame(() => {
          frame = 0;
          look();
          if (hasMore) lookSoon();
          hasMore = false;
        });
      });
    };
    const changes = new MutationObserver((records) => {
      if (records.some(({ type, target }) => type === 'attributes' && target === last)) wasOff = true;
      if (frame === 0) lookSoon();
      else hasMore = true;
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
