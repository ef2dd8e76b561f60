import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Rows of a list on paper: all of them, as long as that is no book. */
const MOST_ROWS = 500;

/** The rows of a list that are printed; usually only those in sight are in the page. On paper each stands below the one before it. */
export function printedRows(count: number): { index: number; start: number }[] {
  return Array.from({ length: Math.min(count, MOST_ROWS) }, (_, index) => ({ index, start: 0 }));
}

/** Whether the page is being printed. It is drawn anew before the browser takes it. */
export function usePrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const before = (): void => flushSync(() => setPrinted(true));
    const after = (): void => setPrinted(false);
    addEventListener('beforeprint', before);
    addEventListener('afterprint', after);
    return () => {
      removeEventListener('beforeprint', before);
      removeEventListener('afterprint', after);
    };
  }, []);
  return isPrinted;
}
