import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/**
 * A line of links that is wider than a phone shows the one of this page. At which of its ends there is more stands in `data-more-before` and
 * `data-more-after`, for the style sheet.
 * @returns for the element that scrolls
 */
export function useCurrentInSight(): React.RefObject<HTMLElement | null> {
  const links = useRef<HTMLElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    const line = links.current;
    if (!line) return undefined;
    const markEnds = (): void => {
      // Places between pixels are rounded.
      line.toggleAttribute('data-more-before', line.scrollLeft > 1);
      line.toggleAttribute('data-more-after', line.scrollLeft + line.clientWidth < line.scrollWidth - 1);
    };
    const show = (): void => {
      bringInSight(line);
      markEnds();
    };
    // Also for its first width, and for a phone that is turned.
    const observer = new ResizeObserver(show);
    observer.observe(line);
    line.addEventListener('scroll', markEnds, { passive: true });
    // Their names have other widths in another font.
    void document.fonts.ready.then(show);
    return () => {
      observer.disconnect();
      line.removeEventListener('scroll', markEnds);
    };
  }, [path]);
  return links;
}

/** Only along the line: `scrollIntoView` would scroll the page as well. */
function bringInSight(line: HTMLElement): void {
  const current = line.querySelector('[aria-current=page]');
  if (!current) return;
  const [shown, link] = [line.getBoundingClientRect(), current.getBoundingClientRect()];
  line.scrollLeft += link.left + link.width / 2 - (shown.left + shown.width / 2);
}
