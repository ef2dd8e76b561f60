import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { NewTelegramLink } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { CopyLine } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { GROUPS } from '../directory.ts';
import { CONTACTS } from './contacts.tsx';
import { words } from './words.ts';

/** The chat is proved in another program, and nothing tells this page: it looks this often, milliseconds. */
const READ_MS = 2000;

/** Proves a Telegram chat that is not proved yet, or that the person has blocked. */
export function ProveTelegram({ onClose }: { onClose: () => void }) {
  const [link, setLink] = useState<NewTelegramLink>();
  return (
    <Dialog title={words.telegram.title} isForAll onClose={onClose}>
      <TelegramProof link={link} onLink={setLink} onClose={onClose} />
    </Dialog>
  );
}

interface Props {
  /** Undefined before the person has asked for it. */
  link: NewTelegramLink | undefined;
  onLink: (link: NewTelegramLink | undefined) => void;
  onClose: () => void;
}

/** A link to the bot, and whether somebody has opened it. */
export function TelegramProof({ link, onLink, onClose }: Props) {
  const write = useWrite('createTelegramLink');
  if (link !== undefined) return <Opened key={link.id} link={link} onLink={onLink} onClose={onClose} />;
  return (
    <WriteForm write={write} input={() => ({})} action={words.telegram.act} onCancel={onClose} onDone={({ data }) => onLink(data)}>
      <p className="prose">{words.telegram.about}</p>
    </WriteForm>
  );
}

function Opened({ link, onLink, onClose }: Props & { link: NewTelegramLink }) {
  const { state, problem } = useLink(link);
  return (
    <>
      {state === 'waiting' ? (
        <>
          <p className="prose">
            <a className="btn main-act" href={link.url} target="_blank" rel="noreferrer">
              {words.telegram.open}
            </a>
          </p>
          <CopyLine text={link.url} label={words.telegram.label} />
          <p className="prose dim">{fill(words.telegram.once, { time: <Moment at={link.expires_at} /> })}</p>
        </>
      ) : null}
      <p className="prose" role="status">
        {problem === null ? words.telegram.states[state] : <b className="c-not">{words.telegram.problems[problem]}</b>}
      </p>
      <div className="form-acts">
        {state === 'ended' ? (
          <button type="button" className="btn main-act" onClick={() => onLink(undefined)}>
            {words.telegram.another}
          </button>
        ) : null}
        <button type="button" className={state === 'proved' ? 'btn main-act' : 'btn'} onClick={onClose}>
          {state === 'proved' ? words.telegram.done : words.telegram.later}
        </button>
      </div>
    </>
  );
}

/** What has become of a link; the addresses are read again when it has proved one. */
function useLink(link: NewTelegramLink): Pick<NewTelegramLink, 'state' | 'problem'> {
  const { api } = useFleet();
  const queries = useQueryClient();
  const { data = link } = useQuery({
    queryKey: ['telegram-links', link.id],
    queryFn: async ({ signal }) => (await api.call('getTelegramLink', { path: { link_id: link.id } }, { signal })).data,
    refetchInterval: ({ state }) => (state.data === undefined || state.data.state === 'waiting' ? READ_MS : false),
  });
  const isProved = data.state === 'proved';
  useEffect(() => {
    if (isProved) void queries.invalidateQueries({ predicate: ({ queryKey }) => [CONTACTS, GROUPS].includes(String(queryKey[0])) });
  }, [isProved, queries]);
  return data;
}
