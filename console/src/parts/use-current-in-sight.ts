import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** A line of links that is wider than a phone shows the one of this page. @returns for the element that scrolls */
export function useCurrentInSight(): React.RefObject<HTMLElement | null> {
  const links = useRef<HTMLElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    const show = (): void => links.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    show();
    // Their names have other widths in another font.
    void document.fonts.ready.then(show);
  }, [path]);
  return links;
}
