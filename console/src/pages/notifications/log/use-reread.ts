import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

/** First part of the keys of queries. */
export const THREADS = 'notification-threads';
export const MESSAGES = 'notifications';

/** No event tells of a message; the pages that show some read them again this often, milliseconds. */
const EVERY_MS = 10_000;

/** Reads threads and messages again while a page shows them. */
export function useReread(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return;
      void queries.invalidateQueries({ predicate: ({ queryKey }) => [THREADS, MESSAGES].includes(String(queryKey[0])) });
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [queries]);
}
