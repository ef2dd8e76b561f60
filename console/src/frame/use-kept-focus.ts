import { useEffect } from 'react';

/** What a row holds for the keyboard. */
const IN_ROW = 'a, button, input, select';

/** Where an element stands in a list: of which record, and at which place in its row. Rows out of sight leave the page, and come back as others. */
interface InRow {
  id: string;
  /** -1: the row itself. */
  index: number;
}

function placeOf(element: HTMLElement): InRow | undefined {
  const row = element.closest<HTMLElement>('[data-id]');
  const id = row?.dataset['id'];
  return id === undefined ? undefined : { id, index: [...row!.querySelectorAll(IN_ROW)].indexOf(element) };
}

function elementAt({ id, index }: InRow): HTMLElement | null {
  const row = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`);
  return index === -1 ? row : (row?.querySelectorAll<HTMLElement>(IN_ROW)[index] ?? null);
}

/**
 * Whoever works by keyboard never loses the place. When the element with the focus is switched off, as the button of a form is while it sends, or
 * taken out of the page and put back, as rows are, it has the focus again as soon as it can. Until then, and when it is gone for good, the page's
 * content has it, and the next Tab goes on from its beginning. While a question is open, it is the question.
 */
export function useKeptFocus(page: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    /** What the person has given the focus to; null when they have left it for nothing. */
    let last: HTMLElement | null = null;
    let place: InRow | undefined;
    /** It was switched off or taken out, which takes the focus away; it may be back by now. */
    let wasTaken = false;
    /** What has the focus in its place. */
    let standIn: HTMLElement | null = null;
    let frame = 0;
    /** Something has changed since the look was planned: it may come too early for that. */
    let hasMore = false;
    const remember = ({ target }: FocusEvent): void => {
      if (target === standIn) return;
      last = target instanceof HTMLElement ? target : null;
      place = last === null ? undefined : placeOf(last);
      wasTaken = false;
      standIn = null;
    };
    /** A press on what takes no focus. */
    const forget = (): void => {
      if (document.activeElement === document.body) last = null;
    };
    const look = (): void => {
      const { activeElement: focused } = document;
      if (last === null || !wasTaken) return;
      // The browser may leave it to what is switched off for some frames more.
      const isLost = focused === document.body || focused === standIn || (focused === last && last.matches(':disabled'));
      if (!isLost) return;
      const back = last.isConnected || place === undefined ? last : elementAt(place);
      if (back?.isConnected && !back.matches(':disabled')) {
        back.focus({ preventScroll: true });
        return;
      }
      if (focused === standIn) return;
      standIn = document.querySelector<HTMLElement>('[role=dialog]') ?? page.current;
      standIn?.focus({ preventScroll: true });
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
    const takes = ({ type, target, removedNodes }: MutationRecord): boolean =>
      type === 'attributes' ? target.contains(last) : [...removedNodes].some((node) => node.contains(last));
    const changes = new MutationObserver((records) => {
      if (last !== null && records.some(takes)) wasTaken = true;
      if (frame === 0) lookSoon();
      else hasMore = true;
    });
    document.addEventListener('focusin', remember);
    document.addEventListener('pointerup', forget, true);
    changes.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
    return () => {
      document.removeEventListener('focusin', remember);
      document.removeEventListener('pointerup', forget, true);
      changes.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [page]);
}
