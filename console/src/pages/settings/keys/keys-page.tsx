import { useState } from 'react';
import type { ApiKey, NewlyMadeApiKey } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { useNames } from '../../../data/use-names.ts';
import { WhatEnded } from '../revocations/what-ended.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';

type Asked = { kind: 'new' } | { kind: 'rotate' | 'revoke'; apiKey: ApiKey };

/** Keys for programs: made here, shown once. */
export function KeysPage() {
  const [asked, setAsked] = useState<Asked>();
  const create = () => setAsked({ kind: 'new' });
  return (
    <SettingsPage
      name="API keys"
      note="A program that uses the API sends a key. A key belongs to the team and not to the person who made it."
      actions={
        <button type="button" className="btn main-act" onClick={create}>
          Create API key
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
        <ShownOnce title={`Key ${made.name}`} text={made.api_key} label="the key" onDone={() => setMade(undefined)}>
          This is the only time the key is shown: Signalbox keeps a hash of it. Lost it? Rotate it, and give the program the new one.
        </ShownOnce>
      )}
      {revoked === undefined ? null : <WhatEnded subjectId={revoked.id} title={`Key ${revoked.name} is revoked`} />}
      <Table list={live} onAsk={onAsk} />
      {ended.records.length === 0 ? null : (
        <Section title="Ended" small="revoked or expired; kept for the audit log">
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
      label={onAsk ? 'API keys' : 'Ended API keys'}
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', width: 'minmax(120px, 1.2fr)', className: 'el', cell: ({ name }) => <b className="id">{name}</b> },
        { title: 'Role', width: '80px', cell: ({ role }) => role },
        {
          title: 'Last used',
          width: '100px',
          cell: ({ last_used_at: at }) => (at === null ? <span className="faint">never</span> : <Moment at={at} />),
        },
        { title: onAsk ? 'Ends' : 'Ended', width: '120px', cell: (key) => <End apiKey={key} /> },
        { title: 'Made by', width: 'minmax(100px, 1fr)', className: 'el dim', isWide: true, cell: ({ created_by: by }) => names(by) },
        { title: 'Made', width: '90px', className: 'dim', isWide: true, cell: ({ created_at: at }) => <Moment at={at} /> },
        {
          title: onAsk ? 'Actions' : 'Id',
          width: '150px',
          className: onAsk ? 'row-acts' : 'id el dim',
          isWide: onAsk === undefined,
          cell: (key) => (onAsk ? <Actions apiKey={key} onAsk={onAsk} /> : key.id),
        },
      ]}
      empty={
        <Empty title="No API key works at the moment.">
          A key lets a script, a monitoring system or the command line use this control plane with a role that you choose. Create one above.
        </Empty>
      }
    />
  );
}

function Actions({ apiKey, onAsk }: { apiKey: ApiKey; onAsk: KeysProps['onAsk'] }) {
  return (
    <>
      {apiKey.replaced_by === null ? (
        <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'rotate', apiKey })}>
          Rotate<span className="sr"> {apiKey.name}</span>
        </button>
      ) : null}
      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'revoke', apiKey })}>
        Revoke<span className="sr"> {apiKey.name}</span>
      </button>
    </>
  );
}

function End({ apiKey: { status, expires_at: expiry, revoked_at: revokedAt, replaced_by: next } }: { apiKey: ApiKey }) {
  if (status === 'revoked')
    return (
      <>
        revoked <Moment at={revokedAt} />
      </>
    );
  if (expiry === null) return <span className="dim">when revoked</span>;
  return (
    <>
      {next === null ? null : 'rotated, '}
      <Moment at={expiry} />
    </>
  );
}
