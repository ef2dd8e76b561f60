import { useState } from 'react';
import type { Input, SentCode } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Outcome, TextField } from '../../../parts/form.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { sendErrorWords } from '../words.ts';
import { words } from './words.ts';

type Sending = 'sendTargetCode' | 'sendContactCode';
type Verifying = 'verifyTarget' | 'verifyContact';

interface Props<S extends Sending, V extends Verifying> {
  title: string;
  send: { operation: S; input: Input<S> };
  verify: { operation: V; inputOf: (code: string) => Input<V> };
  stale: readonly string[];
  /** A mail has a link, which proves; other messages have digits, which are typed in here. */
  by?: 'digits' | 'link';
  onClose: () => void;
  /** What is sent where. */
  children: React.ReactNode;
}

/** Sends a code, says whether the receiver took it, and takes what was read there. */
export function Prove<S extends Sending, V extends Verifying>(props: Props<S, V>) {
  const { title, send, verify, stale, by = 'digits', onClose, children } = props;
  const sending = useWrite(send.operation, []);
  const [sent, setSent] = useState<SentCode>();
  const take = async (answer: Promise<unknown>): Promise<void> => {
    const done = (await answer) as { data: SentCode } | undefined;
    if (done !== undefined) setSent(done.data);
  };
  const isSending = sending.state.kind === 'sending';
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="prose">{children}</p>
      <p className="prose" role="status">
        {isSending ? words.prove.sending : sent === undefined ? null : <Sent sent={sent} by={by} />}
      </p>
      <Outcome state={sending.state} onLookAgain={() => void take(sending.lookAgain())} />
      {sent?.sent && by === 'digits' ? <Code verify={verify} stale={stale} onClose={onClose} /> : null}
      <div className="form-acts">
        <button
          type="button"
          className={sent?.sent ? 'btn quiet' : 'btn main-act'}
          disabled={isSending}
          onClick={() => void take(sending.send(send.input))}
        >
          {sent === undefined ? words.prove.send[by] : words.prove.another[by]}
        </button>
      </div>
    </Dialog>
  );
}

function Sent({ sent: { sent, error, detail, expires_at: until }, by }: { sent: SentCode; by: 'digits' | 'link' }) {
  if (sent) return fill(words.prove.sent[by], { time: <Moment at={until} /> });
  return (
    <>
      <b className="c-not">{words.prove.notSent}</b> {sendErrorWords(error ?? '')}.
      {detail === null || detail === '' ? '' : ` ${words.prove.says(detail)}`}
    </>
  );
}

function Code<V extends Verifying>({ verify, stale, onClose }: Pick<Props<Sending, V>, 'verify' | 'stale' | 'onClose'>) {
  const [code, setCode] = useState('');
  const write = useWrite(verify.operation, stale);
  return (
    <WriteForm
      write={write}
      input={() => verify.inputOf(code.trim())}
      action={words.prove.act}
      fields={['code']}
      isReady={code.trim() !== ''}
      onDone={onClose}
    >
      <TextField
        label={words.prove.code}
        name="code"
        value={code}
        onChange={setCode}
        state={write.state}
        input={{ inputMode: 'numeric', autoComplete: 'one-time-code' }}
      />
    </WriteForm>
  );
}
