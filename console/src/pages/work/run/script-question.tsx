import type { Router } from '../../../../../client/browser.ts';
import { ConfirmWrite } from '../../../parts/confirm.tsx';
import type { Caution } from './caution.ts';
import { deedDoes } from './deed-words.ts';
import { RouterNames } from './router-names.tsx';
import type { Sending } from './use-sending.ts';
import { words } from './words.ts';

/** From so many routers on, the person types their number before anything is sent: CONSOLE.md, 4. */
const TYPED_FROM = 21;

/** Read in a question; the count says how many there are. */
const NAMED = 10;

interface Props {
  routers: readonly Router[];
  isCampaign: boolean;
  /** How many go first, as it was typed. */
  canaries: string;
  caution: Caution;
  sending: Sending;
  onClose: () => void;
}

/** Whether it is asked before a script is sent: for many routers, and for what takes a router away. */
export function isAsked(routers: number, { deeds }: Caution): boolean {
  return routers >= TYPED_FROM || deeds.length > 0;
}

/** The question before a script: on which routers, and what it does to them. */
export function ScriptQuestion({ routers, isCampaign, canaries, caution, sending, onClose }: Props) {
  const title = words.confirm.title(routers.length);
  const said = (
    <>
      {caution.deeds.map((deed) => (
        <p key={deed}>{deedDoes(deed)}</p>
      ))}
      <RouterNames routers={routers} most={NAMED} isPlain />
    </>
  );
  if (!isCampaign) {
    return (
      <ConfirmWrite
        title={title}
        action={words.form.run}
        write={sending.job}
        input={sending.newJob}
        onClose={onClose}
        onDone={({ data }) => sending.toJob(data)}
      >
        {said}
      </ConfirmWrite>
    );
  }
  return (
    <ConfirmWrite
      title={title}
      action={words.form.startOn(routers.length)}
      {...(routers.length >= TYPED_FROM ? { typed: String(routers.length) } : {})}
      write={sending.campaign}
      input={{ body: sending.newCampaign }}
      onClose={onClose}
      onDone={({ data }) => sending.toCampaign(data.id)}
    >
      {said}
      <p>
        {canaryWords(canaries, routers[0]?.identity)} {words.confirm.list}
      </p>
    </ConfirmWrite>
  );
}

/** Who goes first, before a campaign begins. @param canaries as it was typed */
function canaryWords(canaries: string, first: string | undefined): string {
  const count = Number(canaries);
  if (count === 0) return words.confirm.noCanary;
  return count === 1 ? words.confirm.oneCanary(first) : words.confirm.canaries(canaries, first);
}
