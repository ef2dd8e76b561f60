import { useState } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import type { WriteState } from '../../../data/use-write.ts';
import { Outcome, TextField } from '../../../parts/form.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { ScriptView } from '../../../parts/script-view.tsx';
import { Section } from '../../../parts/section.tsx';
import { cautionOf } from './caution.ts';
import type { Caution } from './caution.ts';
import { CONDITION_FIELDS, CampaignRules, Conditions } from './conditions.tsx';
import { deedName } from './deed-words.ts';
import type { Desk } from './kept-draft.ts';
import { Preflight } from './preflight.tsx';
import { DESCRIPTION_CHARS, EMPTY_DRAFT, SCRIPT_CHARS, draftOf } from './script-form.ts';
import type { ScriptDraft } from './script-form.ts';
import { ScriptQuestion, isAsked } from './script-question.tsx';
import { useDraft, useKeeping } from './use-draft.ts';
import { useSending } from './use-sending.ts';
import { words } from './words.ts';

/** While the question is open, it says what became of the write. */
const IDLE: WriteState = { kind: 'idle' };

interface Props {
  routers: readonly Router[];
  /** `ROUTER/JOB` whose script is to be run again. */
  from?: string | undefined;
  isCampaign: boolean;
  page: Desk['page'];
}

/** A script for one router (a job) or for many (a campaign). */
export function ScriptPanel({ from, ...props }: Props) {
  return from === undefined ? <ScriptForm {...props} first={EMPTY_DRAFT} /> : <Again key={from} {...props} from={from} />;
}

function Again({ from, ...props }: Props & { from: string }) {
  const [routerId = '', jobId = ''] = from.split('/');
  const job = useRecord('jobs', 'getJob', { path: { router_id: routerId, job_id: jobId } });
  if (job.error && !job.data)
    return <MissingRecord error={job.error} what={words.form.again} list={{ href: '/jobs', name: words.form.jobs }} />;
  if (!job.data) return <Reading />;
  return <ScriptForm {...props} from={from} first={draftOf(job.data)} />;
}

function ScriptForm({ routers, isCampaign, page, from, first }: Props & { first: ScriptDraft }) {
  const written = useDraft({ page, from }, first);
  const { draft, change } = written;
  const [isConfirming, setConfirming] = useState(false);
  const isTooLong = draft.script.length > SCRIPT_CHARS;
  // What cannot be sent needs none, and is long to read at each key.
  const caution = cautionOf(isTooLong ? '' : draft.script);
  const sending = useSending({ draft, isRisky: caution.guard === 'wanted', routers, isCampaign });
  const { state } = sending;
  useKeeping(written, state);
  const isReady =
    routers.length > 0 && draft.script.trim() !== '' && draft.description.trim() !== '' && !isTooLong && state.kind !== 'sending';
  function send(): void {
    if (isAsked(routers.length, caution)) setConfirming(true);
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
        {written.isKept ? <Kept onAnew={written.beginAnew} /> : null}
        <ScriptFields draft={draft} change={change} state={state} caution={caution} />
      </div>
      <div>
        <Preflight routers={routers} draft={draft} caution={caution} isCampaign={isCampaign} />
        <Conditions draft={draft} change={change} state={state} isGuardWanted={caution.guard === 'wanted'} />
        {isCampaign ? <CampaignRules draft={draft} change={change} state={state} /> : null}
        <Outcome
          state={isConfirming ? IDLE : state}
          onLookAgain={sending.lookAgain}
          fields={['description', 'script', ...CONDITION_FIELDS]}
        />
        <div className="form-acts">
          <button type="submit" className="btn main-act" disabled={!isReady}>
            {isCampaign ? words.form.startOn(routers.length) : words.form.run}
          </button>
        </div>
        {isReady || state.kind === 'sending' ? null : <p className="hint form-missing">{missingWords(routers.length, draft)}</p>}
      </div>
      {isConfirming ? (
        <ScriptQuestion
          routers={routers}
          isCampaign={isCampaign}
          canaries={draft.canaries}
          caution={caution}
          sending={sending}
          onClose={() => setConfirming(false)}
        />
      ) : null}
    </form>
  );
}

function Kept({ onAnew }: { onAnew: () => void }) {
  return (
    <p className="hint" role="status">
      {words.form.kept}{' '}
      <button type="button" className="btn quiet sm" onClick={onAnew}>
        {words.form.anew}
      </button>
    </p>
  );
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
        label={words.form.description}
        name="description"
        hint={words.form.descriptionHint}
        state={state}
        value={draft.description}
        onChange={(description) => change({ description })}
        input={{ maxLength: DESCRIPTION_CHARS, autoComplete: 'off' }}
      />
      <TextField
        label={words.form.script}
        name="script"
        hint={words.form.scriptHint(draft.script.length.toLocaleString('en'), SCRIPT_CHARS.toLocaleString('en'))}
        state={state}
        rows={12}
        value={draft.script}
        onChange={(script) => change({ script })}
      />
      {caution.lines.size > 0 ? (
        <Section
          title={caution.touches.length > 0 ? words.form.risky : words.form.deeds}
          small={[...caution.touches, ...caution.deeds.map(deedName)].join(', ')}
        >
          <ScriptView script={draft.script} risky={caution.lines} />
        </Section>
      ) : null}
    </>
  );
}

function missingWords(routers: number, { description, script }: ScriptDraft): string {
  const missing = [
    ...(routers === 0 ? [words.form.chooseRouters] : []),
    ...(description.trim() === '' ? [words.form.sayWhat] : []),
    ...(script.trim() === '' ? [words.form.writeScript] : []),
    ...(script.length > SCRIPT_CHARS ? [words.form.shortenScript] : []),
  ];
  return words.form.before(missing);
}
