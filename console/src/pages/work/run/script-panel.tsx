import { useState } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import type { WriteState } from '../../../data/use-write.ts';
import { ConfirmWrite } from '../../../parts/confirm.tsx';
import { Outcome, TextField } from '../../../parts/form.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { ScriptView } from '../../../parts/script-view.tsx';
import { Section } from '../../../parts/section.tsx';
import { countOf } from '../words.ts';
import { cautionOf } from './caution.ts';
import type { Caution } from './caution.ts';
import { CONDITION_FIELDS, CampaignRules, Conditions } from './conditions.tsx';
import { Preflight } from './preflight.tsx';
import { DESCRIPTION_CHARS, EMPTY_DRAFT, SCRIPT_CHARS, draftOf } from './script-form.ts';
import type { ScriptDraft } from './script-form.ts';
import { useSending } from './use-sending.ts';

/** From so many routers on, the person types their number before anything is sent: CONSOLE.md, 4. */
const TYPED_FROM = 21;

/** While the question is open, it says what became of the write. */
const IDLE: WriteState = { kind: 'idle' };

interface Props {
  routers: readonly Router[];
  /** `ROUTER/JOB` whose script is to be run again. */
  from?: string | undefined;
  isCampaign: boolean;
}

/** A script for one router (a job) or for many (a campaign). */
export function ScriptPanel({ from, ...props }: Props) {
  return from === undefined ? <ScriptForm {...props} first={EMPTY_DRAFT} /> : <Again {...props} from={from} />;
}

function Again({ from, ...props }: Props & { from: string }) {
  const [routerId = '', jobId = ''] = from.split('/');
  const job = useRecord('jobs', 'getJob', { path: { router_id: routerId, job_id: jobId } });
  if (job.error && !job.data) return <MissingRecord error={job.error} what="job to run again" list={{ href: '/jobs', name: 'Jobs' }} />;
  if (!job.data) return <Reading />;
  return <ScriptForm {...props} first={draftOf(job.data)} />;
}

function ScriptForm({ routers, isCampaign, first }: { routers: readonly Router[]; isCampaign: boolean; first: ScriptDraft }) {
  const [draft, setDraft] = useState(first);
  const [isConfirming, setConfirming] = useState(false);
  const caution = cautionOf(draft.script);
  const sending = useSending({ draft, isRisky: caution.lines.size > 0, routers, isCampaign });
  const { state } = sending;
  const change = (part: Partial<ScriptDraft>): void => setDraft((before) => ({ ...before, ...part }));
  const isReady = routers.length > 0 && draft.script.trim() !== '' && draft.description.trim() !== '' && state.kind !== 'sending';
  function send(): void {
    if (routers.length >= TYPED_FROM) setConfirming(true);
    else sending.send();
  }
  return (
    <form
      className="cols work-cols"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) send();
      }}
    >
      <div>
        <ScriptFields draft={draft} change={change} state={state} caution={caution} />
      </div>
      <div>
        <Preflight routers={routers} draft={draft} caution={caution} isCampaign={isCampaign} />
        <Conditions draft={draft} change={change} state={state} touches={caution.touches} />
        {isCampaign ? <CampaignRules draft={draft} change={change} state={state} /> : null}
        <Outcome
          state={isConfirming ? IDLE : state}
          onLookAgain={sending.lookAgain}
          fields={['description', 'script', ...CONDITION_FIELDS]}
        />
        <div className="form-acts">
          <button type="submit" className="btn main-act" disabled={!isReady}>
            {isCampaign ? `Start on ${countOf(routers.length, 'router')}` : 'Run the script'}
          </button>
        </div>
        {isReady || state.kind === 'sending' ? null : <p className="hint form-missing">{missingWords(routers.length, draft)}</p>}
      </div>
      {isConfirming ? (
        <ConfirmWrite
          title={`Run this script on ${countOf(routers.length, 'router')}?`}
          action={`Start on ${countOf(routers.length, 'router')}`}
          typed={String(routers.length)}
          write={sending.campaign}
          input={{ body: sending.newCampaign }}
          onClose={() => setConfirming(false)}
          onDone={({ data }) => sending.toCampaign(data.id)}
        >
          <p>{canaryWords(draft.canaries, routers[0]?.identity)} The list is fixed when you start.</p>
        </ConfirmWrite>
      ) : null}
    </form>
  );
}

/** Who goes first, before a campaign begins. @param canaries as it was typed */
function canaryWords(canaries: string, first: string | undefined): string {
  const count = Number(canaries);
  if (count === 0) return 'There is no canary: nothing stops before the first failures.';
  const who = first === undefined ? '' : count === 1 ? ` (${first})` : `, beginning with ${first}`;
  return count === 1
    ? `One canary goes first${who}; the others follow only when it has completed.`
    : `${canaries} canaries go first${who}; the others follow only when all of them have completed.`;
}

interface FieldsProps {
  draft: ScriptDraft;
  change: (part: Partial<ScriptDraft>) => void;
  state: WriteState;
  caution: Caution;
}

function ScriptFields({ draft, change, state, caution }: FieldsProps) {
  return (
    <>
      <TextField
        label="What it does"
        name="description"
        hint="A short text for the list of jobs"
        state={state}
        value={draft.description}
        onChange={(description) => change({ description })}
        input={{ maxLength: DESCRIPTION_CHARS, autoComplete: 'off' }}
      />
      <TextField
        label="Script"
        name="script"
        hint={`RouterOS commands, one a line. ${draft.script.length.toLocaleString('en')} of ${SCRIPT_CHARS.toLocaleString('en')} characters`}
        state={state}
        rows={12}
        value={draft.script}
        onChange={(script) => change({ script })}
      />
      {caution.lines.size > 0 ? (
        <Section title="Lines that can lock you out" small={caution.touches.join(', ')}>
          <ScriptView script={draft.script} risky={caution.lines} />
        </Section>
      ) : null}
    </>
  );
}

function missingWords(routers: number, { description, script }: ScriptDraft): string {
  const missing = [
    ...(routers === 0 ? ['choose routers'] : []),
    ...(description.trim() === '' ? ['say what it does'] : []),
    ...(script.trim() === '' ? ['write the script'] : []),
  ];
  return `Before it can run: ${missing.join(', ')}.`;
}
