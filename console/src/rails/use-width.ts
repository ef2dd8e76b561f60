import { useEffect, useState } from 'react';

/** Width of an element on the page, pixels; 0 before it is known. */
export function useWidth(element: React.RefObject<Element | null>, isWanted = true): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const { current } = element;
    if (!current || !isWanted) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(current);
    return () => observer.disconnect();
  }, [element, isWanted]);
  return width;
}
