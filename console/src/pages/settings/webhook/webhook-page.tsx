import { useState } from 'react';
import type { NewlyMadeWebhookSecret, WebhookSecret } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { fill } from '../../../parts/fill.tsx';
import { SelectField } from '../../../parts/form.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { OVERLAPS, words as settingsWords } from '../words.ts';
import type { Overlap } from '../words.ts';
import { words } from './words.ts';

/** The secret with which job updates are signed. */
export function WebhookPage() {
  const [isAsking, setAsking] = useState(false);
  const [made, setMade] = useState<NewlyMadeWebhookSecret>();
  return (
    <SettingsPage name={settingsWords.part.webhook} note={words.note} actions={<Make onAsk={() => setAsking(true)} />}>
      {made === undefined ? null : (
        <ShownOnce title={words.once.title} text={made.secret} label={words.once.label} onDone={() => setMade(undefined)}>
          {words.once.text}
        </ShownOnce>
      )}
      <Secret />
      {isAsking ? <NewSecret onClose={() => setAsking(false)} onMade={setMade} /> : null}
    </SettingsPage>
  );
}

function Make({ onAsk }: { onAsk: () => void }) {
  const isFirst = useSecret().data === null;
  return (
    <button type="button" className="btn main-act" onClick={onAsk}>
      {isFirst ? words.make.first : words.make.another}
    </button>
  );
}

/** For administrators: the page of anybody else asks for nothing. */
function useSecret() {
  return useRecord('webhook-secret', 'getWebhookSecret', {});
}

function Secret() {
  const { data, error, isPending } = useSecret();
  if (error && data === undefined) return <ReadingFailed error={error} what={words.secret} />;
  if (isPending) return <Reading />;
  return <p className="empty">{data === null ? words.none : <About secret={data} />}</p>;
}

function About({ secret: { created_at: at, shown, previous_valid_until: until } }: { secret: WebhookSecret }) {
  return (
    <>
      {fill(words.of, { time: <Moment at={at} /> })} {shown ? '' : `${words.unseen} `}
      {until === null ? null : fill(words.previous, { time: <Moment at={until} /> })}
    </>
  );
}

interface NewSecretProps {
  onClose: () => void;
  onMade: (secret: NewlyMadeWebhookSecret) => void;
}

function NewSecret({ onClose, onMade }: NewSecretProps) {
  // There is no old one that could go on.
  const isFirst = useSecret().data === null;
  const [overlap, setOverlap] = useState<Overlap>('1440');
  const write = useWrite('createWebhookSecret', ['webhook-secret']);
  return (
    <Dialog title={isFirst ? words.dialog.firstTitle : words.dialog.title} onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: isFirst ? {} : { overlap_minutes: Number(overlap) } })}
        action={isFirst ? words.dialog.firstAct : words.dialog.act}
        fields={['overlap_minutes']}
        onCancel={onClose}
        onDone={({ data }) => {
          onMade(data);
          onClose();
        }}
      >
        {isFirst ? (
          <p className="prose">{words.dialog.first}</p>
        ) : (
          <SelectField
            label={words.dialog.overlap}
            name="overlap_minutes"
            value={overlap}
            onChange={setOverlap}
            options={OVERLAPS}
            hint={words.dialog.overlapHint}
            state={write.state}
          />
        )}
      </WriteForm>
    </Dialog>
  );
}
