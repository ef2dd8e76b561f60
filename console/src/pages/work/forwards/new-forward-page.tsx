import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import type { WriteState } from '../../../data/use-write.ts';
import { Outcome, SelectField, TextField } from '../../../parts/form.tsx';
import { StateOf } from '../../../parts/lamp.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { useMay } from '../../../session/use-may.ts';
import { routersNamed } from '../run/named.ts';
import { EMPTY_FORWARD, LENGTHS, TARGETS, forwardOf, ownAddressOf, targetOf } from './forward-form.ts';
import type { ForwardDraft } from './forward-form.ts';
import { words } from './words.ts';
import '../work.css';

/** A door to one port behind one router, for one address, for a time. */
export function NewForwardPage() {
  const search = useSearch({ from: '/forwards/new' });
  const { routers } = useFleet();
  useRoutersVersion();
  const mayOpen = useMay('operator');
  if (!mayOpen) return <PageHead title={words.opening.title} sentence={words.opening.mayNot} />;
  const [router] = search.router === undefined ? [] : routersNamed(search.router, routers.values()).routers;
  return (
    <>
      <PageHead
        crumb={
          <Link to="/forwards" search={{}} className="hand" activeOptions={{ exact: true }}>
            {words.forwards}
          </Link>
        }
        title={router ? words.opening.titleBehind(router.identity) : words.opening.title}
      />
      <div className="narrow">
        {router ? <NewForward key={router.id} router={router} to={search.to} /> : <ChooseRouter wanted={search.router ?? ''} />}
      </div>
    </>
  );
}

/** Names that are offered while somebody types. */
const OFFERED = 8;

function ChooseRouter({ wanted }: { wanted: string }) {
  const { routers } = useFleet();
  const [name, setName] = useState(wanted);
  const typed = name.trim().toLowerCase();
  const found = routers
    .values()
    .filter(({ identity, serial_number: serial }) => [identity, serial].some((text) => text?.toLowerCase().includes(typed)))
    .sort((one, other) => one.identity.localeCompare(other.identity, undefined, { numeric: true }));
  return (
    <>
      <TextField label={words.opening.router} name="router" hint={words.opening.routerHint} value={name} onChange={setName} />
      {found.slice(0, OFFERED).map((router) => (
        <div className="line choice" key={router.id}>
          <Link to="/forwards/new" search={(before) => ({ ...before, router: router.id })} className="hand id b">
            {router.identity}
          </Link>
          <StateOf state={router.state} reason={router.state_reason} />
        </div>
      ))}
      {found.length > OFFERED ? <p className="hint">{words.opening.more(found.length - OFFERED)}</p> : null}
      {found.length === 0 ? <p className="hint">{routers.size === 0 ? words.opening.noRouter : words.opening.noMatch}</p> : null}
    </>
  );
}

function NewForward({ router, to }: { router: Router; to: string | undefined }) {
  const [draft, setDraft] = useState<ForwardDraft>({ ...EMPTY_FORWARD, ...targetOf(to) });
  const { data: mine } = useRecord('address', 'whereAmI', {});
  const write = useWrite('createForward', ['forwards', 'overview']);
  const navigate = useNavigate();
  const { state } = write;
  // Filled in until the person writes something else, and only where it would be taken.
  const from = draft.from ?? (mine?.can_be_source ? mine.address : '');
  const change = (part: Partial<ForwardDraft>): void => setDraft((before) => ({ ...before, ...part }));
  async function answered(result: ReturnType<typeof write.send>): Promise<void> {
    const forward = await result;
    if (forward) void navigate({ to: '/forwards/$routerId/$forwardId', params: { routerId: router.id, forwardId: forward.id } });
  }
  return (
    // The server says beside each field what it lacks.
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void answered(write.send({ path: { router_id: router.id }, body: forwardOf(draft, from) }));
      }}
    >
      <p className="chosen">
        <RouterLink id={router.id} /> <StateOf state={router.state} reason={router.state_reason} />
        <Link to="/forwards/new" search={{}} className="hand t2">
          {words.opening.another}
        </Link>
      </p>
      {router.state === 'answering' ? null : <p className="hint caution">{words.opening.later}</p>}
      <Target draft={draft} change={change} state={state} router={router} />
      <Admission draft={draft} change={change} state={state} from={from} />
      <Outcome
        state={state}
        onLookAgain={() => void answered(write.lookAgain())}
        fields={['dst_address', 'dst_port', 'allow_from', 'expire_after_minutes']}
      />
      <div className="form-acts">
        <button type="submit" className="btn main-act" disabled={state.kind === 'sending'}>
          {words.opening.open}
        </button>
      </div>
    </form>
  );
}

interface PartProps {
  draft: ForwardDraft;
  change: (part: Partial<ForwardDraft>) => void;
  state: WriteState;
}

function Target({ draft, change, state, router }: PartProps & { router: Router }) {
  const { data: configured } = useRecord('agents', 'listAgentRouters', { path: { agent_id: router.agent_id } });
  const own = ownAddressOf(configured?.routers.find(({ router_id: id }) => id === router.id)?.host);
  return (
    <Section title={words.opening.to} small={words.opening.toHint}>
      <div className="conditions">
        <p className="presets">
          {own === undefined ? null : (
            <>
              <span className="t2 dim">{words.opening.presets.address}</span>
              <button type="button" className="btn sm" onClick={() => change({ address: own })}>
                {words.opening.thisRouter}
              </button>
            </>
          )}
          <span className="t2 dim">{words.opening.presets.port}</span>
          {TARGETS.map(({ name, port }) => (
            <button key={name} type="button" className="btn sm" onClick={() => change({ port: String(port) })}>
              {name}
            </button>
          ))}
        </p>
        <div className="conditions pairs">
          <TextField
            label={words.opening.address}
            name="dst_address"
            hint={words.opening.addressHint}
            state={state}
            value={draft.address}
            onChange={(address) => change({ address })}
            input={{ required: true, autoComplete: 'off', spellCheck: false }}
          />
          <TextField
            label={words.opening.port}
            name="dst_port"
            hint={words.opening.portHint}
            state={state}
            value={draft.port}
            onChange={(port) => change({ port })}
            input={{ required: true, inputMode: 'numeric', autoComplete: 'off' }}
          />
        </div>
      </div>
    </Section>
  );
}

function Admission({ draft, change, state, from }: PartProps & { from: string }) {
  const { data: mine } = useRecord('address', 'whereAmI', {});
  return (
    <Section title={words.opening.admission}>
      <div className="conditions pairs">
        <TextField
          label={words.opening.from}
          name="allow_from"
          hint={mine === undefined ? words.opening.fromHint : words.opening.fromHintWith(mine.address, mine.can_be_source)}
          state={state}
          value={from}
          onChange={(text) => change({ from: text })}
          input={{ required: true, autoComplete: 'off', spellCheck: false }}
        />
        <SelectField
          label={words.opening.length}
          name="expire_after_minutes"
          hint={words.opening.lengthHint}
          state={state}
          value={draft.minutes}
          onChange={(minutes) => change({ minutes })}
          options={LENGTHS}
        />
      </div>
    </Section>
  );
}
