import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** A line of links that is wider than a phone shows the one of this page. @returns for the element that scrolls */
export function useCurrentInSight(): React.RefObject<HTMLElement | null> {
  const links = useRef<HTMLElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    // Only along the line: `scrollIntoView` would scroll the page as well.
    const show = (): void => {
      const line = links.current;
      const current = line?.querySelector('[aria-current=page]');
      // There is more than fits: its end fades.
      line?.toggleAttribute('data-overflows', line.scrollWidth > line.clientWidth);
      if (!line || !current) return;
      const [shown, link] = [line.getBoundingClientRect(), current.getBoundingClientRect()];
      line.scrollLeft += link.left + link.width / 2 - (shown.left + shown.width / 2);
    };
    show();
    // Their names have other widths in another font.
    void document.fonts.ready.then(show);
  }, [path]);
  return links;
}
