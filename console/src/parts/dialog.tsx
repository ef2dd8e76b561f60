import { Suspense, useLayoutEffect, useState } from 'react';
import { lazyPart } from './lazy-part.ts';

const Modal = lazyPart(() => import('./floating/modal.tsx'));

interface Props {
  title: string;
  onClose: () => void;
  children: React.ReactNode;
}

/** A question over the page. Rendered only while it is open; its code is loaded with the first one. */
export function Dialog(props: Props) {
  useReturnedFocus();
  return (
    <Suspense>
      <Modal {...props} />
    </Suspense>
  );
}

/** What had the focus before the last question. */
let lastAsker: Element | null = null;

/** Whoever works by keyboard goes on where the question was asked, also when a second question has followed the first. */
function useReturnedFocus(): void {
  const [asker] = useState(() => {
    const focused = document.activeElement;
    if (focused?.closest('[role=dialog]') === null) lastAsker = focused;
    return lastAsker;
  });
  useLayoutEffect(
    () => () => {
      requestAnimationFrame(() => {
        const { activeElement: focused } = document;
        // Lost with the question, or found already by the page (use-kept-focus.ts). A question that follows keeps it.
        const isFree = focused === document.body || focused?.id === 'page';
        if (isFree && asker instanceof HTMLElement) asker.focus({ preventScroll: true });
      });
    },
    [asker],
  );
}
