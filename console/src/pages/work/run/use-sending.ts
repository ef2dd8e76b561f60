import { useNavigate } from '@tanstack/react-router';
import type { Input, NewCampaign, JobReceipt, Router } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import type { Write, WriteState } from '../../../data/use-write.ts';
import { campaignOf, jobOf } from './script-form.ts';
import type { ScriptDraft } from './script-form.ts';

interface Props {
  draft: ScriptDraft;
  isRisky: boolean;
  routers: readonly Router[];
  isCampaign: boolean;
}

export interface Sending {
  state: WriteState;
  /** Sends a job or a campaign, and leads to its page. */
  send: () => void;
  /** After a lost answer: asks with the same key. */
  lookAgain: () => void;
  /** For a question before it: the same write, so that it keeps its Idempotency-Key. */
  campaign: Write<'createCampaign'>;
  newCampaign: NewCampaign;
  toCampaign: (id: string) => void;
  /** The same for one router. */
  job: Write<'submitJob'>;
  newJob: Input<'submitJob'>;
  toJob: (receipt: JobReceipt) => void;
}

/** The two ways of a script: a job for one router, a campaign for many. */
export function useSending({ draft, isRisky, routers, isCampaign }: Props): Sending {
  const navigate = useNavigate();
  const job = useWrite('submitJob', ['jobs', 'overview']);
  const campaign = useWrite('createCampaign', ['campaigns', 'jobs', 'overview']);
  const ids = routers.map(({ id }) => id);
  const newCampaign = campaignOf(draft, isRisky, ids);
  const toCampaign = (id: string): void => void navigate({ to: '/campaigns/$campaignId', params: { campaignId: id }, search: {} });

  const newJob = { path: { router_id: ids[0] ?? '' }, body: jobOf(draft, isRisky) };
  // The receipt names the router even when the choice has changed meanwhile.
  const toJob = ({ target, job_id: jobId }: JobReceipt): void =>
    void navigate({ to: '/jobs/$routerId/$jobId', params: { routerId: target, jobId } });

  async function sendJob(isAgain: boolean): Promise<void> {
    const answer = await (isAgain ? job.lookAgain() : job.send(newJob));
    if (answer) toJob(answer.data);
  }
  async function sendCampaign(isAgain: boolean): Promise<void> {
    const answer = await (isAgain ? campaign.lookAgain() : campaign.send({ body: newCampaign }));
    if (answer) toCampaign(answer.data.id);
  }
  const either = (isAgain: boolean): void => void (isCampaign ? sendCampaign(isAgain) : sendJob(isAgain));
  return {
    state: isCampaign ? campaign.state : job.state,
    send: () => either(false),
    lookAgain: () => either(true),
    campaign,
    newCampaign,
    toCampaign,
    job,
    newJob,
    toJob,
  };
}
