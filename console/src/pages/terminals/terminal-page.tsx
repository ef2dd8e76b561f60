import './terminals.css';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { TerminalWithTicket } from '../../../../client/browser.ts';
import { useFleet, useRouterRecord } from '../../data/use-fleet.ts';
import { useRecord } from '../../data/use-record.ts';
import { useList } from '../../data/use-list.ts';
import { useOpeners } from '../../data/use-names.ts';
import { useWrite } from '../../data/use-write.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Outcome, SelectField, TextField } from '../../parts/form.tsx';
import { MissingRecord } from '../../parts/missing.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Section } from '../../parts/section.tsx';
import { ShortTable } from '../../parts/short-table.tsx';
import { useMay } from '../../session/use-may.ts';
import { useSession } from '../../session/use-session.ts';
import { columnsOfRouter } from './columns.tsx';
import { OpenTerminal } from './open-terminal.tsx';
import { useEnd } from './use-end.tsx';

/** A shell on one router: opened with a reason, attached to again after a reload. */
export function TerminalPage() {
  const { routerId } = useParams({ from: '/routers/$routerId/terminal' });
  const { me } = useFleet();
  const identity = useRouterRecord(routerId)?.identity ?? 'This router';
  const [opened, setOpened] = useState<TerminalWithTicket>();
  const mayOpen = useMay('operator');
  const { data: own, error } = useRecord('own terminal', 'listTerminals', {
    query: { router_id: routerId, status: 'open', opened_by: me.id, limit: 1 },
  });
  if (!mayOpen)
    return (
      <>
        <PageHead crumb={crumb(routerId, identity)} title="Terminal" note="Operators and administrators open terminals." />
        <Earlier routerId={routerId} />
      </>
    );
  if (opened) return <OpenTerminal key={opened.id} identity={identity} opened={opened} onAgain={() => setOpened(undefined)} />;
  if (error && !own) return <MissingRecord error={error} what="terminal" list={{ href: '/terminals', name: 'Terminals' }} />;
  if (!own) return <Reading />;
  return (
    <>
      <PageHead
        crumb={crumb(routerId, identity)}
        title="Terminal"
        note="A shell on the router, through its agent. Everything it prints is recorded."
      />
      {own[0] ? <Again id={own[0].id} level={own[0].level} onOpened={setOpened} /> : <New routerId={routerId} onOpened={setOpened} />}
      <Earlier routerId={routerId} />
    </>
  );
}

/** Terminals of one page of the list; the others are in the list of the team. */
const MOST = 20;

/** Who has or had a shell on this router. */
function Earlier({ routerId }: { routerId: string }) {
  const list = useList('terminals', 'listTerminals', { query: { router_id: routerId, limit: MOST } });
  const openerOf = useOpeners();
  const { end, outcome } = useEnd();
  return (
    <Section title="Terminals of this router" small="newest first">
      {outcome}
      <ShortTable
        label="Terminals of this router"
        columns={columnsOfRouter({ openerOf, onEnd: end })}
        list={list}
        keyOf={({ id }) => id}
        empty={<p>Nobody has opened a terminal on this router.</p>}
      />
    </Section>
  );
}

function crumb(routerId: string, identity: string) {
  return (
    <>
      <AppLink href="/routers">Routers</AppLink> / <AppLink href={`/routers/${routerId}`}>{identity}</AppLink>
    </>
  );
}

interface Opening {
  onOpened: (opened: TerminalWithTicket) => void;
}

/** The person has a terminal open here: the page was reloaded, or another one has it. */
function Again({ id, level, onOpened }: Opening & { id: string; level: string }) {
  const write = useWrite('createTerminalTicket');
  const again = async (): Promise<void> => {
    const answer = await write.send({ path: { terminal_id: id } });
    if (answer) onOpened(answer.data);
  };
  return (
    <section className="terminal-form">
      <p>
        You have a terminal of the level <b>{level}</b> open on this router.
      </p>
      <p>
        <button type="button" className="btn main-act" onClick={() => void again()}>
          Attach to it
        </button>
      </p>
      <Outcome state={write.state} onLookAgain={() => void again()} />
      <SignInAgain code={write.state.kind === 'refused' ? write.state.code : undefined} />
    </section>
  );
}

const LEVELS = [
  { value: 'read', name: 'read: look at configuration and logs' },
  { value: 'full', name: 'full: change something' },
] as const;

function New({ routerId, onOpened }: Opening & { routerId: string }) {
  const [chosen, setChosen] = useState<'read' | 'full'>('read');
  const [reason, setReason] = useState('');
  const mayChange = useMay('admin');
  // The role may have become a lower one since it was chosen.
  const level = mayChange ? chosen : 'read';
  const write = useWrite('openTerminal', ['terminals', 'own terminal']);
  const answered = async (answer: ReturnType<typeof write.send>): Promise<void> => {
    const done = await answer;
    if (done) onOpened(done.data);
  };
  return (
    <form
      className="terminal-form"
      onSubmit={(event) => {
        event.preventDefault();
        void answered(write.send({ path: { router_id: routerId }, body: { level, reason, cols: 80, rows: 24 } }));
      }}
    >
      <SelectField
        label="Level"
        name="level"
        value={level}
        onChange={setChosen}
        options={mayChange ? LEVELS : LEVELS.slice(0, 1)}
        state={write.state}
        hint={mayChange ? 'Each level is a user of its own on the router.' : 'Administrators also open terminals of the level full.'}
      />
      <TextField
        label="Reason"
        name="reason"
        value={reason}
        onChange={setReason}
        state={write.state}
        hint="Your team sees it in the list of terminals and in the audit log."
      />
      <p>
        <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending'}>
          {write.state.kind === 'sending' ? 'Opening' : 'Open the terminal'}
        </button>
      </p>
      <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} fields={['reason', 'level']} />
      <SignInAgain code={write.state.kind === 'refused' ? write.state.code : undefined} />
    </form>
  );
}

/** A terminal needs a recent sign-in, which also proves that it is still this person. */
function SignInAgain({ code }: { code: string | undefined }) {
  const session = useSession();
  if (code !== 'forbidden') return null;
  return (
    <p>
      <button type="button" className="btn" onClick={() => void session.signInAgain()}>
        Sign in again
      </button>
    </p>
  );
}
