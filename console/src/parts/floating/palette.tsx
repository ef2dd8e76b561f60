import '@mantine/core/styles/UnstyledButton.css';
import '@mantine/core/styles/Overlay.css';
import '@mantine/core/styles/ScrollArea.css';
import '@mantine/core/styles/Paper.css';
import '@mantine/core/styles/Input.css';
import '@mantine/core/styles/ModalBase.css';
import '@mantine/core/styles/Modal.css';
import '@mantine/spotlight/styles.css';
import './palette.css';
import { Spotlight, createSpotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import type { Match } from '../../../../client/browser.ts';
import { useFleet } from '../../data/use-fleet.ts';
import { useViews } from '../../data/use-views.ts';
import { PLACES } from '../../frame/places.ts';
import { fill } from '../fill.tsx';
import { Lamp } from '../lamp.tsx';
import { words } from '../words.ts';
import { hrefOfMatch, hrefOfView } from './palette-addresses.ts';

const [store, palette] = createSpotlight();

/** Views shown at once: a few letters more find the others. */
const MOST_VIEWS = 8;

/** Goes to any record, saved view or place by a few letters. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const router = useRouter();
  const { api } = useFleet();
  const [text, setText] = useState('');
  const hasChosen = useRef(false);
  const asked = useDeferredValue(text.trim());
  useEffect(() => palette.open(), []);
  const { data: matches = [] } = useQuery({
    queryKey: ['search', asked],
    queryFn: async ({ signal }) => (await api.call('search', { query: { q: asked } }, { signal })).data,
    enabled: asked !== '',
    placeholderData: (before) => (asked === '' ? [] : before),
  });
  // Matches arrive after the letters, above what the palette has selected as its first line by then: what Enter does shall be what is lit.
  useEffect(() => {
    const lines = document.getElementById(store.getState().listId)?.querySelectorAll('[data-action]') ?? [];
    if (!hasChosen.current) for (const [place, line] of lines.entries()) line.toggleAttribute('data-selected', place === 0);
  }, [matches]);
  const hasLetters = ({ name }: { name: string }): boolean => name.toLowerCase().includes(asked.toLowerCase());
  const places = PLACES.flat().filter(hasLetters);
  const views = useViews().filter(hasLetters).slice(0, MOST_VIEWS);
  const found = asked === '' ? [] : matches;
  /**
   * Enter goes to the closest match unless an arrow has chosen another one. Caught before the palette's own handling: matches arrive after the
   * letters, and what it has selected by then is no match.
   */
  function press(event: React.KeyboardEvent): void {
    const [first] = found;
    if (event.key.startsWith('Arrow')) hasChosen.current = true;
    if (event.key !== 'Enter' || hasChosen.current || first === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    palette.close();
    router.history.push(hrefOfMatch(first));
  }
  function type(letters: string): void {
    hasChosen.current = false;
    setText(letters);
  }
  return (
    <Spotlight.Root
      store={store}
      query={text}
      onQueryChange={type}
      onSpotlightClose={onClose}
      shortcut={null}
      transitionProps={{ duration: 0 }}
      classNames={{ content: 'modal' }}
      maxHeight={420}
      scrollable
    >
      <Spotlight.Search placeholder={words.palette.hint} aria-label={words.palette.label} onKeyDownCapture={press} />
      <Spotlight.ActionsList>
        {found.map((match) => (
          <Spotlight.Action key={`${match.kind} ${match.id}`} onClick={() => router.history.push(hrefOfMatch(match))}>
            <Found match={match} />
          </Spotlight.Action>
        ))}
        {views.map((view) => (
          <Spotlight.Action key={`view ${view.id}`} onClick={() => router.history.push(hrefOfView(view))}>
            <span className="palette-line">
              <b className="b">{view.name}</b> <span className="dim el">{view.query['q'] ?? words.palette.allRouters}</span>{' '}
              <span className="faint kind">{words.palette.view}</span>
            </span>
          </Spotlight.Action>
        ))}
        {asked === '' ? null : (
          <Spotlight.Action onClick={() => router.history.push(`/routers?q=${encodeURIComponent(asked)}`)}>
            <span className="palette-line">{fill(words.palette.filter, { text: <b className="b">{asked}</b> })}</span>
          </Spotlight.Action>
        )}
        {places.map(({ name, link }) => (
          <Spotlight.Action key={name} onClick={() => router.history.push(link.to)}>
            <span className="palette-line">
              {name} <span className="faint">{words.palette.place}</span>
            </span>
          </Spotlight.Action>
        ))}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function Found({ match: { kind, name, detail, state } }: { match: Match }) {
  return (
    <span className="palette-line">
      {state === null ? null : <Lamp state={state} />}
      <b className="b id">{name}</b> <span className="dim el">{detail}</span> <span className="faint kind">{kind}</span>
    </span>
  );
}
