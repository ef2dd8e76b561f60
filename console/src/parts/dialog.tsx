import { Suspense, useEffect, useEffectEvent, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { useFleet } from '../data/use-fleet.ts';
import { lazyPart } from './lazy-part.ts';

const Modal = lazyPart(() => import('./floating/modal.tsx'));

interface Props {
  title: string;
  onClose: () => void;
  /** Every role may do it: it stays open when that of the person becomes a lower one. */
  isForAll?: boolean;
  children: React.ReactNode;
}

/** A question over the page. Rendered only while it is open; its code is loaded with the first one. */
export function Dialog({ isForAll = false, ...props }: Props) {
  useReturnedFocus();
  useWithdrawal(isForAll ? undefined : props.onClose);
  return (
    <Suspense>
      <Modal {...props} />
    </Suspense>
  );
}

/** A question that was asked under a higher role is withdrawn: its answer would be refused. What is typed on the page itself stays. */
function useWithdrawal(onClose: (() => void) | undefined): void {
  const { who } = useFleet();
  const lowered = useSyncExternalStore(who.subscribe, () => who.lowered);
  const [asked] = useState(lowered);
  const withdraw = useEffectEvent(() => onClose?.());
  useEffect(() => {
    if (lowered !== asked) withdraw();
  }, [lowered, asked]);
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
