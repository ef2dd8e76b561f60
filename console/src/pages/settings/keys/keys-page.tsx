import { useState } from 'react';
import type { ApiKey, NewlyMadeApiKey } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Empty } from '../../../parts/empty.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { useNames } from '../../../data/use-names.ts';
import { WhatEnded } from '../revocations/what-ended.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { words as settingsWords } from '../words.ts';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';
import { words } from './words.ts';

type Asked = { kind: 'new' } | { kind: 'rotate' | 'revoke'; apiKey: ApiKey };

/** Keys for programs: made here, shown once. */
export function KeysPage() {
  const [asked, setAsked] = useState<Asked>();
  const create = () => setAsked({ kind: 'new' });
  return (
    <SettingsPage
      name={settingsWords.part.keys}
      note={words.note}
      actions={
        <button type="button" className="btn main-act" onClick={create}>
          {words.create}
        </button>
      }
    >
      <Keys asked={asked} onAsk={setAsked} />
    </SettingsPage>
  );
}

interface KeysProps {
  asked: Asked | undefined;
  onAsk: (asked: Asked | undefined) => void;
}

function Keys({ asked, onAsk }: KeysProps) {
  const list = useList('api-keys', 'listApiKeys', { query: { limit: 200 } });
  const [made, setMade] = useState<NewlyMadeApiKey>();
  const [revoked, setRevoked] = useState<ApiKey>();
  const live = { ...list, records: list.records.filter(({ status }) => status === 'live') };
  const ended = { ...list, records: list.records.filter(({ status }) => status !== 'live') };
  const close = () => onAsk(undefined);
  return (
    <>
      {made === undefined ? null : (
        <ShownOnce
          title={words.once.title(made.name)}
          text={made.api_key}
          label={words.once.label}
          example={{ title: words.once.example, text: words.once.request(made.api_key, location.origin), label: words.once.exampleLabel }}
          onDone={() => setMade(undefined)}
        >
          {words.once.text}
        </ShownOnce>
      )}
      {revoked === undefined ? null : <WhatEnded subjectId={revoked.id} title={words.revoked(revoked.name)} />}
      <Table list={live} onAsk={onAsk} />
      {ended.records.length === 0 ? null : (
        <Section title={words.ended.title} small={words.ended.small}>
          <Table list={{ ...ended, hasMore: false }} />
        </Section>
      )}
      {asked?.kind === 'new' ? <NewKey onClose={close} onMade={setMade} /> : null}
      {asked?.kind === 'rotate' ? <RotateKey apiKey={asked.apiKey} onClose={close} onMade={setMade} /> : null}
      {asked?.kind === 'revoke' ? <RevokeKey apiKey={asked.apiKey} onClose={close} onRevoked={setRevoked} /> : null}
    </>
  );
}

/** @param onAsk given for keys that can still be rotated or revoked */
function Table({ list, onAsk }: { list: ReturnType<typeof useList<'listApiKeys'>>; onAsk?: KeysProps['onAsk'] }) {
  const names = useNames();
  return (
    <ShortTable<ApiKey>
      label={onAsk ? words.table.live : words.table.ended}
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: words.column.name, width: 'minmax(120px, 1.2fr)', className: 'el', cell: ({ name }) => <b className="id">{name}</b> },
        { title: words.column.role, width: '80px', cell: ({ role }) => role },
        {
          title: words.column.lastUsed,
          width: '100px',
          cell: ({ last_used_at: at }) => (at === null ? <span className="faint">{words.never}</span> : <Moment at={at} />),
        },
        { title: onAsk ? words.column.ends : words.column.ended, width: '120px', cell: (key) => <End apiKey={key} /> },
        {
          title: words.column.madeBy,
          width: 'minmax(100px, 1fr)',
          className: 'el dim',
          isWide: true,
          cell: ({ created_by: by }) => names(by),
        },
        { title: words.column.made, width: '90px', className: 'dim', isWide: true, cell: ({ created_at: at }) => <Moment at={at} /> },
        {
          title: onAsk ? words.column.actions : words.column.id,
          width: '150px',
          className: onAsk ? 'row-acts' : 'id el dim',
          isWide: onAsk === undefined,
          cell: (key) => (onAsk ? <Actions apiKey={key} onAsk={onAsk} /> : key.id),
        },
      ]}
      empty={<Empty title={words.empty.title}>{words.empty.text}</Empty>}
    />
  );
}

function Actions({ apiKey, onAsk }: { apiKey: ApiKey; onAsk: KeysProps['onAsk'] }) {
  return (
    <>
      {apiKey.replaced_by === null ? (
        <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'rotate', apiKey })}>
          {words.act.rotate}
          <span className="sr"> {apiKey.name}</span>
        </button>
      ) : null}
      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'revoke', apiKey })}>
        {words.act.revoke}
        <span className="sr"> {apiKey.name}</span>
      </button>
    </>
  );
}

function End({ apiKey: { status, expires_at: expiry, revoked_at: revokedAt, replaced_by: next } }: { apiKey: ApiKey }) {
  if (status === 'revoked') return fill(words.end.revoked, { time: <Moment at={revokedAt} /> });
  if (expiry === null) return <span className="dim">{words.end.open}</span>;
  const time = <Moment at={expiry} />;
  return next === null ? time : fill(words.end.rotated, { time });
}
