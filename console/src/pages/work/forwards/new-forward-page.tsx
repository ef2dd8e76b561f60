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
import { routersNamed } from '../run/search.ts';
import { EMPTY_FORWARD, LENGTHS, TARGETS, forwardOf, targetOf } from './forward-form.ts';
import type { ForwardDraft } from './forward-form.ts';
import '../work.css';

/** A door to one port behind one router, for one address, for a time. */
export function NewForwardPage() {
  const search = useSearch({ from: '/forwards/new' });
  const { routers } = useFleet();
  useRoutersVersion();
  const mayOpen = useMay('operator');
  if (!mayOpen) return <PageHead title="Open a forward" sentence="People with the role operator open forwards. Yours is viewer." />;
  const [router] = search.router === undefined ? [] : routersNamed(search.router, routers.values()).routers;
  return (
    <>
      <PageHead
        crumb={
          <Link to="/forwards" search={{}} className="hand" activeOptions={{ exact: true }}>
            Forwards
          </Link>
        }
        title={router ? `Open a forward behind ${router.identity}` : 'Open a forward'}
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
      <TextField label="Behind which router" name="router" hint="A part of its name or serial number" value={name} onChange={setName} />
      {found.slice(0, OFFERED).map((router) => (
        <div className="line choice" key={router.id}>
          <Link to="/forwards/new" search={(before) => ({ ...before, router: router.id })} className="hand id b">
            {router.identity}
          </Link>
          <StateOf state={router.state} reason={router.state_reason} />
        </div>
      ))}
      {found.length > OFFERED ? <p className="hint">{found.length - OFFERED} more. Write more of the name.</p> : null}
      {found.length === 0 ? (
        <p className="hint">{routers.size === 0 ? 'No agent has told of a router yet.' : 'No router matches.'}</p>
      ) : null}
    </>
  );
}

function NewForward({ router, to }: { router: Router; to: string | undefined }) {
  const [draft, setDraft] = useState<ForwardDraft>({ ...EMPTY_FORWARD, ...targetOf(to) });
  const { data: mine } = useRecord('address', 'whereAmI', {});
  const write = useWrite('createForward', ['forwards', 'overview']);
  const navigate = useNavigate();
  const { state } = write;
  // Filled in until the person writes something else.
  const from = draft.from ?? mine?.address ?? '';
  const change = (part: Partial<ForwardDraft>): void => setDraft((before) => ({ ...before, ...part }));
  async function answered(result: ReturnType<typeof write.send>): Promise<void> {
    const forward = await result;
    if (forward) void navigate({ to: '/forwards/$routerId/$forwardId', params: { routerId: router.id, forwardId: forward.id } });
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void answered(write.send({ path: { router_id: router.id }, body: forwardOf(draft, from) }));
      }}
    >
      <p className="chosen">
        <RouterLink id={router.id} /> <StateOf state={router.state} reason={router.state_reason} />
        <Link to="/forwards/new" search={{}} className="hand t2">
          Choose another
        </Link>
      </p>
      {router.state === 'answering' ? null : (
        <p className="hint caution">The forward is made at once, and opens when the agent has the router again.</p>
      )}
      <Target draft={draft} change={change} state={state} />
      <Admission draft={draft} change={change} state={state} from={from} />
      <Outcome
        state={state}
        onLookAgain={() => void answered(write.lookAgain())}
        fields={['dst_address', 'dst_port', 'allow_from', 'expire_after_minutes']}
      />
      <div className="form-acts">
        <button type="submit" className="btn main-act" disabled={state.kind === 'sending'}>
          Open the forward
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

function Target({ draft, change, state }: PartProps) {
  return (
    <Section title="To" small="as the router sees it">
      <div className="conditions">
        <p className="presets">
          {TARGETS.map(({ name, port }) => (
            <button key={name} type="button" className="btn sm" onClick={() => change({ port: String(port) })}>
              {name}
            </button>
          ))}
        </p>
        <div className="conditions pairs">
          <TextField
            label="Address"
            name="dst_address"
            hint="192.168.88.10, or one of the router's own addresses"
            state={state}
            value={draft.address}
            onChange={(address) => change({ address })}
            input={{ required: true, autoComplete: 'off', spellCheck: false }}
          />
          <TextField
            label="Port"
            name="dst_port"
            hint="1 to 65,535"
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
    <Section title="From whom, how long">
      <div className="conditions pairs">
        <TextField
          label="Allow from"
          name="allow_from"
          hint={
            mine === undefined
              ? 'An address or a network'
              : `Your address is ${mine.address}${mine.is_public ? '' : ', which is not one of the public internet'}`
          }
          state={state}
          value={from}
          onChange={(text) => change({ from: text })}
          input={{ required: true, autoComplete: 'off', spellCheck: false }}
        />
        <SelectField
          label="For"
          name="expire_after_minutes"
          hint="It ends by itself, also when nobody remembers it"
          state={state}
          value={draft.minutes}
          onChange={(minutes) => change({ minutes })}
          options={LENGTHS}
        />
      </div>
    </Section>
  );
}
