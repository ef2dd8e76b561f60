import { Suspense, useEffect, useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { lazyPart } from '../parts/lazy-part.ts';
import { useKeys } from '../parts/use-keys.ts';
import { words } from './words.ts';

const Palette = lazyPart(() => import('../parts/floating/palette.tsx'));

/** The box at the top: any record by a few letters; and the sheet of keys. */
export function GoTo() {
  const [open, setOpen] = useState<'palette' | 'keys'>();
  useKeys({ '/': () => setOpen('palette'), '?': () => setOpen('keys') });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen('palette');
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button type="button" className="goto" onClick={() => setOpen('palette')}>
        <span className="m-no">{words.goTo.long}</span>
        <span className="goto-short">{words.goTo.short}</span>
        <kbd className="m-no" aria-hidden="true">
          /
        </kbd>
      </button>
      <button type="button" className="keys m-no" aria-label={words.keys.title} title={words.keys.title} onClick={() => setOpen('keys')}>
        <kbd aria-hidden="true">?</kbd>
      </button>
      <Suspense>{open === 'palette' ? <Palette onClose={() => setOpen(undefined)} /> : null}</Suspense>
      {open === 'keys' ? (
        <Dialog title={words.keys.title} isForAll onClose={() => setOpen(undefined)}>
          <dl>
            {words.keys.list.map(([key, what]) => (
              <div className="line fact" key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      ) : null}
    </>
  );
}
