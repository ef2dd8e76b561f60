import { useState } from 'react';
import type { Client, ClientWithSecret } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { WHAT_ENDS } from '../words.ts';
import { WhatEnded } from '../revocations/what-ended.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { ClientForm } from './client-form.tsx';

type Asked = { kind: 'new' } | { kind: 'change' | 'renew' | 'remove'; client: Client };

/** Programs that act for people who sign in: clients of the OpenID provider. */
export function ClientsPage() {
  const [asked, setAsked] = useState<Asked>();
  return (
    <SettingsPage
      name="Applications"
      note="A program that acts for people signs them in here by OpenID Connect. It may do no more than its own role, whoever signs in."
      actions={
        <button type="button" className="btn main-act" onClick={() => setAsked({ kind: 'new' })}>
          Register application
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
      {removed === undefined ? null : <WhatEnded subjectId={removed.id} title={`${removed.name} is removed`} />}
      <Table list={list} onAsk={onAsk} />
      {asked?.kind === 'new' ? <ClientForm onClose={close} onMade={setMade} /> : null}
      {asked?.kind === 'change' ? <ClientForm client={asked.client} onClose={close} onMade={setMade} /> : null}
      {asked?.kind === 'renew' ? (
        <Confirm
          title={`Renew the secret of ${asked.client.name}?`}
          action="Renew secret"
          operation="renewClientSecret"
          input={{ path: { client_id: asked.client.id } }}
          stale={['clients']}
          onClose={close}
          onDone={({ data }) => setMade(data)}
        >
          <p>The old secret stops working at once: the application cannot sign anybody in until it has the new one.</p>
        </Confirm>
      ) : null}
      {asked?.kind === 'remove' ? (
        <Confirm
          title={`Remove ${asked.client.name}?`}
          action="Remove application"
          operation="deleteClient"
          input={{ path: { client_id: asked.client.id } }}
          stale={['clients', 'revocations']}
          onClose={close}
          onDone={() => setRemoved(asked.client)}
        >
          <p>It can sign nobody in any more, and what anybody opened through it ends. {WHAT_ENDS}</p>
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
        <b>{name} is registered.</b> Its client_id is <code className="id">{id}</code>; it has no secret.
      </p>
    );
  return (
    <ShownOnce title={`Secret of ${name}`} text={secret} label="the secret" onDone={onDone}>
      Its client_id is <code className="id">{id}</code>. The secret is shown only now: Signalbox keeps a hash of it. Lost it? Renew it.
    </ShownOnce>
  );
}

function Table({ list, onAsk }: { list: ReturnType<typeof useList<'listClients'>>; onAsk: (asked: Asked) => void }) {
  return (
    <ShortTable<Client>
      label="Applications"
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', width: 'minmax(120px, 1fr)', className: 'el', cell: ({ name }) => <b>{name}</b> },
        { title: 'Kind', width: '80px', cell: ({ kind }) => kind },
        { title: 'Role', width: '80px', cell: ({ role }) => role },
        { title: 'client_id', width: 'minmax(120px, 1.2fr)', className: 'el id dim', isWide: true, cell: ({ id }) => id },
        { title: 'Returns to', width: 'minmax(120px, 1.4fr)', className: 'el dim', cell: ({ redirect_uris: uris }) => uris.join(', ') },
        {
          title: 'Actions',
          width: '230px',
          className: 'row-acts',
          cell: (client) => (
            <>
              <Act does="Change" client={client} onAct={() => onAsk({ kind: 'change', client })} />
              {client.kind === 'web' ? <Act does="New secret" client={client} onAct={() => onAsk({ kind: 'renew', client })} /> : null}
              <Act does="Remove" client={client} onAct={() => onAsk({ kind: 'remove', client })} />
            </>
          ),
        },
      ]}
      empty={
        <Empty title="No application is registered.">
          A ticket system or a dashboard of your own can act for the people who sign in to it. Register it above.
        </Empty>
      }
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
