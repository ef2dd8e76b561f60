import './terminals.css';
import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { TerminalWithTicket } from '../../../../client/browser.ts';
import { useFleet, useRouterRecord } from '../../data/use-fleet.ts';
import { useRecord } from '../../data/use-record.ts';
import { useList } from '../../data/use-list.ts';
import { useOpeners } from '../../data/use-names.ts';
import { useWrite } from '../../data/use-write.ts';
import type { WriteState } from '../../data/use-write.ts';
import { CopyBlock } from '../../parts/copy-block.tsx';
import { fill } from '../../parts/fill.tsx';
import { Outcome, SelectField, TextField } from '../../parts/form.tsx';
import { MissingRecord } from '../../parts/missing.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Section } from '../../parts/section.tsx';
import { ShortTable } from '../../parts/short-table.tsx';
import { useMay } from '../../session/use-may.ts';
import { useSession } from '../../session/use-session.ts';
import { RouterCrumb } from '../fleet/router/router-crumb.tsx';
import { RouterSentence, RouterTabs } from '../fleet/router/router-page.tsx';
import { columnsOfRouter } from './columns.tsx';
import { dropDraft, keepDraft, readDraft } from './draft.ts';
import { OpenTerminal } from './open-terminal.tsx';
import { useEnd } from './use-end.tsx';
import { words } from './words.ts';

/** A shell on one router: opened with a reason, attached to again after a reload. */
export function TerminalPage() {
  const { routerId } = useParams({ from: '/routers/$routerId/terminal' });
  const { me } = useFleet();
  const identity = useRouterRecord(routerId)?.identity ?? words.page.thisRouter;
  const [opened, setOpened] = useState<TerminalWithTicket>();
  const mayOpen = useMay('operator');
  const { data: own, error } = useRecord('own terminal', 'listTerminals', {
    query: { router_id: routerId, status: 'open', opened_by: me.id, limit: 1 },
  });
  // The list of routers has what was true when it was read; this page says what its agent opens now.
  const { data: router, error: routerError } = useRecord('router', 'getRouter', { path: { router_id: routerId } });
  if (opened) return <OpenTerminal key={opened.id} identity={identity} opened={opened} onAgain={() => setOpened(undefined)} />;
  // Before the list of its terminals, which only says that it cannot be read for such a router.
  if (!router) {
    if (!routerError) return <Reading />;
    return <MissingRecord error={routerError} what={words.router} list={{ href: '/routers', name: words.page.routers }} />;
  }
  if (!mayOpen)
    return (
      <>
        <TerminalHead routerId={routerId} note={words.page.mayNot} />
        <RouterTabs routerId={routerId} />
        <Earlier routerId={routerId} />
      </>
    );
  if (error && !own) return <MissingRecord error={error} what={words.terminal} list={{ href: '/terminals', name: words.terminals }} />;
  if (!own) return <Reading />;
  return (
    <>
      <TerminalHead routerId={routerId} note={words.page.note} />
      <RouterTabs routerId={routerId} />
      {own[0] ? (
        <Again id={own[0].id} level={own[0].level} onOpened={setOpened} />
      ) : (
        <New routerId={routerId} offered={router.terminal_levels} onOpened={setOpened} />
      )}
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
    <Section title={words.page.earlier} small={words.page.order}>
      {outcome}
      <ShortTable
        label={words.page.earlier}
        columns={columnsOfRouter({ openerOf, onEnd: end })}
        list={list}
        keyOf={({ id }) => id}
        empty={<p>{words.page.empty}</p>}
      />
    </Section>
  );
}

function TerminalHead({ routerId, note }: { routerId: string; note: string }) {
  const router = useRouterRecord(routerId);
  return (
    <PageHead
      crumb={<RouterCrumb id={routerId} />}
      title={words.page.title}
      sentence={router && <RouterSentence router={router} />}
      note={note}
    />
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
      <p>{fill(words.again.isOpen, { level: <b>{level}</b> })}</p>
      <p>
        <button type="button" className="btn main-act" onClick={() => void again()}>
          {words.again.attach}
        </button>
      </p>
      <Outcome state={write.state} onLookAgain={() => void again()} />
      <SignInAgain code={write.state.kind === 'refused' ? write.state.code : undefined} />
    </section>
  );
}

/** Its agent opens none: how that is changed. */
function Off() {
  return (
    <section className="terminal-off" role="note">
      <p>
        <b>{words.off.title}</b> {words.off.how}
      </p>
      <p>{words.off.onRouter}</p>
      <CopyBlock text={words.off.routerLines} label={words.off.routerLabel} copied={words.off.routerCopied} />
      <p>{words.off.inConfig}</p>
      <CopyBlock text={words.off.lines} label={words.off.label} copied={words.off.copied} />
    </section>
  );
}

type Level = 'read' | 'full';

/** Characters, as the interface demands. */
const LEAST_REASON = 3;

interface NewProps extends Opening {
  routerId: string;
  /** The levels that the router's agent opens; null: it does not say, and only an attempt tells. */
  offered: readonly Level[] | null;
}

function New({ routerId, offered, onOpened }: NewProps) {
  const mayChange = useMay('admin');
  if (offered?.length === 0) return <Off />;
  const levels = (offered ?? (['read', 'full'] as const)).filter((level) => mayChange || level === 'read');
  const [first] = levels;
  if (!first) return <p className="terminal-form">{words.form.fullOnly}</p>;
  return <NewForm routerId={routerId} levels={levels} hint={hintOf(offered, mayChange)} onOpened={onOpened} />;
}

function hintOf(offered: readonly Level[] | null, mayChange: boolean): string {
  if (offered?.length === 1) return words.form.levelHintOnly(offered[0] ?? '');
  return mayChange ? words.form.levelHint : words.form.levelHintOperator;
}

interface NewFormProps extends Opening {
  routerId: string;
  /** At least one. */
  levels: readonly Level[];
  hint: string;
}

function NewForm({ routerId, levels, hint, onOpened }: NewFormProps) {
  // Whoever had to sign in again goes on with what was typed.
  const [draft] = useState(() => readDraft(sessionStorage, routerId));
  useEffect(() => dropDraft(sessionStorage, routerId), [routerId]);
  const [chosen, setChosen] = useState(draft.level);
  const [reason, setReason] = useState(draft.reason);
  // The role or the agent's configuration may have changed since it was chosen.
  const level = levels.includes(chosen) ? chosen : (levels[0] ?? 'read');
  const write = useWrite('openTerminal', ['terminals', 'own terminal']);
  const answered = async (answer: ReturnType<typeof write.send>): Promise<void> => {
    const done = await answer;
    if (done) onOpened(done.data);
  };
  return (
    // What is missing is said beside its field, in the words of this page.
    <form
      className="terminal-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void answered(write.send({ path: { router_id: routerId }, body: { level, reason, cols: 80, rows: 24 } }));
      }}
    >
      <SelectField
        label={words.form.level}
        name="level"
        value={level}
        onChange={setChosen}
        options={levels.map((value) => ({ value, name: words.form.levels[value] }))}
        state={write.state}
        hint={hint}
      />
      <TextField
        label={words.form.reason}
        name="reason"
        value={reason}
        onChange={setReason}
        state={withWhy(write.state, reason)}
        hint={words.form.reasonHint}
        input={{ required: true }}
      />
      <p>
        <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending'}>
          {write.state.kind === 'sending' ? words.form.opening : words.form.open}
        </button>
      </p>
      <Outcome state={write.state} onLookAgain={() => void answered(write.lookAgain())} fields={['reason', 'level']} />
      <SignInAgain
        code={write.state.kind === 'refused' ? write.state.code : undefined}
        onLeave={() => keepDraft(sessionStorage, routerId, { level, reason })}
      />
    </form>
  );
}

/** The server says how short the reason is; somebody who left it out wants to know what for. */
function withWhy(state: WriteState, reason: string): WriteState {
  if (state.kind !== 'refused' || !('reason' in state.errors) || reason.trim().length >= LEAST_REASON) return state;
  return { ...state, errors: { ...state.errors, reason: [words.form.reasonShort] } };
}

/** A terminal needs a recent sign-in, which also proves that it is still this person. */
function SignInAgain({ code, onLeave }: { code: string | undefined; onLeave?: () => void }) {
  const session = useSession();
  if (code !== 'forbidden') return null;
  return (
    <p>
      <button
        type="button"
        className="btn"
        onClick={() => {
          onLeave?.();
          void session.signInAgain();
        }}
      >
        {words.form.signInAgain}
      </button>
    </p>
  );
}
