import { Suspense } from 'react';
import { lazyPart } from './lazy-part.ts';

const Modal = lazyPart(() => import('./floating/modal.tsx'));

interface Props {
  title: string;
  onClose: () => void;
  children: React.ReactNode;
}

/** A question over the page. Rendered only while it is open; its code is loaded with the first one. */
export function Dialog(props: Props) {
  return (
    <Suspense>
      <Modal {...props} />
    </Suspense>
  );
}
