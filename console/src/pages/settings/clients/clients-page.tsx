import { useState } from 'react';
import type { Client, ClientWithSecret } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { fill } from '../../../parts/fill.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { WHAT_ENDS, words as settingsWords } from '../words.ts';
import { WhatEnded } from '../revocations/what-ended.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { ClientForm } from './client-form.tsx';
import { words } from './words.ts';

type Asked = { kind: 'new' } | { kind: 'change' | 'renew' | 'remove'; client: Client };

/** Programs that act for people who sign in: clients of the OpenID provider. */
export function ClientsPage() {
  const [asked, setAsked] = useState<Asked>();
  return (
    <SettingsPage
      name={settingsWords.part.clients}
      note={words.note}
      actions={
        <button type="button" className="btn main-act" onClick={() => setAsked({ kind: 'new' })}>
          {words.register}
        </button>
      }
    >
      <Clients asked={asked} onAsk={setAsked} />
    </SettingsPage>
  );
}

function Clients({ asked, onAsk }: { asked: Asked | undefined; onAsk: (asked: Asked | undefined) => void }) {
  const list = useList('clients', 'listClients', { query: { limit: 200 } });
  const [made, setMade] = useState<ClientWithSecret>();
  const [removed, setRemoved] = useState<Client>();
  const close = () => onAsk(undefined);
  return (
    <>
      {made === undefined ? null : <Secret client={made} onDone={() => setMade(undefined)} />}
      {removed === undefined ? null : <WhatEnded subjectId={removed.id} title={words.removed(removed.name)} />}
      <Table list={list} onAsk={onAsk} />
      {asked?.kind === 'new' ? <ClientForm onClose={close} onMade={setMade} /> : null}
      {asked?.kind === 'change' ? <ClientForm client={asked.client} onClose={close} onMade={setMade} /> : null}
      {asked?.kind === 'renew' ? (
        <Confirm
          title={words.renew.title(asked.client.name)}
          action={words.renew.act}
          operation="renewClientSecret"
          input={{ path: { client_id: asked.client.id } }}
          stale={['clients']}
          onClose={close}
          onDone={({ data }) => setMade(data)}
        >
          <p>{words.renew.about}</p>
        </Confirm>
      ) : null}
      {asked?.kind === 'remove' ? (
        <Confirm
          title={words.remove.title(asked.client.name)}
          action={words.remove.act}
          operation="deleteClient"
          input={{ path: { client_id: asked.client.id } }}
          stale={['clients', 'revocations']}
          onClose={close}
          onDone={() => setRemoved(asked.client)}
        >
          <p>
            {words.remove.about} {WHAT_ENDS}
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

/** What the application needs to know, with the secret of those that can keep one. */
function Secret({ client: { id, name, client_secret: secret }, onDone }: { client: ClientWithSecret; onDone: () => void }) {
  if (secret === null)
    return (
      <p role="status">
        <b>{words.registered.title(name)}</b> {fill(words.registered.noSecret, { id: <code className="id">{id}</code> })}
      </p>
    );
  return (
    <ShownOnce title={words.once.title(name)} text={secret} label={words.once.label} onDone={onDone}>
      {fill(words.once.text, { id: <code className="id">{id}</code> })}
    </ShownOnce>
  );
}

function Table({ list, onAsk }: { list: ReturnType<typeof useList<'listClients'>>; onAsk: (asked: Asked) => void }) {
  return (
    <ShortTable<Client>
      label={words.table}
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: words.column.name, width: 'minmax(120px, 1fr)', className: 'el', cell: ({ name }) => <b>{name}</b> },
        { title: words.column.kind, width: '80px', cell: ({ kind }) => kind },
        { title: words.column.role, width: '80px', cell: ({ role }) => role },
        { title: words.column.clientId, width: 'minmax(120px, 1.2fr)', className: 'el id dim', isWide: true, cell: ({ id }) => id },
        {
          title: words.column.returnsTo,
          width: 'minmax(120px, 1.4fr)',
          className: 'el dim',
          cell: ({ redirect_uris: uris }) => uris.join(', '),
        },
        {
          title: words.column.actions,
          width: '230px',
          className: 'row-acts',
          cell: (client) => (
            <>
              <Act does={words.act.change} client={client} onAct={() => onAsk({ kind: 'change', client })} />
              {client.kind === 'web' ? (
                <Act does={words.act.secret} client={client} onAct={() => onAsk({ kind: 'renew', client })} />
              ) : null}
              <Act does={words.act.remove} client={client} onAct={() => onAsk({ kind: 'remove', client })} />
            </>
          ),
        },
      ]}
      empty={<Empty title={words.empty.title}>{words.empty.text}</Empty>}
    />
  );
}

function Act({ does, client, onAct }: { does: string; client: Client; onAct: () => void }) {
  return (
    <button type="button" className="btn quiet sm" onClick={onAct}>
      {does}
      <span className="sr"> {client.name}</span>
    </button>
  );
}
