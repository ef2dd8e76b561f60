import { useState } from 'react';
import type { NewlyMadeWebhookSecret, WebhookSecret } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField } from '../../../parts/form.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { OVERLAPS } from '../words.ts';
import type { Overlap } from '../words.ts';

/** The secret with which job updates are signed. */
export function WebhookPage() {
  const [isAsking, setAsking] = useState(false);
  const [made, setMade] = useState<NewlyMadeWebhookSecret>();
  return (
    <SettingsPage
      name="Webhooks"
      note="A job with a notify_url reports each change of its status there. The receiver checks the signature with this secret, as Standard Webhooks describes it."
      actions={
        <button type="button" className="btn main-act" onClick={() => setAsking(true)}>
          Make a new secret
        </button>
      }
    >
      {made === undefined ? null : (
        <ShownOnce title="Webhook secret" text={made.secret} label="the secret" onDone={() => setMade(undefined)}>
          Give it to everything that receives job updates of this team. It is shown only now. Lost it? Make another.
        </ShownOnce>
      )}
      <Secret />
      {isAsking ? <NewSecret onClose={() => setAsking(false)} onMade={setMade} /> : null}
    </SettingsPage>
  );
}

function Secret() {
  const { data, error, isPending } = useRecord('webhook-secret', 'getWebhookSecret', {});
  if (error && data === undefined) return <ReadingFailed error={error} what="The secret" />;
  if (isPending) return <Reading />;
  return (
    <p className="empty">
      {data === null ? 'There is no secret yet: the first job with a notify_url makes one, or you do now.' : <About secret={data} />}
    </p>
  );
}

function About({ secret: { created_at: at, shown, previous_valid_until: until } }: { secret: WebhookSecret }) {
  return (
    <>
      The secret is of <Moment at={at} />.{' '}
      {shown ? '' : 'It was made by itself for the first update, and nobody has seen it: make a new one to check signatures. '}
      {until === null ? null : (
        <>
          Updates are also signed with the previous one until <Moment at={until} />.
        </>
      )}
    </>
  );
}

function NewSecret({ onClose, onMade }: { onClose: () => void; onMade: (secret: NewlyMadeWebhookSecret) => void }) {
  const [overlap, setOverlap] = useState<Overlap>('1440');
  const write = useWrite('createWebhookSecret', ['webhook-secret']);
  return (
    <Dialog title="Make a new webhook secret" onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: { overlap_minutes: Number(overlap) } })}
        action="Make a new secret"
        fields={['overlap_minutes']}
        onCancel={onClose}
        onDone={({ data }) => {
          onMade(data);
          onClose();
        }}
      >
        <SelectField
          label="Updates are also signed with the old secret for"
          name="overlap_minutes"
          value={overlap}
          onChange={setOverlap}
          options={OVERLAPS}
          hint="Long enough to give every receiver the new one."
          state={write.state}
        />
      </WriteForm>
    </Dialog>
  );
}
